"""What the sub-commands have in common: a flag table of their own, a help screen, arguments by number."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any

import msgspec

from forge.foundation.encode import dumps
from forge.foundation.errors import UsageError
from forge.foundation.suggest import closest
from forge.hosts.cli.flags import SWITCH, Flag
from forge.hosts.cli.parse import CommandLine, Value, parse_with

HELP = Flag("-h --help", SWITCH, "", "print this help")
JSON = Flag("--json", SWITCH, "", "print JSON, for scripts")
NO_COLOR = Flag("--no-color", SWITCH, "", "no colours (the variable NO_COLOR does the same)")

WIDTH = 80
_EXAMPLE_WIDTH = 34


class Command(msgspec.Struct, frozen=True):
    """One sub-command as its help describes it."""

    name: str
    usage: tuple[str, ...]
    about: str
    flags: tuple[Flag, ...]
    examples: tuple[tuple[str, str], ...]


class Arguments(msgspec.Struct, frozen=True):
    """The parsed arguments of a sub-command."""

    words: list[str]
    values: dict[str, Value]

    def on(self, key: str) -> bool:
        return bool(self.values.get(key))

    def text(self, key: str) -> str:
        value = self.values.get(key)
        return value if isinstance(value, str) else ""


def read_arguments(command: Command, line: CommandLine) -> Arguments | None:
    """The arguments after the sub-command's name; None when help was asked for and has been printed."""
    try:
        given = parse_with((*command.flags, HELP), line.rest)
    except UsageError as error:
        raise UsageError(error.message, _see(command)) from None
    if given.values.get("help"):
        sys.stdout.write(help_text(command) + "\n")
        return None
    return Arguments(given.words, given.values)


def take_words(command: Command, given: list[str], names: tuple[str, ...], *, optional: int = 0) -> list[str]:
    """Exactly the words that have a name; the last `optional` ones may be missing and are then empty."""
    if len(given) > len(names):
        raise UsageError(f"Too many arguments: {given[len(names)]!r} is not expected.", _see(command))
    if len(given) < len(names) - optional:
        raise UsageError(f"{names[len(given)]} is missing.", _see(command))
    return given + [""] * (len(names) - len(given))


def named_directory(word: str) -> str:
    """The directory a word names, the current one for an empty word."""
    directory = os.path.abspath(word or os.getcwd())
    if not os.path.isdir(directory):
        raise UsageError(f"{directory} is not a directory.")
    return directory


def print_json(value: Any) -> None:
    """JSON on standard output, readable by people too."""
    sys.stdout.write(msgspec.json.format(dumps(value), indent=2).decode() + "\n")


def unknown_word(command: Command, word: str, known: tuple[str, ...]) -> UsageError:
    """The error for a word that should have been one of a few."""
    near = closest(word, known)
    guess = f" Did you mean {near!r}?" if near else ""
    return UsageError(f"{word!r} is not one of: {', '.join(known)}.{guess}", _see(command))


def help_text(command: Command) -> str:
    """The help screen of a sub-command."""
    first, *others = command.usage
    lines = [f"Usage: forge {first}", *(f"       forge {usage}" for usage in others), ""]
    lines += textwrap.wrap(command.about, WIDTH)
    lines += ["", "Options:"]
    width = max(len(flag.usage) for flag in (*command.flags, HELP)) + 4
    for flag in (*command.flags, HELP):
        lines += textwrap.wrap(
            flag.help,
            WIDTH,
            initial_indent=f"  {flag.usage:<{width - 2}}",
            subsequent_indent=" " * width,
        )
    lines += ["", "Examples:"]
    for example, about in command.examples:
        fits = len(example) < _EXAMPLE_WIDTH
        lines += [f"  {example:<{_EXAMPLE_WIDTH}}{about}"] if fits else [f"  {example}", f"      {about}"]
    return "\n".join(lines)


def _see(command: Command) -> str:
    return f"See: forge {command.name} --help"
