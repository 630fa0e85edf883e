"""Syntax colours of the lines in sight, from windows of a body. The library is loaded with the first one."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from forge.hosts.diffy.screen.contents import Piece

Spans = tuple[tuple[int, int, str], ...]

_WINDOW = 80
_LEAD = 20
_LONGEST = 2000
# Kinds of tokens and their colours; the first that fits counts.
_NAMES = (
    (("Comment",), "com"),
    (("Literal", "String"), "str"),
    (("Literal", "Number"), "num"),
    (("Keyword", "Constant"), "num"),
    (("Keyword",), "kw"),
    (("Operator", "Word"), "kw"),
    (("Name", "Function"), "fun"),
    (("Name", "Decorator"), "fun"),
    (("Name", "Builtin"), "fun"),
    (("Name", "Class"), "cls"),
    (("Name", "Exception"), "cls"),
    (("Name", "Tag"), "tag"),
    (("Name", "Attribute"), "num"),
)


class Colours:
    """The syntax colours of one review."""

    def __init__(self) -> None:
        self._lexers: dict[str, Any] = {}
        self._windows: dict[tuple[str, int, str], dict[int, Spans]] = {}

    def spans(self, path: str, piece: Piece, index: int) -> Spans:
        """The coloured parts of one line, as (start, end, name)."""
        # What was removed stands alone; everything else is the new text.
        side = "-" if piece.kinds[index] == "-" else " +"
        key = (piece.id, index // _WINDOW, side)
        found = self._windows.get(key)
        if found is None:
            if len(self._windows) > 200:
                self._windows.clear()
            found = self._window(path, piece, index, side)
            self._windows[key] = found
        return found.get(index, ())

    def _window(self, path: str, piece: Piece, index: int, side: str) -> dict[int, Spans]:
        lexer = self._lexer(path)
        if lexer is None:
            return {}
        start = index // _WINDOW * _WINDOW
        # Some lines before, so that a text that began there keeps its colour.
        wanted = range(max(0, start - _LEAD), min(len(piece.kinds), start + _WINDOW))
        indexes = [i for i in wanted if piece.kinds[i] in side]
        lines = [piece.texts[i][:_LONGEST] for i in indexes]
        return dict(zip(indexes, _coloured(lexer, lines), strict=True))

    def _lexer(self, path: str) -> Any:
        name = path.rpartition("/")[2]
        ending = name.rpartition(".")[2] if "." in name else name
        if ending not in self._lexers:
            found = import_module("pygments.lexers").find_lexer_class_for_filename(name)
            self._lexers[ending] = found(ensurenl=False, stripnl=False) if found else None
        return self._lexers[ending]


def _coloured(lexer: Any, lines: list[str]) -> list[Spans]:
    spans: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    row = column = 0
    for _, token, text in lexer.get_tokens_unprocessed("\n".join(lines)):
        name = name_of(token)
        for number, part in enumerate(text.split("\n")):
            if number:
                row, column = row + 1, 0
            if name and part and row < len(spans):
                spans[row].append((column, column + len(part), name))
            column += len(part)
    return [tuple(line) for line in spans]


@lru_cache(maxsize=256)
def name_of(token: tuple[str, ...]) -> str:
    """The colour of a token; "" for the usual one."""
    return next((name for kind, name in _NAMES if token[: len(kind)] == kind), "")
