"""A terminal screen: takes what a program prints and knows what a person would see.

Text is handled in runs. The result does not depend on how the output was divided into pieces.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache

import msgspec

from forge.core.shell.session.grid import Grid
from forge.core.shell.session.width import FILLER, Clusters, is_plain

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_STRING = r"\x1b[\]PX^_][^\x07\x1b\x18\x1a]*"
_TOKEN = (
    # Colours change nothing here: text with colours in it is one run.
    r"(?P<text>(?:[ -~\r\n\xa0-\U0010ffff]+|\x1b\[[0-9;:]*m)+)"
    r"|\x1b\[(?P<parameters>[0-?]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?P<command>[^\x07\x1b\x18\x1a]*)(?:\x07|\x1b\\)"
    rf"|{_STRING}(?:\x07|\x1b\\|[\x18\x1a]|(?=\x1b[^\\]))"
    r"|\x1b(?P<between>[ -/]+)(?P<escaped>[0-~])"
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<malformed>\x1b\[[0-?]*[ -/]*(?=[^ -~]))"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    rf"|(?P<open>\x1b(?:\[[0-?]*[ -/]*|[ -/]*)\Z|{_STRING}\x1b?\Z)"
    r"|(?P<lost>\x1b)"
)
# A sequence that never ends must not be kept for ever.
_MOST_PENDING = 1 << 16
_LINE_DRAWING = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_ALTERNATE = ("47", "1047", "1049")
_TAB = 8


class View(msgspec.Struct, frozen=True):
    """What is on the screen: lines without blanks at their ends, cursor (row, column from 0), title."""

    lines: tuple[str, ...]
    cursor: tuple[int, int]
    title: str
    alternate: bool
    cursor_visible: bool

    def text(self) -> str:
        """The lines without blank ones at the end."""
        return "\n".join(self.lines).rstrip("\n")

    def cursor_line(self) -> str:
        """The line with the cursor, with the blanks before it: prompts often end in one."""
        row, column = self.cursor
        return self.lines[row].ljust(column)


class Screen:
    """`newline`: a line feed also returns to the first column, as for output without a terminal driver."""

    def __init__(self, rows: int, columns: int, *, keep: int = 2000, newline: bool = False) -> None:
        self.kept: deque[str] = deque(maxlen=keep)
        self.replies: list[bytes] = []
        self._newline = newline
        self._clusters = Clusters()
        self._reset(rows, columns)

    def _reset(self, rows: int, columns: int) -> None:
        self._main = Grid(rows, columns, self.kept)
        self._grid = self._main
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._last = ""
        self._saved = (0, 0)
        self._modes = {"?7", "?25"}
        self._charsets = ["B", "B"]
        self._shifted = 0
        self.title = ""

    @property
    def application_keys(self) -> bool:
        """Whether the program wants arrow keys in their other form."""
        return "?1" in self._modes

    def view(self) -> View:
        """What can be seen now."""
        grid = self._grid
        lines = tuple(self._clusters.plain(row).rstrip(" ") for row in grid.rows)
        cursor = (grid.row, min(grid.column, grid.width - 1))
        return View(lines, cursor, self.title, grid is not self._main, "?25" in self._modes)

    def kept_lines(self) -> list[str]:
        """The lines that have left the screen at its top, oldest first, as many as are kept."""
        return [self._clusters.plain(row).rstrip(" ") for row in self.kept]

    def take_replies(self) -> bytes:
        """The answers to what the program has asked the terminal since the last call."""
        answer, self.replies = b"".join(self.replies), []
        return answer

    def resize(self, rows: int, columns: int) -> None:
        """Another size."""
        self._main.resize(rows, columns)
        if self._grid is not self._main:
            self._grid.resize(rows, columns)

    def feed(self, data: bytes) -> None:
        """Takes a piece of output, which may end anywhere."""
        text = self._pending + self._decoder.decode(data)
        self._pending = ""
        for token in _tokens().finditer(text):
            kind = token.lastgroup
            if kind == "text":
                self._text(token[kind])
            elif kind == "final":
                self._sequence(token["parameters"], token["middle"], token["final"])
            elif kind == "control":
                self._control(token[kind])
            elif kind == "escape":
                self._escape(token[kind])
            elif kind == "escaped":
                self._designate(token["between"], token["escaped"])
            elif kind == "command":
                self._command(token[kind])
            elif kind == "open":
                self._pending = token[kind]
        if len(self._pending) > _MOST_PENDING:
            self._pending = self._pending[:2] + self._pending[-1:]

    def _text(self, text: str) -> None:
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        if "\n" not in text and "\r" not in text:
            self._run(text)
            return
        breaks = text.count("\n")
        returns = text.count("\r\n")
        if breaks == returns == text.count("\r") or (self._newline and returns == text.count("\r")):
            lines = text.replace("\r\n", "\n").split("\n") if returns else text.split("\n")
            if is_plain(text) and self._is_simple():
                self._grid.write_lines(lines)
                self._last = lines[-1][-1:] or self._last
                return
        for part in re.findall(r"[\r\n]|[^\r\n]+", text):
            if part in "\r\n":
                self._control(part)
            else:
                self._run(part)

    def _is_simple(self) -> bool:
        return "?7" in self._modes and "4" not in self._modes and self._charsets[self._shifted] == "B"

    def _run(self, text: str) -> None:
        if self._charsets[self._shifted] == "0":
            text = text.translate(_LINE_DRAWING)
        if not is_plain(text):
            column, before = self._grid.before_cursor()
            last, text = self._clusters.cells(text, before)
            if last != before:
                self._grid.set_cell(column, last)
            if not text:
                return
        self._last = text.rstrip(FILLER)[-1:]
        self._grid.write(text, wrap="?7" in self._modes, insert="4" in self._modes)

    def _control(self, char: str) -> None:
        grid = self._grid
        if char == "\r":
            grid.column = 0
        elif char in "\n\v\f\x84":
            if self._newline:
                grid.column = 0
            grid.line_feed()
        elif char == "\b":
            grid.column = max(0, min(grid.column, grid.width - 1) - 1)
        elif char == "\t":
            grid.column = min((grid.column // _TAB + 1) * _TAB, grid.width - 1)
        elif char in "\x0e\x0f":
            self._shifted = int(char == "\x0e")
        elif char == "\x85":
            self._escape("E")
        elif char == "\x8d":
            self._escape("M")

    def _escape(self, char: str) -> None:
        grid = self._grid
        if char == "7":
            self._saved = (grid.row, grid.column)
        elif char == "8":
            grid.move(*self._saved)
        elif char in "DE":
            grid.column = 0 if char == "E" else grid.column
            grid.line_feed()
        elif char == "M":
            grid.reverse_feed()
        elif char == "c":
            self._reset(grid.height, grid.width)

    def _designate(self, between: str, final: str) -> None:
        if between in "()":
            self._charsets["()".index(between)] = final if final == "0" else "B"

    def _command(self, text: str) -> None:
        kind, _, rest = text.partition(";")
        if kind in ("0", "2"):
            self.title = rest[:256]

    def _sequence(self, parameters: str, middle: str, final: str) -> None:
        if middle:
            if middle == "!" and final == "p":
                self._modes = {"?7", "?25"}
                self._grid.top, self._grid.bottom = 0, self._grid.height - 1
            return
        if final in "hl":
            self._set_modes(parameters, on=final == "h")
        elif final in "cn":
            self._answer(parameters, final)
        elif parameters[:1] not in ("?", ">", "<", "="):
            numbers = [min(int(n), 9999) if n.isascii() and n.isdigit() else 0 for n in parameters.split(";")]
            if final in _MOVES:
                _MOVES[final](self._grid, *_two(numbers))
            elif final in _EDITS:
                _EDITS[final](self._grid, numbers[0])
            else:
                self._other(final, numbers)

    def _other(self, final: str, numbers: list[int]) -> None:
        grid = self._grid
        if final == "r":
            self._region(numbers)
        elif final in "Hf":
            row, column = _two(numbers)
            above = grid.top if "?6" in self._modes else 0
            grid.move(above + row - 1, column - 1)
        elif final == "b":
            self._run(self._last * min(max(numbers[0], 1), grid.width * grid.height))
        elif final == "s":
            self._saved = (grid.row, grid.column)
        elif final == "u":
            grid.move(*self._saved)

    def _region(self, numbers: list[int]) -> None:
        grid = self._grid
        top = max(numbers[0], 1) - 1
        bottom = min((numbers[1] if len(numbers) > 1 else 0) or grid.height, grid.height) - 1
        if top < bottom:
            grid.top, grid.bottom = top, bottom
            grid.move(top if "?6" in self._modes else 0, 0)

    def _set_modes(self, parameters: str, *, on: bool) -> None:
        mark = "?" if parameters.startswith("?") else ""
        for mode in parameters.removeprefix("?").split(";"):
            if mark and mode in _ALTERNATE:
                self._switch(mode, on=on)
            elif mark + mode == "20":
                self._newline = on
            elif on:
                self._modes.add(mark + mode) if len(self._modes) < 64 else None
            else:
                self._modes.discard(mark + mode)

    def _switch(self, mode: str, *, on: bool) -> None:
        main = self._main
        if on and self._grid is main:
            if mode == "1049":
                self._saved = (main.row, main.column)
            self._grid = Grid(main.height, main.width, None)
            self._grid.move(main.row, main.column)
        elif not on and self._grid is not main:
            if mode != "1049":
                main.move(self._grid.row, self._grid.column)
            else:
                main.move(*self._saved)
            self._grid = main

    def _answer(self, parameters: str, final: str) -> None:
        grid = self._grid
        where = f"\x1b[{grid.row + 1};{min(grid.column, grid.width - 1) + 1}R"
        answers = {"c": "\x1b[?6c", "0c": "\x1b[?6c", ">c": "\x1b[>0;10;0c", "5n": "\x1b[0n", "6n": where}
        answers[">0c"] = answers[">c"]
        if parameters + final in answers and len(self.replies) < 256:
            self.replies.append(answers[parameters + final].encode())


@lru_cache(maxsize=1)
def _tokens() -> re.Pattern[str]:
    """Compiled on use: it takes milliseconds."""
    return re.compile(_TOKEN)


def _two(numbers: list[int]) -> tuple[int, int]:
    return max(numbers[0], 1), max(numbers[1] if len(numbers) > 1 else 1, 1)


def _up(grid: Grid, count: int, _: int) -> None:
    limit = grid.top if grid.row >= grid.top else 0
    grid.move(max(grid.row - count, limit), grid.column)


def _down(grid: Grid, count: int, _: int) -> None:
    limit = grid.bottom if grid.row <= grid.bottom else grid.height - 1
    grid.move(min(grid.row + count, limit), grid.column)


def _line_down(grid: Grid, count: int, _: int) -> None:
    _down(grid, count, 1)
    grid.column = 0


def _line_up(grid: Grid, count: int, _: int) -> None:
    _up(grid, count, 1)
    grid.column = 0


def _left(grid: Grid, count: int, _: int) -> None:
    grid.move(grid.row, min(grid.column, grid.width - 1) - count)


def _tab_back(grid: Grid, count: int, _: int) -> None:
    grid.column = max(0, (grid.column + _TAB - 1) // _TAB - count) * _TAB


def _tab_on(grid: Grid, count: int, _: int) -> None:
    grid.column = min((grid.column // _TAB + count) * _TAB, grid.width - 1)


_MOVES: dict[str, Callable[[Grid, int, int], None]] = {
    "A": _up,
    "B": _down,
    "e": _down,
    "C": lambda grid, n, _: grid.move(grid.row, grid.column + n),
    "a": lambda grid, n, _: grid.move(grid.row, grid.column + n),
    "D": _left,
    "E": _line_down,
    "F": _line_up,
    "G": lambda grid, n, _: grid.move(grid.row, n - 1),
    "`": lambda grid, n, _: grid.move(grid.row, n - 1),
    "d": lambda grid, n, _: grid.move(n - 1, grid.column),
    "I": _tab_on,
    "Z": _tab_back,
    "L": lambda grid, n, _: grid.shift_lines(-n),
    "M": lambda grid, n, _: grid.shift_lines(n),
    "@": lambda grid, n, _: grid.insert_chars(n),
    "P": lambda grid, n, _: grid.delete_chars(n),
    "X": lambda grid, n, _: grid.erase_chars(n),
    "S": lambda grid, n, _: grid.scroll(n),
    "T": lambda grid, n, _: grid.scroll(-n),
}
_EDITS: dict[str, Callable[[Grid, int], None]] = {
    "J": lambda grid, how: grid.erase_display(how),
    "K": lambda grid, how: grid.erase_line(how),
}
