"""PDFs of papers, made as they are needed."""

from __future__ import annotations

from pathlib import Path

from fpdf import FPDF

Piece = tuple[str, int, str]  # style, size, text


def made(path: Path, pieces: list[Piece], *, columns: int = 1, compressed: bool = True, **more: str) -> Path:
    """A paper: each piece as lines of its own."""
    pdf = FPDF(format="letter")
    pdf.set_compression(compressed)
    pdf.set_title(more.get("title", ""))
    pdf.set_author(more.get("author", ""))
    pdf.add_page()
    if password := more.get("password"):
        pdf.set_encryption(owner_password="x", user_password=password)
    width = pdf.epw / columns
    for style, size, text in pieces:
        pdf.set_font("Times", style, size)
        pdf.multi_cell(width, size / 2, text, align="L", new_x="LMARGIN", new_y="NEXT")
    pdf.output(str(path))
    return path
