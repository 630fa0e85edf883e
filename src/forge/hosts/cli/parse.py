"""Reads a command line by the flag table, with the error texts scripts know from the reference."""

from __future__ import annotations

from forge.foundation.errors import UsageError
from forge.foundation.suggest import closest
from forge.hosts.cli.flags import COMMANDS, FLAGS, IGNORED, LIST, OPTIONAL, REPEAT, SWITCH, Flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

Value = str | bool | list[str]


class CommandLine:
    """A parsed command line: flag values by key, the prompt words, the sub-command with its own arguments."""

    __slots__ = ("command", "rest", "values", "words")

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.words: list[str] = []
        self.command = ""
        self.rest: list[str] = []


def parse(argv: list[str]) -> CommandLine:
    """Reads the arguments; raises UsageError with the reference's wording."""
    return parse_with((*FLAGS, *IGNORED), argv, commands=COMMANDS)


def parse_with(flags: Iterable[Flag], argv: list[str], *, commands: Container[str] = ()) -> CommandLine:
    """Reads arguments by another table; the first word may be one of `commands`, which gets the rest."""
    table = {name: flag for flag in flags for name in flag.names}
    line = CommandLine()
    at = 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "--":
            line.words += argv[at:]
            break
        if not word.startswith("-") or word == "-":
            if not line.words and word in commands:
                line.command, line.rest = word, argv[at:]
                break
            line.words.append(word)
            continue
        name, has_value, attached = word.partition("=")
        flag = table.get(name)
        if flag is None:
            _cluster(table, word, line)
            continue
        at = _take(flag, line, argv, at, attached if has_value else None)
    return line


def _cluster(table: dict[str, Flag], word: str, line: CommandLine) -> None:
    """`-pc` is `-p -c`; anything else is unknown."""
    letters = [table.get(f"-{c}") for c in word[1:]] if not word.startswith("--") else []
    if len(letters) < 2 or any(f is None or f.kind not in (SWITCH, OPTIONAL) for f in letters):
        raise UsageError(f"error: unknown option '{word.partition('=')[0]}'{_suggestion(table, word)}")
    for flag in letters:
        if flag is not None:
            line.values[flag.key] = True


def _take(flag: Flag, line: CommandLine, argv: list[str], at: int, attached: str | None) -> int:
    if flag.kind == SWITCH:
        line.values[flag.key] = True
        return at
    if flag.kind == LIST:
        given = line.values.setdefault(flag.key, [])
        values = [attached] if attached is not None else []
        while attached is None and at < len(argv) and (not argv[at].startswith("-") or argv[at] == "-"):
            values.append(argv[at])
            at += 1
        if not values:
            raise UsageError(f"error: option '{flag.usage}' argument missing")
        if isinstance(given, list):
            given += values
        return at
    if attached is None and at < len(argv) and not (flag.kind == OPTIONAL and argv[at].startswith("-")):
        attached = argv[at]
        at += 1
    if attached is None:
        if flag.kind != OPTIONAL:
            raise UsageError(f"error: option '{flag.usage}' argument missing")
        line.values[flag.key] = True
        return at
    _check(flag, attached)
    if flag.kind == REPEAT:
        before = line.values.get(flag.key)
        line.values[flag.key] = [*(before if isinstance(before, list) else []), attached]
    else:
        line.values[flag.key] = attached
    return at


def _check(flag: Flag, value: str) -> None:
    wrong = f"error: option '{flag.usage}' argument '{value}' is invalid."
    if (
        flag.choices
        and value not in flag.choices
        and not (flag.key == "permission_mode" and value == "default")
    ):
        raise UsageError(f"{wrong} Allowed choices are {', '.join(flag.choices)}.")
    if not flag.check:
        return
    if flag.check == "window" and window(value) is None:
        sizes = "(e.g. 500k, 200000, or 200 as shorthand)"
        raise UsageError(f"{wrong} It must be 'auto', or between 100k and 1M {sizes}")
    number = _number(value)
    if flag.check == "number" and number is None:
        raise UsageError(f"{wrong} must be a number")
    if flag.check == "positive" and not (number is not None and number > 0):
        raise UsageError(f"{wrong} {flag.names[-1]} must be a positive number greater than 0")


def window(value: str) -> int | None:
    """A size of context windows such as 500k, 1M, 200000 or 200, 0 for `auto`; None if it is none."""
    if value == "auto":
        return 0
    unit = {"k": 1_000, "m": 1_000_000}.get(value[-1:].lower(), 1)
    number = _number(value if unit == 1 else value[:-1])
    if number is None:
        return None
    tokens = round(number * (1_000 if unit == 1 and number <= 1_000 else unit))
    return tokens if 100_000 <= tokens <= 1_000_000 else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _suggestion(table: dict[str, Flag], word: str) -> str:
    near = closest(word.partition("=")[0], table)
    return f"\n(Did you mean {near}?)" if near else ""
