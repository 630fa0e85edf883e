"""Strict JSON with positions: finds where values stand in a text and says what is wrong with a broken one."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import msgspec

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MAX_DEPTH = 200
# Python refuses to convert longer digit strings.
_MAX_DIGITS = 4000


class Node(msgspec.Struct):
    """A value in the text: its span and, for objects and arrays, what is inside."""

    start: int
    end: int
    kind: str  # object, array, scalar
    members: list[Member] = []
    items: list[Node] = []


class Member(msgspec.Struct):
    """A key with its value."""

    key: str
    key_start: int
    key_end: int
    value: Node


class JsonError(ValueError):
    """The text is not JSON, or not the shape a change needs; `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def parse(text: str) -> Node:
    """The tree of a whole document; a byte order mark in front is allowed."""
    node = _value(text, _skip(text, int(text.startswith("\ufeff"))), 0)
    end = _skip(text, node.end)
    if end != len(text):
        _fail(text, end, "unexpected text after the end of the document")
    return node


def value_of(text: str, node: Node) -> Any:
    """The Python value of a node; of duplicate keys the last one counts."""
    if node.kind == "object":
        return {member.key: value_of(text, member.value) for member in node.members}
    if node.kind == "array":
        return [value_of(text, item) for item in node.items]
    raw = text[node.start : node.end]
    if raw[0] == '"':
        return _unquote(raw)
    if raw in _WORDS:
        return _WORDS[raw]
    whole = not any(mark in raw for mark in ".eE") and len(raw) < _MAX_DIGITS
    return int(raw) if whole else float(raw)


def find(node: Node, path: tuple[str, ...]) -> Node | None:
    """The node at a path of keys and array indexes."""
    for part in path:
        child = member(node, part)
        if child is not None:
            node = child.value
        elif node.kind == "array" and part.isdigit() and int(part) < len(node.items):
            node = node.items[int(part)]
        else:
            return None
    return node


def member(node: Node, key: str) -> Member | None:
    """The last member of an object with that key."""
    return next((m for m in reversed(node.members) if m.key == key), None)


def place(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """Line and column of the value at a path, or of its nearest container that exists."""
    root = parse(text)
    for length in range(len(path), -1, -1):
        node = find(root, path[:length])
        if node is not None:
            return line_column(text, node.start)
    return line_column(text, root.start)


def line_column(text: str, position: int) -> tuple[int, int]:
    """Line and column of a position, both counted from 1; a byte order mark takes no column."""
    line_start = text.rfind("\n", 0, position) + 1
    mark = line_start == 0 and text.startswith("\ufeff")
    return text.count("\n", 0, position) + 1, position - line_start + 1 - int(mark)


def _value(text: str, position: int, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        raise JsonError("nested too deeply", position)
    first = text[position : position + 1]
    if first == "{":
        return _object(text, position, depth)
    if first == "[":
        return _array(text, position, depth)
    if first == '"':
        return Node(position, _string_end(text, position), "scalar")
    number = _NUMBER.match(text, position)
    if number:
        return Node(position, number.end(), "scalar")
    for word in _WORDS:
        if text.startswith(word, position):
            return Node(position, position + len(word), "scalar")
    _fail(text, position, "expected a value")


def _object(text: str, start: int, depth: int) -> Node:
    node = Node(start, start, "object", members=[])
    position = _skip(text, start + 1)
    while text[position : position + 1] != "}":
        if text[position : position + 1] != '"':
            _fail(text, position, "expected a key in double quotes")
        key_end = _string_end(text, position)
        colon = _skip(text, key_end)
        if text[colon : colon + 1] != ":":
            _fail(text, colon, "expected a colon after the key")
        value = _value(text, _skip(text, colon + 1), depth + 1)
        node.members.append(Member(_unquote(text[position:key_end]), position, key_end, value))
        position = _next(text, value.end, "}")
    node.end = position + 1
    return node


def _array(text: str, start: int, depth: int) -> Node:
    node = Node(start, start, "array", items=[])
    position = _skip(text, start + 1)
    while text[position : position + 1] != "]":
        item = _value(text, position, depth + 1)
        node.items.append(item)
        position = _next(text, item.end, "]")
    node.end = position + 1
    return node


def _next(text: str, position: int, closing: str) -> int:
    """The start of the next element, or the closing bracket."""
    position = _skip(text, position)
    char = text[position : position + 1]
    if char == closing:
        return position
    if char != ",":
        _fail(text, position, f"expected a comma or {closing}")
    following = _skip(text, position + 1)
    if text[following : following + 1] == closing:
        raise JsonError("a comma before the closing bracket is not allowed", position)
    return following


def _string_end(text: str, position: int) -> int:
    match = _STRING.match(text, position)
    if not match:
        raise JsonError("the string is not closed, or has an invalid escape or control character", position)
    return match.end()


def _unquote(raw: str) -> str:
    if "\\" not in raw:
        return raw[1:-1]
    plain = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", _unescape, raw[1:-1])
    # Joins pairs of \uD83D\uDE00 style escapes; a lone half is no text and becomes a replacement character.
    return plain.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _unescape(match: re.Match[str]) -> str:
    code, char = match.groups()
    return chr(int(code, 16)) if code else _ESCAPES.get(char, char)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _fail(text: str, position: int, expected: str) -> NoReturn:
    if position >= len(text):
        raise JsonError(f"the file ends too early: {expected}", position)
    if text.startswith(("//", "/*", "#"), position):
        raise JsonError("comments are not allowed", position)
    raise JsonError(expected, position)
