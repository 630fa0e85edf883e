"""Answers of language servers as text for the model; a server may answer in several shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forge.core.lsp.finding import start_of
from forge.core.lsp.place import shown

_KINDS = (
    "Unknown",
    "File",
    "Module",
    "Namespace",
    "Package",
    "Class",
    "Method",
    "Property",
    "Field",
    "Constructor",
    "Enum",
    "Interface",
    "Function",
    "Variable",
    "Constant",
    "String",
    "Number",
    "Boolean",
    "Array",
    "Object",
    "Key",
    "Null",
    "EnumMember",
    "Struct",
    "Event",
    "Operator",
    "TypeParameter",
)

NO_DEFINITION = (
    "No definition found. This may occur if the cursor is not on a symbol, or if the definition is in an "
    "external library not indexed by the LSP server."
)
NO_REFERENCES = (
    "No references found. This may occur if the symbol has no usages, or if the LSP server has not fully "
    "indexed the workspace."
)
NO_HOVER = (
    "No hover information available. This may occur if the cursor is not on a symbol, or if the LSP server "
    "has not fully indexed the file."
)
NO_DOCUMENT_SYMBOLS = (
    "No symbols found in document. This may occur if the file is empty, not supported by the LSP server, or "
    "if the server has not fully indexed the file."
)
NO_WORKSPACE_SYMBOLS = (
    "No symbols found in workspace. This may occur if the workspace is empty, or if the LSP server has not "
    "finished indexing the project."
)


class Answer(msgspec.Struct, frozen=True):
    """A text, and how many results in how many files it is about."""

    text: str
    results: int = 0
    files: int = 0


class Spot(msgspec.Struct, frozen=True):
    """A place in a file."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def definitions(found: Any, cwd: str) -> Answer:
    """Where something is defined or implemented."""
    spots = list(_spots(found, cwd))
    if not spots:
        return Answer(NO_DEFINITION)
    if len(spots) == 1:
        return Answer(f"Defined in {spots[0]}", 1, 1)
    lines = "".join(f"\n  {spot}" for spot in spots)
    return Answer(f"Found {len(spots)} definitions:{lines}", len(spots), _files(spots))


def references(found: Any, cwd: str) -> Answer:
    """Where something is used."""
    spots = list(_spots(found, cwd))
    if not spots:
        return Answer(NO_REFERENCES)
    if len(spots) == 1:
        return Answer(f"Found 1 reference:\n  {spots[0]}", 1, 1)
    files = _files(spots)
    head = f"Found {len(spots)} references across {files} file{'s' if files > 1 else ''}:"
    rows = ((spot.file, f"Line {spot.line}:{spot.column}") for spot in spots)
    return Answer(f"{head}\n\n{_by_file(rows)}", len(spots), files)


def hover(found: Any, cwd: str) -> Answer:
    """What is known about the symbol at a place."""
    contents = found.get("contents") if isinstance(found, dict) else None
    words = _hover_text(contents).strip()
    if not words:
        return Answer(NO_HOVER)
    if isinstance(found.get("range"), dict):
        line, column = start_of(found["range"])
        words = f"Hover info at {line}:{column}:\n\n{words}"
    return Answer(words, 1, 1)


def document_symbols(found: Any, cwd: str) -> Answer:
    """What a file defines; servers that answer with a flat list are shown like a search."""
    items = _objects(found)
    if not items:
        return Answer(NO_DOCUMENT_SYMBOLS)
    if "location" in items[0]:
        return workspace_symbols(found, cwd)
    lines = list(_tree(items, 0))
    return Answer("\n".join(["Document symbols:", *lines]), len(lines), 1)


def workspace_symbols(found: Any, cwd: str) -> Answer:
    """Symbols of the project."""
    items = [item for item in _objects(found) if isinstance(item.get("location"), dict)]
    if not items:
        return Answer(NO_WORKSPACE_SYMBOLS)
    rows = []
    for item in items:
        place = item["location"]
        inside = f" in {item['containerName']}" if item.get("containerName") else ""
        line = start_of(place.get("range"))[0]
        rows.append((shown(str(place.get("uri", "")), cwd), f"{_named(item)} - Line {line}{inside}"))
    head = f"Found {len(rows)} symbol{'s' if len(rows) > 1 else ''} in workspace:"
    return Answer(f"{head}\n\n{_by_file(rows)}", len(rows), len({file for file, _ in rows}))


def call_items(found: Any, cwd: str) -> Answer:
    """The function at a place."""
    items = _objects(found)
    if not items:
        return Answer("No call hierarchy item found at this position")
    lines = []
    for item in items:
        detail = f" [{item['detail']}]" if item.get("detail") else ""
        place = f"{shown(str(item.get('uri', '')), cwd)}:{start_of(item.get('range'))[0]}"
        lines.append(f"{_named(item)} - {place}{detail}")
    if len(lines) == 1:
        return Answer(f"Call hierarchy item: {lines[0]}", 1, 1)
    rows = "".join(f"\n  {line}" for line in lines)
    files = len({str(item.get("uri")) for item in items})
    return Answer(f"Found {len(lines)} call hierarchy items:{rows}", len(lines), files)


def incoming_calls(found: Any, cwd: str) -> Answer:
    """Who calls a function."""
    nobody = "No incoming calls found (nothing calls this function)"
    return _calls(found, cwd, ("from", "incoming", "calls at"), nobody)


def outgoing_calls(found: Any, cwd: str) -> Answer:
    """What a function calls."""
    nobody = "No outgoing calls found (this function calls nothing)"
    return _calls(found, cwd, ("to", "outgoing", "called from"), nobody)


def _calls(found: Any, cwd: str, how: tuple[str, str, str], nobody: str) -> Answer:
    side, direction, label = how
    calls = [call for call in _objects(found) if isinstance(call.get(side), dict)]
    if not calls:
        return Answer(nobody)
    rows = []
    for call in calls:
        item = call[side]
        starts = [start_of(each) for each in call.get("fromRanges") or ()]
        places = ", ".join(f"{line}:{column}" for line, column in starts)
        where = f" [{label}: {places}]" if places else ""
        line = start_of(item.get("range"))[0]
        rows.append((shown(str(item.get("uri", "")), cwd), f"{_named(item)} - Line {line}{where}"))
    head = f"Found {len(rows)} {direction} call{'s' if len(rows) > 1 else ''}:"
    return Answer(f"{head}\n\n{_by_file(rows)}", len(rows), len({file for file, _ in rows}))


def _spots(found: Any, cwd: str) -> Iterator[Spot]:
    for item in _objects(found):
        uri = item.get("uri") or item.get("targetUri")
        place = item.get("range") or item.get("targetSelectionRange") or item.get("targetRange")
        if isinstance(uri, str):
            yield Spot(shown(uri, cwd), *start_of(place))


def _objects(found: Any) -> list[dict[str, Any]]:
    items = found if isinstance(found, list) else [found]
    return [item for item in items if isinstance(item, dict)]


def _files(spots: list[Spot]) -> int:
    return len({spot.file for spot in spots})


def _by_file(rows: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for file, line in rows:
        groups.setdefault(file, []).append(f"  {line}")
    return "\n\n".join("\n".join([f"{file}:", *lines]) for file, lines in groups.items())


def _named(item: dict[str, Any]) -> str:
    kind = item.get("kind")
    known = kind if isinstance(kind, int) and 0 <= kind < len(_KINDS) else 0
    return f"{item.get('name', '')} ({_KINDS[known]})"


def _tree(items: list[dict[str, Any]], depth: int) -> Iterator[str]:
    for item in items:
        detail = f" {item['detail']}" if item.get("detail") else ""
        yield f"{'  ' * depth}{_named(item)}{detail} - Line {start_of(item.get('range'))[0]}"
        if depth < 50:
            yield from _tree(_objects(item.get("children") or []), depth + 1)


def _hover_text(contents: Any) -> str:
    if isinstance(contents, list):
        return "\n\n".join(_hover_text(item) for item in contents)
    if isinstance(contents, dict):
        return str(contents.get("value", ""))
    return contents if isinstance(contents, str) else ""
