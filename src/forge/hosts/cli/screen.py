"""Text for a person: coloured only where that is wanted, and no line wider than the terminal."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TextIO

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "alarm": "1;31"}
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_SIGNS = {
    "ok": "✓",
    "no": "✗",
    "call": "●",
    "result": "│",
    "prompt": "›",
    "model": "◆",
    "news": "»",
    "back": "«",
    "rule": "─",
    "cut": "…",
}
_PLAIN_SIGNS = {
    "ok": "+",
    "no": "x",
    "call": "*",
    "result": "|",
    "prompt": ">",
    "model": "#",
    "news": ">",
    "back": "<",
    "rule": "-",
    "cut": "...",
}

_NO_STYLES: Mapping[int, str] = {}
NARROWEST, WIDEST = 30, 100


class Screen:
    """Where a command writes for people."""

    def __init__(self, out: TextIO, *, colour: bool, width: int, signs: Mapping[str, str] = _SIGNS) -> None:
        self.out = out
        self.colour = colour
        self.width = width
        self.signs = signs

    def paint(self, text: str, style: str) -> str:
        """The text in a style; as it is where colours are not wanted."""
        if not (self.colour and style and text):
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()

    def line(self, text: str = "", style: str = "") -> None:
        """One line, not wrapped."""
        self.write(self.paint(text, style) + "\n")

    def say(self, text: str, style: str = "", *, first: str = "", then: str | None = None) -> None:
        """A paragraph, wrapped; `first` and `then` are put before its first line and the others."""
        for line in wrap(text, min(self.width, WIDEST), first, first if then is None else then):
            self.line(line, style)

    def heading(self, text: str) -> None:
        """The title of a section, with a blank line before it."""
        self.line()
        self.say(text, "bold")

    def clip(self, text: str, indent: int = 0) -> str:
        """The text in one line, cut off where the terminal ends."""
        room = max(self.width - indent, 8)
        flat = " ".join(clean(text).split("\n"))
        cut = self.signs["cut"]
        return flat if len(flat) <= room else flat[: room - len(cut)] + cut

    def table(
        self, rows: Sequence[Sequence[str]], indent: int = 2, *, styles: Mapping[int, str] = _NO_STYLES
    ) -> None:
        """Columns side by side; the last one is wrapped, and goes below the others where there is no room."""
        if not rows:
            return
        widths = [max(_visible(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
        used = indent + sum(widths) + 2 * len(widths)
        beside = self.width - used >= min(24, max(len(row[-1]) for row in rows))
        for row in rows:
            cells = [cell + " " * (width - _visible(cell)) for cell, width in zip(row, widths, strict=False)]
            painted = [self.paint(cell, styles.get(at, "")) for at, cell in enumerate(cells)]
            head = " " * indent + "  ".join(painted)
            if not beside:
                self.line(head.rstrip())
                self.say(row[-1], first=" " * (indent + 4))
                continue
            lines = wrap(row[-1], self.width - used)
            self.line(f"{head}  {lines[0]}".rstrip())
            for more in lines[1:]:
                self.line(" " * used + more)


class Typist:
    """Writes a text that arrives in pieces, breaking lines between words."""

    def __init__(self, screen: Screen, first: str = "", then: str = "") -> None:
        self._screen, self._first, self._then = screen, first, then
        self._column = 0
        self._blanks = ""
        self._begun = False

    def feed(self, piece: str) -> None:
        for part in re.findall(r"\n|[^\s]+|[ \t]+", clean(piece)):
            if part == "\n":
                self._break()
            elif part.isspace():
                self._blanks = part if self._column else ""
            else:
                self._word(part)

    def end(self) -> None:
        """Finishes the text; the next piece starts a new one."""
        self._break()
        self._begun = False

    def _word(self, word: str) -> None:
        if self._column and self._column + len(self._blanks) + len(word) > min(self._screen.width, WIDEST):
            self._break()
        if not self._column:
            self._blanks = self._then if self._begun else self._first
            self._begun = True
        self._screen.write(self._blanks + word)
        self._column += len(self._blanks) + len(word)
        self._blanks = ""

    def _break(self) -> None:
        if self._column:
            self._screen.write("\n")
        self._column, self._blanks = 0, ""


def open_screen(env: Mapping[str, str], *, plain: bool = False) -> Screen:
    """Standard output as a screen; `plain` switches colours off."""
    out = sys.stdout
    terminal = out.isatty()
    colour = terminal and not plain and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    # Names of files need not be valid text; showing them must not fail.
    if hasattr(out, "reconfigure"):
        out.reconfigure(errors="backslashreplace")
    signs = _SIGNS if (out.encoding or "").lower().replace("-", "") == "utf8" else _PLAIN_SIGNS
    return Screen(out, colour=colour, width=_width(env, terminal=terminal), signs=signs)


def _visible(text: str) -> int:
    return len(_ESCAPE.sub("", text))


def clean(text: str) -> str:
    """The text without anything that could move the cursor or change colours."""
    return _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n"))).expandtabs(4)


def wrap(text: str, width: int, first: str = "", then: str = "") -> list[str]:
    """The lines of a text that may have line breaks of its own; words longer than a line stay whole."""
    lines: list[str] = []
    for paragraph in clean(text).split("\n"):
        lines += textwrap.wrap(
            paragraph,
            max(width, NARROWEST // 2),
            initial_indent=then if lines else first,
            subsequent_indent=then,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def _width(env: Mapping[str, str], *, terminal: bool) -> int:
    columns = env.get("COLUMNS", "")
    if terminal:
        with suppress(OSError):
            columns = str(os.get_terminal_size(1).columns or columns)
    wanted = int(columns) if columns.isdecimal() and int(columns) else 80
    return max(wanted, NARROWEST)
