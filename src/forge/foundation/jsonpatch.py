"""Changes single keys of a JSON text: every other byte stays, new parts take the file's own style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from forge.foundation.jsontext import JsonError, Node, member, parse, value_of


class Change(msgspec.Struct, frozen=True):
    """One edit: put, delete, append (to a list, what it lacks) or remove (from a list)."""

    action: str
    path: tuple[str, ...]
    value: Any = None


class _Style(msgspec.Struct, frozen=True):
    newline: str  # empty: everything on one line
    unit: str
    colon: str

    @property
    def comma(self) -> str:
        return ", " if self.colon.endswith(" ") else ","


def put(path: tuple[str, ...], value: Any) -> Change:
    """Sets the value of a key, making the objects on the way."""
    return Change("put", path, value)


def delete(path: tuple[str, ...]) -> Change:
    """Removes a key; it may be absent."""
    return Change("delete", path)


def append(path: tuple[str, ...], values: Sequence[Any]) -> Change:
    """Adds to a list the values it does not have yet."""
    return Change("append", path, list(values))


def remove(path: tuple[str, ...], values: Sequence[Any]) -> Change:
    """Takes values out of a list."""
    return Change("remove", path, list(values))


def patch(text: str, changes: Sequence[Change]) -> str:
    """The text after the changes; JsonError when the text is not JSON or has another shape."""
    if not text.strip(" \t\r\n\ufeff"):
        text = ("\ufeff" if text.startswith("\ufeff") else "") + "{}\n"
    for change in changes:
        text = _apply(text, change)
    return text


def difference(old: dict[str, Any], new: dict[str, Any], path: tuple[str, ...] = ()) -> list[Change]:
    """The changes that turn one object into another."""
    changes = [delete((*path, key)) for key in old if key not in new]
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            changes += difference(before, value, (*path, key))
        elif key not in old or not same(before, value):
            changes.append(put((*path, key), value))
    return changes


def same(one: Any, other: Any) -> bool:
    """Equality as JSON sees it: true is not 1, but 1.0 is."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _apply(text: str, change: Change) -> str:
    root = parse(text)
    node, missing = _descend(root, change.path)
    if change.action == "delete":
        return _delete(text, change.path)
    if change.action == "remove":
        return text if missing else _remove_items(text, change)
    if missing:
        value = _nest(missing[1:], change.value)
        return _insert_member(text, node, missing[0], value, _style(text, root))
    if change.action == "append":
        return _append_items(text, _list(node, change.path), change.value, _style(text, root))
    return _put(text, node, change, _style(text, root))


def _descend(root: Node, path: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
    """The deepest node that exists on the way, and the keys that are missing below it."""
    node = root
    for index, key in enumerate(path):
        if node.kind != "object":
            where = ".".join(path[:index]) or "the top level"
            raise JsonError(f"expected an object at {where}", node.start)
        found = member(node, key)
        if found is None:
            return node, path[index:]
        node = found.value
    return node, ()


def _put(text: str, node: Node, change: Change, style: _Style) -> str:
    old = value_of(text, node)
    if same(old, change.value):
        return text
    if isinstance(old, dict) and isinstance(change.value, dict):
        return patch(text, difference(old, change.value, change.path))
    if isinstance(old, list) and isinstance(change.value, list) and same(old, change.value[: len(old)]):
        return _insert_items(text, node, change.value[len(old) :], style)
    inside = text[node.start : node.end]
    one_line = bool(node.items or node.members) and "\n" not in inside
    new = render(change.value, _flat(style) if one_line else style, _line_indent(text, node.start))
    return text[: node.start] + new + text[node.end :]


def _delete(text: str, path: tuple[str, ...]) -> str:
    while True:
        parent, missing = _descend(parse(text), path[:-1])
        index = next((i for i, m in enumerate(parent.members) if m.key == path[-1]), None)
        if missing or index is None:
            return text
        text = _cut(text, parent, [(m.key_start, m.value.end) for m in parent.members], index)


def _remove_items(text: str, change: Change) -> str:
    while True:
        node = _list(_descend(parse(text), change.path)[0], change.path)
        unwanted = (i for i, item in enumerate(node.items) if _contains(change.value, value_of(text, item)))
        index = next(unwanted, None)
        if index is None:
            return text
        text = _cut(text, node, [(item.start, item.end) for item in node.items], index)


def _cut(text: str, node: Node, spans: list[tuple[int, int]], index: int) -> str:
    """Takes one element and one comma out of a container; the rest of the line-up keeps its look."""
    if len(spans) == 1:
        start, end = node.start + 1, node.end - 1
    elif index == 0:
        start, end = spans[0][0], spans[1][0]
    else:
        start, end = spans[index - 1][1], spans[index][1]
    return text[:start] + text[end:]


def _append_items(text: str, node: Node, values: list[Any], style: _Style) -> str:
    have = value_of(text, node)
    new: list[Any] = []
    for value in values:
        if not _contains(have, value) and not _contains(new, value):
            new.append(value)
    return _insert_items(text, node, new, style) if new else text


def _list(node: Node, path: tuple[str, ...]) -> Node:
    if node.kind != "array":
        raise JsonError(f"expected a list at {'.'.join(path)}", node.start)
    return node


def _insert_member(text: str, node: Node, key: str, value: Any, style: _Style) -> str:
    if not node.members:
        return _fill_empty(text, node, [(f"{quote(key)}{style.colon}", value)], style)
    last = node.members[-1]
    colon = text[last.key_end : last.value.start]
    lead = quote(key) + (style.colon if "\n" in colon else colon)
    gap = _gap(text, node, [(m.key_start, m.value.end) for m in node.members], style)
    return _insert_after(text, last.value.end, gap, [(lead, value)], style)


def _insert_items(text: str, node: Node, values: list[Any], style: _Style) -> str:
    parts = [("", value) for value in values]
    if not node.items:
        return _fill_empty(text, node, parts, style)
    gap = _gap(text, node, [(item.start, item.end) for item in node.items], style)
    return _insert_after(text, node.items[-1].end, gap, parts, style)


def _insert_after(text: str, position: int, gap: str, parts: list[tuple[str, Any]], style: _Style) -> str:
    wide = "\n" in gap
    indent = gap.rpartition("\n")[2] if wide else ""
    new = [f",{gap}{lead}{render(value, style if wide else _flat(style), indent)}" for lead, value in parts]
    return text[:position] + "".join(new) + text[position:]


def _gap(text: str, node: Node, spans: list[tuple[int, int]], style: _Style) -> str:
    """The white space in front of the last element, which a new one gets too."""
    if len(spans) == 1:
        gap = text[node.start + 1 : spans[0][0]]
        return gap if "\n" in gap else style.comma[1:]
    return text[text.index(",", spans[-2][1]) + 1 : spans[-1][0]]


def _fill_empty(text: str, node: Node, parts: list[tuple[str, Any]], style: _Style) -> str:
    outer = _line_indent(text, node.start)
    inner = outer + style.unit if style.newline else ""
    new = [lead + render(value, style, inner) for lead, value in parts]
    brackets = text[node.start] + text[node.end - 1]
    return text[: node.start] + _bracket(brackets, new, style, outer) + text[node.end :]


def render(value: Any, style: _Style, indent: str) -> str:
    """A value as JSON text; following lines start with `indent`."""
    if isinstance(value, dict):
        parts = [f"{quote(k)}{style.colon}{render(v, style, indent + style.unit)}" for k, v in value.items()]
        return _bracket("{}", parts, style, indent)
    if isinstance(value, list | tuple):
        return _bracket("[]", [render(v, style, indent + style.unit) for v in value], style, indent)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise ValueError("JSON has no word for infinite numbers")
    return msgspec.json.encode(value).decode()


def quote(text: str) -> str:
    """A JSON string; halves of surrogate pairs are written as escapes."""
    try:
        return msgspec.json.encode(text).decode()
    except UnicodeEncodeError:
        return '"' + "".join(_quote_char(char) for char in text) + '"'


def _quote_char(char: str) -> str:
    return (
        f"\\u{ord(char):04x}" if 0xD800 <= ord(char) <= 0xDFFF else msgspec.json.encode(char).decode()[1:-1]
    )


def _bracket(brackets: str, parts: list[str], style: _Style, indent: str) -> str:
    if not parts:
        return brackets
    if not style.newline:
        return brackets[0] + style.comma.join(parts) + brackets[1]
    separator = f"{style.newline}{indent}{style.unit}"
    return f"{brackets[0]}{separator}{f',{separator}'.join(parts)}{style.newline}{indent}{brackets[1]}"


def _style(text: str, root: Node) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    starts = [m.key_start for m in root.members] + [item.start for item in root.items]
    if not starts:
        return _Style(newline, "  ", ": ")
    colon = text[root.members[0].key_end : root.members[0].value.start] if root.members else ": "
    colon = ": " if "\n" in colon else colon
    gap = text[root.start + 1 : starts[0]]
    if "\n" not in gap:
        return _Style("", "", colon)
    unit = gap.rpartition("\n")[2].removeprefix(_line_indent(text, root.start))
    return _Style(newline, unit, colon)


def _flat(style: _Style) -> _Style:
    return _Style("", "", style.colon)


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _nest(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _contains(values: list[Any], value: Any) -> bool:
    return any(same(value, other) for other in values)
