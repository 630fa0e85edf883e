"""echo and printf: their output is known if their arguments are."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.expand import ansi
from forge.core.shell.analysis.state import Stream, Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, Word

_MOST_ROUNDS = 100


def _echo(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    newline, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        newline = "" if "n" in words[0].text else newline
        escapes = "e" in words[0].text or escapes
        words = words[1:]
    frame.run.note(frame, "R0", "prints text", "read")
    text = " ".join(w.text for w in words)
    return Stream((ansi(text) if escapes else text) + newline, _tags(words))


def _printf(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    frame.run.note(frame, "R0", "prints text", "read")
    target = ""
    if len(words) > 1 and words[0].text == "-v":
        target, words = words[1].text, words[2:]
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        return Stream("")
    text = _format(words[0].text, [w.text for w in words[1:]])
    if target:
        frame.state.variables[target] = Variable([[text]], _tags(words))
        return Stream("")
    return Stream(text, _tags(words))


def _format(pattern: str, values: list[str]) -> str:
    out: list[str] = []
    rest = list(values)
    for _ in range(_MOST_ROUNDS):
        before = len(rest)
        out.append(_conversion().sub(functools.partial(_convert, rest), pattern))
        if not rest or len(rest) == before:
            break
    return "".join(out)


def _convert(rest: list[str], match: re.Match[str]) -> str:
    text = match[0]
    if text[0] == "\\":
        return ansi(text)
    kind = text[-1]
    if kind == "%":
        return "%"
    value = rest.pop(0) if rest else ""
    if kind == "b":
        return ansi(re.sub(r"\\0([0-7]{1,3})", r"\\\1", value))
    if kind in "xXo" and value.isdigit():
        return format(int(value), kind)
    return value[:1] if kind == "c" else value


def _tags(words: list[Word]) -> frozenset[str]:
    return frozenset().union(*(w.tags for w in words))


@functools.cache
def _conversion() -> re.Pattern[str]:
    return re.compile(
        r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z%]|\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{1,4}|.)"
    )


def _yes(argv: list[Word], frame: Frame) -> Stream:
    frame.run.note(frame, "R0", "prints text without end", "read")
    if not frame.piped:
        frame.run.is_interactive("prints until it is stopped")
    return Stream(" ".join(w.text for w in argv[1:]) + "\n" if argv[1:] else "y\n")


PROGRAMS = {"yes": _yes, "echo": _echo, "printf": _printf}
