"""What stands in front of the cursor when a program asks for input, and which lines would be run."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from forge.core.shell.session.keys import SUBMITTING, Key

_REPL = re.compile(
    r"^(?:>>> |\.\.\. |In \[\d+\]: |\s*\.\.\.: |irb\(.*\)[:\d]*[>*] ?|\[\d+\] pry\(.*\)> "
    r"|(?:julia|ghci|scala)> |iex\(\d+\)> "
    r"|(?:mysql|MariaDB.*|sqlite|duckdb|redis|cqlsh\S*|jshell|php|lua|> ?|node)> ?|\S+:\d+> |\w+[=-][#>] )"
)
_SHELL = re.compile(r"^(?P<prompt>(?:\([^)]*\) ?)?[^$#%❯➜]{0,120}[$#%❯➜] |PS [^>]*> )")
_QUESTION = re.compile(
    r"(?:\[[YyNn]/[YyNn]\]|\([Yy](?:es)?/[Nn]o?\)|[?:]|(?:password|passphrase|passcode)[^:]*:|>>>|[>$#%])\s*$",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"(?:pass(?:word|phrase|code)|\bPIN\b|verification code|one-time)[^:\n]*:\s*$", re.IGNORECASE
)


class Prompt(StrEnum):
    """What reads the line under the cursor."""

    SHELL = "shell"
    REPL = "repl"
    OTHER = ""


class Line(msgspec.Struct, frozen=True):
    """A line that would be run by a shell or an interpreter."""

    kind: Prompt
    text: str


class UnclearLine(Exception):
    """It cannot be told which line would be run; the text says what to do instead."""


def prompt_of(line: str) -> tuple[Prompt, str]:
    """What a line of the screen is the prompt of, and what stands behind it."""
    if match := _REPL.match(line):
        return Prompt.REPL, line[match.end() :]
    if match := _SHELL.match(line):
        return Prompt.SHELL, line[match.end() :]
    return Prompt.OTHER, line


def looks_like_question(line: str) -> bool:
    """Whether a line ends like one that waits for an answer."""
    return _QUESTION.search(line) is not None


def asks_for_secret(line: str) -> bool:
    """Whether a line asks for something that must not be seen."""
    return _SECRET.search(line) is not None


def submitted_lines(keys: list[Key], under_cursor: str) -> list[Line]:
    """The lines that these keys would have a shell or interpreter run.

    `under_cursor` is the line of the screen up to its end. UnclearLine if keys that edit come before the end.
    """
    kind, typed = prompt_of(under_cursor)
    if kind is Prompt.OTHER:
        return []
    lines: list[Line] = []
    edited = False
    for key in keys:
        if key.text:
            typed += key.text
        elif key.sent in SUBMITTING:
            if edited:
                raise UnclearLine(
                    "Send the keys that edit the line first, look at the screen, then send <Enter>."
                )
            lines.append(Line(kind, typed))
            typed = ""
        elif key.sent == "\x03":
            typed, edited = "", False
        else:
            edited = True
    return lines
