"""NotebookEdit: replaces, inserts or deletes one cell of a Jupyter notebook.

The file keeps its key order, indentation, final newline and the form of its sources; only the cell changes.
"""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.core.changes import Changes
from forge.core.seen import stamp
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.guard import refuse_links, refuse_unread
from forge.core.tools.location import calling_error, refuse_null_bytes, resolve, system_error
from forge.core.tools.store import write_atomically
from forge.foundation.encode import NOT_JSON

_INDENT = re.compile(r"^[\[{]\s*\n([ \t]+)")
_BY_INDEX = re.compile(r"cell-(\d+)")
Notebook = dict[str, Any]


class Args(msgspec.Struct, frozen=True):
    notebook_path: str
    new_source: str
    cell_id: str = ""
    cell_type: str = ""
    edit_mode: str = "replace"


class Change(msgspec.Struct, frozen=True):
    """An edit that can be done: the notebook as it is and the index of the cell meant."""

    text: str
    notebook: Notebook
    index: int


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what is no notebook, was not read, or names no cell."""
    refuse_null_bytes("NotebookEdit", args.notebook_path)
    _plan(args, ctx)


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Applies the edit."""
    path = resolve(args.notebook_path, ctx)
    refuse_links(args.notebook_path, path)
    change = _plan(args, ctx)
    old = _source(change.notebook["cells"][change.index]) if args.edit_mode != "insert" else None
    kind, cell_id = _apply(args, change, new_id=_fresh_id)
    text = _written(change.notebook, change.text)
    raw = text.encode("utf-8", "surrogatepass")
    try:
        ctx.keep(Changes).tell(path)
        ctx.seen[path] = stamp(write_atomically(path, raw), raw)
    except OSError as error:
        raise system_error(error, "open", path) from None
    data: dict[str, Any] = {"new_source": args.new_source}
    data |= {} if old is None else {"old_source": old}
    data |= {"cell_type": kind, "language": _language(change.notebook), "edit_mode": args.edit_mode}
    data |= {"cell_id": cell_id} if cell_id else {}
    data |= {"error": "", "notebook_path": path, "original_file": change.text, "updated_file": text}
    return ToolOutput(_words(args, cell_id), data)


def _plan(args: Args, ctx: ToolContext) -> Change:
    path = resolve(args.notebook_path, ctx)
    if not path.endswith(".ipynb"):
        raise ToolError(
            "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the "
            "FileEdit tool."
        )
    if args.edit_mode == "insert" and not args.cell_type:
        raise ToolError("Cell type is required when using edit_mode=insert.")
    refuse_unread(path, ctx)
    text = _read(path)
    try:
        notebook = msgspec.json.decode(text)
    except NOT_JSON:
        raise ToolError("Notebook is not valid JSON.") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ToolError('Notebook is not valid: "cells" must be a list of cells.')
    return Change(text, notebook, _index(args, cells))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        raise ToolError("Notebook file does not exist.") from None
    except UnicodeDecodeError:
        raise ToolError("Notebook is not valid JSON: it is not UTF-8 text.") from None
    except OSError as error:
        raise calling_error("NotebookEdit", error, "open", path) from None


def _index(args: Args, cells: list[dict[str, Any]]) -> int:
    """The cell meant; -1 stands before the first one."""
    if not args.cell_id:
        if args.edit_mode == "insert":
            return -1
        raise ToolError("Cell ID must be specified when not inserting a new cell.")
    for index, cell in enumerate(cells):
        if cell.get("id") == args.cell_id:
            return index
    numbered = _BY_INDEX.fullmatch(args.cell_id)
    if numbered is None:
        raise ToolError(f'Cell with ID "{args.cell_id}" not found in notebook.')
    if int(numbered[1]) >= len(cells):
        raise ToolError(f"Cell with index {int(numbered[1])} does not exist in notebook.")
    return int(numbered[1])


def _apply(args: Args, change: Change, new_id: Any) -> tuple[str, str]:
    """Changes the notebook in memory; the kind of the cell and its id (empty if it has none)."""
    cells = change.notebook["cells"]
    if args.edit_mode == "insert":
        cell = _new_cell(args, new_id() if _has_ids(change.notebook) else "")
        cells.insert(change.index + 1, cell)
        return args.cell_type, cell.get("id", "")
    cell = cells[change.index]
    if args.edit_mode == "delete":
        del cells[change.index]
        return str(cell.get("cell_type", "code")), args.cell_id
    kind = args.cell_type or str(cell.get("cell_type", "code"))
    cell["source"] = _like(cell.get("source"), args.new_source)
    cell["cell_type"] = kind
    if kind == "code":
        cell["execution_count"], cell["outputs"] = None, []
    else:
        # Only code cells have these; with them the notebook would not be valid.
        cell.pop("execution_count", None)
        cell.pop("outputs", None)
    return kind, args.cell_id


def _new_cell(args: Args, identity: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": args.cell_type}
    if identity:
        cell["id"] = identity
    cell |= {"source": args.new_source, "metadata": {}}
    if args.cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _fresh_id() -> str:
    return os.urandom(4).hex()


def _has_ids(notebook: Notebook) -> bool:
    """Cells have ids since format 4.5."""
    major, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    return isinstance(major, int) and isinstance(minor, int) and (major, minor) >= (4, 5)


def _like(old: Any, source: str) -> str | list[str]:
    """The source as one string or as a list of lines, whichever the cell had."""
    return source.splitlines(keepends=True) if isinstance(old, list) else source


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _language(notebook: Notebook) -> str:
    metadata = notebook.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key])
    return "python"


def _written(notebook: Notebook, like: str) -> str:
    """The notebook as text with the indentation, line ends and final newline it had."""
    compact = msgspec.json.encode(notebook)
    found = _INDENT.match(like)
    if found is None:
        text = compact.decode()
    else:
        text = msgspec.json.format(compact, indent=len(found[1])).decode()
        if "\t" in found[1]:
            text = re.sub(r"(?m)^ +", lambda spaces: "\t" * len(spaces[0]), text)
    end = like[len(like.rstrip("\r\n")) :]
    return text.replace("\n", "\r\n") + end if "\r\n" in like else text + end


def _words(args: Args, cell_id: str) -> str:
    if args.edit_mode == "delete":
        return f"Deleted cell {cell_id}"
    if args.edit_mode == "insert":
        return f"Inserted {f'cell {cell_id}' if cell_id else 'a new cell'} with {args.new_source}"
    return f"Updated cell {cell_id} with {args.new_source}"


ACTION: Action[Args] = Action(Args, run, check)
