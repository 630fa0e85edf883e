"""Reads a PDF file, or some of its pages, as a document block."""

from __future__ import annotations

import base64
import io
import logging
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.errors import PyPdfError

from forge.core.amount import human_size
from forge.core.message import Block, Document, Source, Text
from forge.core.tool import ToolError
from forge.core.tools.read import page_range

# What the library thinks of a broken file is in the result; standard error is not the place for it.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

_MAX_BYTES = 20 * 1024 * 1024


def read(shown: str, path: str, pages: str) -> tuple[list[Block], dict[str, Any]]:
    """The document as a block and as a record."""
    with open(path, "rb") as file:
        raw = file.read(_MAX_BYTES + 1)
        if not raw:
            raise ToolError(f"PDF file is empty: {shown}")
        if b"%PDF-" not in raw[:1024]:
            raise ToolError(f"File is not a valid PDF (missing %PDF- header): {shown}")
        if pages:
            file.seek(0)
            raw = _chosen(shown, file, *page_range(pages))
    if len(raw) > _MAX_BYTES:
        raise ToolError(f"PDF file exceeds maximum allowed size of {human_size(_MAX_BYTES)}.")
    data = base64.b64encode(raw).decode("ascii")
    what = f"PDF pages {pages.strip()} read" if pages else "PDF file read"
    blocks: list[Block] = [
        Text(f"{what}: {shown} ({human_size(len(raw))})"),
        Document(Source("base64", "application/pdf", data)),
    ]
    return blocks, {"type": "pdf", "file": {"filePath": shown, "base64": data, "originalSize": len(raw)}}


def _chosen(shown: str, file: io.BufferedReader, first: int, last: int) -> bytes:
    try:
        reader = PdfReader(file)
        count = len(reader.pages)
        if first > count:
            raise ToolError(f"Page {first} does not exist: {shown} has {count} pages.")
        writer = PdfWriter()
        for index in range(first - 1, min(last, count)):
            writer.add_page(reader.pages[index])
        result = io.BytesIO()
        writer.write(result)
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ToolError(f"PDF pages cannot be extracted from {shown}: {error}") from None
    return result.getvalue()
