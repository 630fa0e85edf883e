from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from forge.core.message import Document, Image, Source, Text
from forge.core.tools.read import ACTION
from unit.core.tools.context import RecordingContext, call, failure

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////"
    "////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)
WEBP = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("name", "raw", "media_type", "sides"),
    [
        ("a.gif", GIF, "image/gif", (1, 1)),
        ("a.jpg", JPEG, "image/jpeg", (1, 1)),
        ("a.webp", WEBP, "image/webp", (1, 1)),
        ("a.PNG", png(20, 30), "image/png", (20, 30)),
        ("jpeg-named.png", JPEG, "image/jpeg", (1, 1)),
        ("without-extension", png(2, 3), "image/png", (2, 3)),
    ],
)
def test_images_come_back_as_pictures(
    tmp_path: Path, name: str, raw: bytes, media_type: str, sides: tuple[int, int]
) -> None:
    (tmp_path / name).write_bytes(raw)
    ctx = RecordingContext(tmp_path)
    output = call(ACTION, ctx, file_path=name)
    data = base64.b64encode(raw).decode()
    names = ("originalWidth", "originalHeight", "displayWidth", "displayHeight")
    assert output.content == [Image(Source("base64", media_type, data))]
    assert output.data == {
        "type": "image",
        "file": {
            "base64": data,
            "type": media_type,
            "originalSize": len(raw),
            "dimensions": dict(zip(names, sides * 2, strict=True)),
        },
    }
    assert ctx.seen == {}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "Image file is empty: a.png"),
        (
            b"not an image",
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected: "
            "unrecognized bytes (hex: 6e 6f 74 20 61 6e 20 69). This usually means a download saved an "
            "error/login page "
            'instead of the image. Use `file "a.png"` to confirm, or read it as text with Bash (e.g. '
            "`head -c 500`).",
        ),
        (
            b"<!DOCTYPE html><html>",
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected: HTML "
            "document "
            '(starts with "<!DOCTYPE html><html>"). This usually means a download saved an error/login page '
            'instead of the image. Use `file "a.png"` to confirm, or read it as text with Bash (e.g. '
            "`head -c 500`).",
        ),
        (
            png(9000, 10),
            "Image is too large to show: a.png is 9000x10 pixels. The limits are 3.8MB and 8000 pixels on "
            "a side. Make a smaller copy first (for example with ImageMagick: convert IN -resize 2000x2000 "
            "OUT) and read that.",
        ),
    ],
)
def test_broken_and_oversized_images_are_explained(tmp_path: Path, raw: bytes, text: str) -> None:
    (tmp_path / "a.png").write_bytes(raw)
    assert failure(ACTION, RecordingContext(tmp_path), file_path="a.png") == (
        "failed",
        text.replace("a.png", str(tmp_path / "a.png")),
    )


def notebook(*cells: dict[str, Any], language: str = "python") -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": language}}})


def test_notebooks_are_shown_cell_by_cell_with_their_outputs(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
        {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t1", "t2"]},
        {"output_type": "display_data", "data": {"image/png": "iVBO\nRw0KGgo="}},
    ]
    code = {"cell_type": "code", "id": "c1", "source": ["print(1)\n", "x"], "execution_count": 1}
    prose = {"cell_type": "markdown", "source": "# hi"}
    (tmp_path / "n.ipynb").write_text(notebook({**code, "outputs": outputs}, prose))
    ctx = RecordingContext(tmp_path)
    output = call(ACTION, ctx, file_path="n.ipynb")
    assert output.content == [
        Text('<cell id="c1">print(1)\nx</cell id="c1">\n\n1\n\n\n2\n\nE: v\nt1\nt2'),
        Image(Source("base64", "image/png", "iVBORw0KGgo=")),
        Text('<cell id="cell-1"><cell_type>markdown</cell_type># hi</cell id="cell-1">'),
    ]
    assert output.data["file"]["cells"] == [
        {
            "cellType": "code",
            "source": "print(1)\nx",
            "execution_count": 1,
            "cell_id": "c1",
            "language": "python",
            "outputs": [
                {"output_type": "stream", "text": "1\n"},
                {"output_type": "execute_result", "text": "2"},
                {"output_type": "error", "text": "E: v\nt1\nt2"},
                {
                    "output_type": "display_data",
                    "text": "",
                    "image": {"image_data": "iVBORw0KGgo=", "media_type": "image/png"},
                },
            ],
        },
        {"cellType": "markdown", "source": "# hi", "cell_id": "cell-1"},
    ]
    assert list(ctx.seen) == [str(tmp_path / "n.ipynb")]


def test_cells_without_pictures_between_them_are_one_text(tmp_path: Path) -> None:
    cells = (
        {"cell_type": "code", "source": "a", "outputs": [{"output_type": "stream", "text": "x" * 20_000}]},
        {"cell_type": "raw", "source": "r"},
    )
    (tmp_path / "n.ipynb").write_text(notebook(*cells, language="julia"))
    assert call(ACTION, RecordingContext(tmp_path), file_path="n.ipynb").content == [
        Text(
            '<cell id="cell-0"><language>julia</language>a</cell id="cell-0">\n\nOutputs are too '
            "large to include. "
            "Use Bash with: cat <notebook_path> | jq '.cells[0].outputs'\n"
            '<cell id="cell-1"><cell_type>raw</cell_type>r</cell id="cell-1">'
        )
    ]


def test_an_empty_notebook_has_no_output(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text(notebook())
    output = call(ACTION, RecordingContext(tmp_path), file_path="n.ipynb")
    assert output.content == "(Read completed with no output)"
    assert output.data == {"type": "notebook", "file": {"filePath": "n.ipynb", "cells": []}}


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            "{",
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): JSON",
        ),
        (
            "{}",
            'Notebook file is not a valid Jupyter notebook (top-level "cells" must be an array',
        ),
        ("[]", "Notebook file is not a valid Jupyter notebook"),
        ('{"cells": [5]}', "Notebook file is not a valid Jupyter notebook"),
        (
            notebook({"cell_type": "code", "source": "z" * 300_000}),
            "Notebook content (293KB) exceeds maximum allowed size (256KB). Use Bash with jq to",
        ),
    ],
)
def test_broken_and_oversized_notebooks_are_explained(tmp_path: Path, text: str, start: str) -> None:
    (tmp_path / "n.ipynb").write_text(text)
    kind, message = failure(ACTION, RecordingContext(tmp_path), file_path="n.ipynb")
    assert (kind, message[: len(start)]) == ("failed", start)


def pdf(path: Path, pages: int) -> bytes:
    writer = PdfWriter()
    for n in range(pages):
        writer.add_blank_page(width=100 + n, height=100)
    writer.write(path)
    return path.read_bytes()


def test_a_pdf_is_sent_as_a_document(tmp_path: Path) -> None:
    raw = pdf(tmp_path / "a.pdf", 3)
    data = base64.b64encode(raw).decode()
    ctx = RecordingContext(tmp_path)
    output = call(ACTION, ctx, file_path="a.pdf")
    assert output.content == [
        Text(f"PDF file read: {tmp_path}/a.pdf ({len(raw)} bytes)"),
        Document(Source("base64", "application/pdf", data)),
    ]
    assert output.data == {
        "type": "pdf",
        "file": {"filePath": str(tmp_path / "a.pdf"), "base64": data, "originalSize": len(raw)},
    }
    assert ctx.seen == {}


@pytest.mark.parametrize(("pages", "widths"), [("2", [101]), ("2-3", [101, 102]), ("3-9", [102, 103])])
def test_pages_of_a_pdf_can_be_chosen(tmp_path: Path, pages: str, widths: list[int]) -> None:
    pdf(tmp_path / "a.pdf", 4)
    output = call(ACTION, RecordingContext(tmp_path), file_path="a.pdf", pages=pages)
    result = tmp_path / "result.pdf"
    result.write_bytes(base64.b64decode(output.data["file"]["base64"]))
    assert [round(float(p.mediabox.width)) for p in PdfReader(result).pages] == widths


INVALID = (
    'Invalid pages parameter: "{}". Give one page ("3") or one range ("1-5"), not a list. To read several '
    "pages or ranges, read each one separately. Pages are 1-indexed."
)
TOO_MANY = 'Page range "{}" exceeds maximum of 20 pages per request. Please use a smaller range.'


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        ("abc", INVALID),
        ("0", INVALID),
        ("3-1", INVALID),
        ("1,2", INVALID),
        ("1-30", TOO_MANY),
        ("5-", TOO_MANY),
    ],
)
def test_impossible_page_ranges_are_refused(tmp_path: Path, pages: str, text: str) -> None:
    found = failure(ACTION, RecordingContext(tmp_path), file_path="a.pdf", pages=pages)
    assert found == ("refused", text.format(pages))


@pytest.mark.parametrize(
    ("raw", "given", "text"),
    [
        (b"", {}, "PDF file is empty: a.pdf"),
        (b"not a pdf", {}, "File is not a valid PDF (missing %PDF- header): a.pdf"),
        (b"%PDF-1.4\n" + b"x" * 21_000_000, {}, "PDF file exceeds maximum allowed size of 20MB."),
        (b"%PDF-1.4\ngarbage", {"pages": "1"}, "PDF pages cannot be extracted from a.pdf: "),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_broken_and_oversized_pdfs_are_explained(
    tmp_path: Path, raw: bytes, given: dict[str, Any], text: str
) -> None:
    (tmp_path / "a.pdf").write_bytes(raw)
    kind, message = failure(ACTION, RecordingContext(tmp_path), file_path="a.pdf", **given)
    message = message.replace(f"{tmp_path}/", "")
    assert (kind, message[: len(text)]) == ("failed", text)


def test_a_page_beyond_the_end_is_named(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", 2)
    found = failure(ACTION, RecordingContext(tmp_path), file_path="a.pdf", pages="5")
    assert found == ("failed", f"Page 5 does not exist: {tmp_path}/a.pdf has 2 pages.")
