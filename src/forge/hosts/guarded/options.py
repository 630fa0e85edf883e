"""The options of forgecmd's commands, read from tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from forge.foundation.errors import UsageError

FLAG, VALUE, NUMBER, SECONDS = "flag", "value", "number", "seconds"


class Given:
    """The words and options of a command line."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.options: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether a flag was given."""
        return name in self.options

    def text(self, name: str, default: str = "") -> str:
        """The value of an option."""
        return self.options.get(name, default)

    def seconds(self, name: str, default: float) -> float:
        """The time of an option."""
        return float(self.options.get(name, default))

    def number(self, name: str, default: int) -> int:
        """The number of an option."""
        return int(self.options.get(name, default))


def read_options(argv: Sequence[str], kinds: Mapping[str, str], *, rest: bool = False) -> Given:
    """Options before, between and behind words; with `rest` the first word begins the rest."""
    given = Given()
    at = 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "--":
            given.words += argv[at:]
            break
        if not word.startswith("--") or word == "-":
            given.words.append(word)
            if rest:
                given.words += argv[at:]
                break
            continue
        name, equals, value = word[2:].partition("=")
        kind = kinds.get(name)
        if kind is None:
            known = ", ".join(f"--{key}" for key in kinds)
            raise UsageError(f"unknown option --{name}; there are {known}")
        if kind != FLAG and not equals:
            if at == len(argv):
                raise UsageError(f"--{name} needs a value")
            value = argv[at]
            at += 1
        digits = value.replace(".", "", 1) if kind == SECONDS else value
        if kind in (NUMBER, SECONDS) and not digits.isdigit():
            raise UsageError(f"--{name} needs a number, not {value!r}")
        given.options[name] = value
    return given


def directory(given: Given) -> str:
    """The directory of --cwd, or the current one."""
    path = os.path.abspath(given.text("cwd") or os.getcwd())
    if not os.path.isdir(path):
        raise UsageError(f"{path} is no directory")
    return path
