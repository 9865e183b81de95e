"""Addresses of papers: only those that are links to the web."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from rag.nouns import Paper


def link_html(paper: Paper) -> str:
    """A link to the paper's page under the name of its host; "" if it has none."""
    url = web_address(paper.url) or (web_address(f"https://doi.org/{paper.doi}") if paper.doi else "")
    if not url:
        return ""
    host = urlsplit(url).hostname or url
    return f'<p><a href="{escape(url)}" target="_blank">{escape(host.removeprefix("www."))} ↗</a></p>'


def web_address(url: str) -> str:
    """The address if it is http or https with a host, otherwise ""."""
    url = url.strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.hostname else ""
