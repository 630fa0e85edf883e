"""Reads a Jupyter notebook cell by cell, with outputs."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.amount import human_size
from forge.core.message import Block, Image, Source, Text
from forge.core.tool import ToolError
from forge.core.tools.read import MAX_BYTES
from forge.foundation.encode import NOT_JSON

_MAX_OUTPUT = 10_000
_MAX_FILE = 64 * 1024 * 1024
_IMAGES = ("image/png", "image/jpeg")
_INVALID = (
    'Notebook file is not a valid Jupyter notebook (top-level "cells" must be an array of cell objects, each '
    'with a string or string-array "source").'
)


def read(shown: str, path: str, pages: str) -> tuple[str | list[Block], dict[str, Any]]:
    """The cells as blocks and as records; `pages` has no meaning here."""
    notebook = _load(path)
    language = _language(notebook)
    cells = [_cell(cell, index, language) for index, cell in enumerate(notebook["cells"])]
    size = len(msgspec.json.encode(cells))
    if size > MAX_BYTES:
        raise ToolError(_too_large(size))
    data = {"type": "notebook", "file": {"filePath": shown, "cells": cells}}
    blocks = _merged([block for cell in cells for block in _blocks(cell)])
    return blocks or "(Read completed with no output)", data


def _load(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        raw = file.read(_MAX_FILE + 1)
    if len(raw) > _MAX_FILE:
        raise ToolError(_too_large(len(raw)))
    try:
        notebook = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"))
    except NOT_JSON as error:
        raise ToolError(
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): "
            f"JSON Parse error: {error}"
        ) from None
    if not isinstance(notebook, dict) or not _is_cells(notebook.get("cells")):
        raise ToolError(_INVALID)
    return notebook


def _is_cells(cells: object) -> bool:
    return isinstance(cells, list) and all(
        isinstance(cell, dict) and isinstance(cell.get("source"), str | list) for cell in cells
    )


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    described = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = described.get("name") if isinstance(described, dict) else None
    return name if isinstance(name, str) else "python"


def _cell(cell: dict[str, Any], index: int, language: str) -> dict[str, Any]:
    kind = cell.get("cell_type")
    record: dict[str, Any] = {"cellType": kind, "source": _joined(cell["source"])}
    if kind == "code" and cell.get("execution_count") is not None:
        record["execution_count"] = cell["execution_count"]
    record["cell_id"] = cell.get("id") or f"cell-{index}"
    if kind == "code":
        record["language"] = language
        outputs = [_output(o) for o in cell.get("outputs") or () if isinstance(o, dict)]
        if sum(len(o["text"]) for o in outputs) > _MAX_OUTPUT:
            advice = "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq "
            outputs = [{"output_type": "stream", "text": f"{advice}'.cells[{index}].outputs'"}]
        if outputs:
            record["outputs"] = outputs
    return record


def _output(output: dict[str, Any]) -> dict[str, Any]:
    kind = output.get("output_type")
    if kind == "stream":
        return {"output_type": kind, "text": _joined(output.get("text", ""))}
    if kind == "error":
        trace = "\n".join(str(line) for line in output.get("traceback") or ())
        return {"output_type": kind, "text": f"{output.get('ename')}: {output.get('evalue')}\n{trace}"}
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    record: dict[str, Any] = {"output_type": kind, "text": _joined(data.get("text/plain", ""))}
    for media_type in _IMAGES:
        if isinstance(data.get(media_type), str):
            picture = "".join(data[media_type].split())
            record["image"] = {"image_data": picture, "media_type": media_type}
            break
    return record


def _joined(text: object) -> str:
    return "".join(str(part) for part in text) if isinstance(text, list) else str(text)


def _blocks(cell: dict[str, Any]) -> list[Block]:
    about = "" if cell["cellType"] == "code" else f"<cell_type>{cell['cellType']}</cell_type>"
    if cell.get("language", "python") != "python":
        about += f"<language>{cell['language']}</language>"
    name = cell["cell_id"]
    blocks: list[Block] = [Text(f'<cell id="{name}">{about}{cell["source"]}</cell id="{name}">')]
    for output in cell.get("outputs", ()):
        if output["text"]:
            blocks.append(Text(f"\n{output['text']}"))
        if "image" in output:
            picture = output["image"]
            blocks.append(Image(Source("base64", picture["media_type"], picture["image_data"])))
    return blocks


def _merged(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        previous = merged[-1] if merged else None
        if isinstance(block, Text) and isinstance(previous, Text):
            merged[-1] = Text(f"{previous.text}\n{block.text}")
        else:
            merged.append(block)
    return merged


def _too_large(size: int) -> str:
    return (
        f"Notebook content ({human_size(size)}) exceeds maximum allowed size ({human_size(MAX_BYTES)}). "
        "Use Bash with jq to read specific portions:\n"
        "  cat <notebook_path> | jq '.cells[:20]' # First 20 cells\n"
        "  cat <notebook_path> | jq '.cells[100:120]' # Cells 100-120\n"
        "  cat <notebook_path> | jq '.cells | length' # Count total cells\n"
        "  cat <notebook_path> | jq '.cells[] | select(.cell_type==\"code\") | .source' # All code sources"
    )
