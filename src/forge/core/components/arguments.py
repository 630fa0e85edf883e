"""Arguments of skills: how the text after a name is split, and the placeholders that stand for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(
    r"""(?P<space>(?:[ \t]|\\\n)+)
    | (?P<command>(?<=[^\s;|&<>])`[^`]*`)
    | (?P<end>[\n;|&<>`]|\$\(|(?<!\S)\#)
    | (?P<variable>\$(?:\w+|\{[^}]*\}|[@*#?$!-])?)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:\\.|[^"\\])*)"
    | (?P<open>['"].*)
    | \\(?P<escaped>.?)
    | (?P<plain>[^\s;|&<>`$'"\\]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_LIVE = ((re.compile("!`"), "! `"), (re.compile("```!"), "``` !"), (re.compile(r"(^|\s)!"), r"\1\\!"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)


def split_arguments(text: str) -> list[str]:
    """The words of a text as a shell would see those of its first command.

    A quote without its other half belongs to the word that ends the text.
    """
    words = _words(text)
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    # What is no command for a shell (`<tag> x`) is split at white space.
    return words or text.split()


def harmless(text: str) -> str:
    """An argument changed so that it cannot start a command in the text it is put into."""
    if "!" in text:
        for live, instead in _LIVE:
            text = live.sub(instead, text)
    return text


def fill_arguments(body: str, text: str, names: Sequence[str]) -> str:
    """The body with placeholders replaced; without any that could be, the text is added at its end."""
    words = [harmless(word) for word in split_arguments(text)]
    text = harmless(text)
    # A number as a name would hide a position.
    named = [name for name in names if not name.isdecimal()]
    choices = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
    expression = re.compile(
        rf"(\\*)\$(?:{_named(choices)}ARGUMENTS\[(\d+)\]|(ARGUMENTS)|(\d+)(?!\w))", re.ASCII
    )
    used = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal used
        slashes = match[1]
        if len(slashes) == 1:
            return match[0][1:]
        value = _value(match, text, words, named)
        if value is None:
            return match[0]
        used = True
        return slashes + value

    filled = expression.sub(replaced, body)
    return filled if used or not text else f"{filled}\n\nARGUMENTS: {text}"


def _words(text: str) -> list[str]:
    words: list[str] = []
    current: str | None = None
    # What only consists of a variable is no word, except at the start.
    only_variables = True
    for match in _WORD.finditer(text):
        kind = match.lastgroup
        if kind == "end":
            break
        if kind == "space":
            words += [] if current is None or (only_variables and words) else [current]
            current, only_variables = None, True
        else:
            only_variables = only_variables and kind == "variable"
            current = (current or "") + (match[kind or 0] or "")
    return words if current is None or (only_variables and words) else [*words, current]


def _named(choices: str) -> str:
    return rf"({choices})(?!\w)|" if choices else "()(?!)|"


def _value(match: re.Match[str], text: str, words: list[str], named: list[str]) -> str | None:
    name, listed, everything, number = match[2], match[3], match[4], match[5]
    if name:
        position = named.index(name)
        return words[position] if position < len(words) else ""
    if everything:
        return text
    position = int(listed or number)
    return words[position] if position < len(words) else None
