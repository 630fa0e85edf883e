"""Which paths a recognised file command reads or writes, so that path rules reach into the shell."""

from __future__ import annotations

import re

from forge.foundation.permissions.sed import prints_lines
from forge.foundation.permissions.syntax import Word, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

READERS = word_set(
    """cat head tail wc sort uniq cut nl column od hexdump strings base64 md5sum sha1sum sha256sum ls
    diff cmp comm paste stat file tac rev fold fmt pr expand unexpand tsort numfmt"""
)
SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "awk", "gawk", "jq"})
CREATORS = frozenset({"touch", "mkdir", "rm", "rmdir", "mv", "cp", "tee"})
_FILE_OPTIONS = frozenset({"-f", "--file", "--rawfile", "--slurpfile"})
_STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0"})
_FIND_LEADING = r"-[HLP]|-O\d|-D\w*"
_FIND_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile", "-path", "-wholename"})
_PATTERN_OPTIONS = frozenset({"-e", "--regexp", "--expression", "-f", "--file", "--from-file"})


class Access:
    """One path that a command touches: `kind` is read, write, or copy for sources that count as both."""

    __slots__ = ("kind", "word")

    def __init__(self, kind: str, word: Word) -> None:
        self.kind = kind
        self.word = word


def accesses(words: list[Word], name: str) -> list[Access]:
    """The paths among the arguments of a file command; nothing for any other program."""
    if name in READERS:
        return [Access("read", word) for word in operands(words) if word.value not in _STANDARD_INPUT]
    if name in CREATORS:
        return _created(name, operands(words))
    special = _SPECIAL.get(name)
    return special(words) if special else []


def operands(words: list[Word]) -> list[Word]:
    """The arguments that are not options."""
    found = []
    ended = False
    for word in words[1:]:
        if ended or not word.value.startswith("-"):
            found.append(word)
        elif word.value == "--":
            ended = True
    return found


def _created(name: str, paths: list[Word]) -> list[Access]:
    if name in ("cp", "mv") and len(paths) > 1:
        return [*(Access("copy", word) for word in paths[:-1]), Access("write", paths[-1])]
    return [Access("write", word) for word in paths]


def _searched(words: list[Word]) -> list[Access]:
    found, paths = [], []
    pattern_given = False
    ended = False
    arguments = iter(words[1:])
    for word in arguments:
        value = word.value
        if ended or not value.startswith("-") or value == "-":
            paths.append(word)
        elif value == "--":
            ended = True
        elif value in _PATTERN_OPTIONS:
            pattern_given = True
            operand = next(arguments, None)
            if operand is not None and value in _FILE_OPTIONS:
                found.append(Access("read", operand))
        elif value.startswith(("--regexp=", "--file=", "--expression=")):
            pattern_given = True
            if value.startswith("--file="):
                found.append(Access("read", Word(value[7:], value[7:])))
    found.extend(Access("read", word) for word in (paths if pattern_given else paths[1:]))
    return found


def _edited(words: list[Word]) -> list[Access]:
    kind = "read" if prints_lines(words) else "copy"
    return [Access(kind, access.word) for access in _searched(words)]


def _compared(words: list[Word]) -> list[Access]:
    subcommand = words[1].value if len(words) > 1 else ""
    if subcommand == "diff":
        return [Access("read", word) for word in operands(words[1:])]
    return _searched(words[1:]) if subcommand == "grep" else []


def _found(words: list[Word]) -> list[Access]:
    at = 1
    while at < len(words) and re.fullmatch(_FIND_LEADING, words[at].value):
        at += 1
    paths = []
    while at < len(words) and not words[at].value.startswith("-") and words[at].value not in ("(", "!"):
        paths.append(words[at])
        at += 1
    compared = [words[i + 1] for i in range(at, len(words) - 1) if words[i].value in _FIND_FILES]
    return [Access("read", word) for word in [*paths, *compared]]


def _manual(words: list[Word]) -> list[Access]:
    return [Access("read", word) for word in operands(words) if "/" in word.value]


def _entered(words: list[Word]) -> list[Access]:
    named = operands(words)
    if named:
        return [Access("read", named[0])]
    if [word.value for word in words[1:]] == ["-"]:
        return []
    return [Access("read", Word("~", "~"))]


_SPECIAL: dict[str, Callable[[list[Word]], list[Access]]] = {
    **dict.fromkeys(SEARCHERS, _searched),
    "sed": _edited,
    "git": _compared,
    "find": _found,
    "cd": _entered,
    "man": _manual,
}
