"""`pincite bench`: how fast Pincite is on this machine."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from rag.errors import PinciteError

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.embed import Embedder
    from rag.settings import Settings
    from ui.cli import Context

TEXTS = 64  # sentences of the collection that are embedded for `embed_ratio`


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--sizes",
    default="1000,10000",
    show_default=True,
    metavar="N,N",
    help='Made-up collections to search; "" for none. 100000 papers take many minutes and 1 GB of disk.',
)
@click.pass_obj
def bench(ctx: Context, as_json: bool, sizes: str) -> None:
    """Measure page, answers, search, decoding, embedding and memory on this machine, now.

    Answers and search over the present collection; search also over made-up collections of some sizes, which
    are thrown away. What each figure means: docs/interfaces.md.

    \b
    Examples:
      pincite bench
      pincite bench --sizes ""
      pincite --llm qwen2.5-coder-0.5b bench --json --sizes 1000,10000,100000
    """
    try:
        wanted = [int(size) for size in sizes.split(",") if size.strip()]
    except ValueError:
        raise click.UsageError(f"--sizes takes numbers parted by commas, not {sizes!r}.") from None
    if any(not 1 <= size <= 1_000_000 for size in wanted):
        raise click.UsageError("--sizes takes numbers from 1 to 1,000,000.")
    figures = _measure(ctx, wanted)
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, value in figures.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        click.echo(f"{name:<20}{shown}")


def _measure(ctx: Context, sizes: list[int]) -> dict[str, Any]:
    """All figures. What makes this process larger comes after the memory of a chat is read."""
    from eval import speed

    settings = ctx.settings
    assistant = ctx.open_assistant()
    if not assistant.size()[0]:
        raise PinciteError("The collection is empty. Run: pincite index FILE")
    with ctx.progress() as bar:
        bar.step("answering", 0, 0)
        assistant.warm()
        figures: dict[str, Any] = {"help_s": speed.help_seconds(), **speed.answers(assistant)}
        figures["search_s"] = {str(assistant.size()[0]): speed.searches(assistant.retriever)}
        figures["peak_mb"] = {"chat": speed.peak_mb()}
        bar.step("starting the page", 0, 0)
        figures["page_s"] = speed.page_seconds(_options(settings))
        bar.step("decoding", 0, 0)
        figures |= _decoding(assistant)
        for size in sizes:
            figures["search_s"][str(size)] = speed.search_seconds(size, assistant.retriever.embedder, bar)
        bar.step("embedding", 0, 0)
        figures |= _embedding(settings, assistant)
        if (
            not settings.chroma_url
        ):  # a server's memory is not ours, and its vectors are not to be played with
            bar.step("indexing", 0, 0)
            figures["peak_mb"]["index"] = speed.index_peak_mb(settings.models_dir, os.environ)
    return figures


def _options(settings: Settings) -> list[str]:
    """The present settings as global options for another process."""
    options = ["--home", str(settings.home), "--collection", settings.collection, "--llm", settings.llm]
    options += ["--llm-name", settings.llm_name] if settings.llm_name else []
    return options + (["--offline"] if settings.offline else [])


def _decoding(assistant: Assistant) -> dict[str, Any]:
    """Our decoding beside bare llama.cpp's; a model on a server has none."""
    from eval import speed
    from rag.llm import LlamaModel

    if not isinstance(assistant.model, LlamaModel):
        return {"decode_ratio": None}
    rates = speed.decode_ratio(assistant.model)
    return {"decode_ratio": round(rates["ours"] / rates["bare"], 3), "tokens_per_s": rates}


def _embedding(settings: Settings, assistant: Assistant) -> dict[str, Any]:
    """Our embedding of papers beside the bare library's; an embedder that is not ONNX has none."""
    from eval import speed
    from rag.catalog import catalog
    from rag.embed import OnnxEncoder, QueryEmbedder
    from rag.opening import embedder_of

    query: Embedder = assistant.retriever.embedder
    if not isinstance(query, QueryEmbedder):
        return {"embed_ratio": None}
    library = assistant.library
    texts = [s.text for paper in library.papers() for s in library.sentences(paper)][:TEXTS]
    encoder = OnnxEncoder(catalog()[settings.embedder].folder(settings.models_dir), query.max_tokens)
    fit = [t for t, n in zip(texts, encoder.lengths(texts), strict=True) if n <= query.max_tokens]
    rates = speed.embed_ratio(embedder_of(settings, for_documents=True), encoder, fit)
    return {"embed_ratio": round(rates["ours"] / rates["bare"], 3), "texts_per_s": rates}
