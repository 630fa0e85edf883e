"""Checks that every live substitution of the text is in the tree: what the parser misses is not safe."""

from __future__ import annotations

import functools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_ONE_LINE = ("command", "declaration_command", "unset_command", "variable_assignments")
_BEHIND_WORDS = (b"`", b" ", b"\t", b"\n", b";", b"&", b"|", b")", b"<", b">")
_INERT = ("raw_string", "ansi_c_string", "comment")


def uncovered(root: Node, source: bytes) -> int | None:
    """The byte offset of a substitution that the tree does not contain, None if all are there."""
    marks = [m.start() for m in _marks().finditer(source)]
    if not marks:
        return None
    edges, inert = _regions(root)
    for at in marks:
        if at in edges or source.startswith(b"$((", at):
            continue
        if any(start <= at < end for start, end in inert):
            continue
        if _escaped(source, at, edges):
            continue
        return at
    return None


def running(root: Node) -> Iterator[Node]:
    """All nodes of the tree that run something, outermost first: substitutions and commands."""
    for node in _walk(root):
        if node.type in _SUBSTITUTIONS or node.type == "command":
            yield node


def command_names(root: Node) -> set[str]:
    """The words in command position, as written without quotes and backslashes."""
    return {_plain(node) for node in _walk(root) if node.type == "command_name"}


def contains(root: Node, kind: str) -> bool:
    """Whether a node of the type is in the tree."""
    return any(node.type == kind for node in _walk(root))


def joined_lines(root: Node, source: bytes) -> bool:
    """Whether a word begins with a line break, or one stands inside a command: two commands became one."""
    for node in _walk(root):
        if node.type == "word" and (node.text or b" ")[:1] in b" \t\n":
            return True
        if node.type in _ONE_LINE:
            ends = [child.end_byte for child in node.children]
            starts = [child.start_byte for child in node.children[1:]]
            if any(b"\n" in source[end:start] for end, start in zip(ends, starts, strict=False)):
                return True
    return False


def misread_numbers(root: Node, source: bytes) -> set[int]:
    """Where the number of a descriptor stands that the grammar takes for a command: `0>file command`."""
    found: set[int] = set()
    if b">" not in source and b"<" not in source:
        return found
    for node in _walk(root) if re.search(rb"\d[<>]", source) else ():
        redirects = node.type == "command_name" and source[node.end_byte : node.end_byte + 1] in (b"<", b">")
        if redirects and (node.text or b"").isdigit():
            found.update(range(node.start_byte, node.end_byte))
    return found


def glued_array(root: Node, source: bytes) -> bool:
    """Whether something stands directly behind `a=(…)`: to bash it is a part of the assignment."""
    ends = [node.end_byte for node in _walk(root) if node.type == "array"] if b"=(" in source else []
    return any(source[end : end + 1] not in (b"", *_BEHIND_WORDS) for end in ends)


def _plain(node: Node) -> str:
    return re.sub(r"[\\'\"\s]", "", (node.text or b"").decode("utf-8", "replace"))


def _regions(root: Node) -> tuple[set[int], list[tuple[int, int]]]:
    edges: set[int] = set()
    inert: list[tuple[int, int]] = []
    for node in _walk(root):
        if node.type in _SUBSTITUTIONS:
            edges.add(node.start_byte)
            edges.add(_opening(node))
            edges.add(node.end_byte - 1)
        elif node.type in _INERT and not (node.type == "raw_string" and _quoted_expansion(node)):
            inert.append((node.start_byte, node.end_byte))
    return edges, inert


def _opening(node: Node) -> int:
    """The grammar may count blanks before the opening sign to it."""
    text = node.text or b""
    return node.start_byte + len(text) - len(text.lstrip())


def _quoted_expansion(node: Node) -> bool:
    """Single quotes in `"${x:-'…'}"` are ordinary characters."""
    kinds = []
    parent = node.parent
    while parent is not None:
        kinds.append(parent.type)
        parent = parent.parent
    return "expansion" in kinds and "string" in kinds[kinds.index("expansion") :]


def _escaped(source: bytes, at: int, edges: set[int]) -> bool:
    before = source[:at]
    slashes = len(before) - len(before.rstrip(b"\\"))
    if slashes % 2 == 0:
        return False
    # An escaped backtick inside backticks is the inner one of two nested substitutions.
    inside = sum(1 for edge in edges if edge < at and source[edge : edge + 1] == b"`") % 2
    return not (inside and source[at : at + 1] == b"`")


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


@functools.cache
def _marks() -> re.Pattern[bytes]:
    return re.compile(rb"`|[$<>]\(")
