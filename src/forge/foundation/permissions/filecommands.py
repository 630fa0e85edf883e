"""Which paths a recognised file command reads or writes, so that path rules reach into the shell."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.foundation.permissions.syntax import Word

READERS = frozenset(
    [
        "cat",
        "head",
        "tail",
        "wc",
        "sort",
        "uniq",
        "cut",
        "nl",
        "column",
        "od",
        "hexdump",
        "strings",
        "base64",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "ls",
        "diff",
        "cmp",
        "comm",
        "paste",
        "stat",
        "file",
        "tac",
        "rev",
        "fold",
        "fmt",
        "pr",
        "expand",
        "unexpand",
        "tsort",
        "numfmt",
    ]
)
SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "awk", "gawk", "jq"})
CREATORS = frozenset({"touch", "mkdir", "rm", "rmdir", "mv", "cp", "tee"})
FILE_COMMANDS = READERS | SEARCHERS | CREATORS | {"sed", "find", "cd"}
_FILE_OPTIONS = frozenset({"-f", "--file", "--rawfile", "--slurpfile"})
_PATTERN_OPTIONS = frozenset({"-e", "--regexp", "--expression", "-f", "--file", "--from-file"})


class Access:
    """One path that a command touches: `kind` is read, write or copy (a source that is read and counts as written)."""

    __slots__ = ("kind", "word")

    def __init__(self, kind: str, word: Word) -> None:
        self.kind = kind
        self.word = word


def accesses(words: list[Word]) -> list[Access]:
    """The paths among the arguments of a file command; nothing for any other program."""
    name = words[0].value if words else ""
    if name in READERS:
        return [Access("read", word) for word in operands(words)]
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
    found.extend(Access("read", word) for word in (paths if pattern_given else paths[1:]))
    return found


def _edited(words: list[Word]) -> list[Access]:
    quiet = any(word.value in ("-n", "--quiet", "--silent") for word in words[1:])
    kind = "read" if quiet else "write"
    return [Access(kind, access.word) for access in _searched(words)]


def _found(words: list[Word]) -> list[Access]:
    paths = []
    for word in words[1:]:
        if word.value.startswith("-") and paths:
            break
        if word.value in ("(", "!", "\\("):
            break
        if not word.value.startswith("-"):
            paths.append(word)
    return [Access("read", word) for word in paths]


def _entered(words: list[Word]) -> list[Access]:
    return [Access("read", word) for word in operands(words)[:1]]


_SPECIAL: dict[str, Callable[[list[Word]], list[Access]]] = {
    **dict.fromkeys(SEARCHERS, _searched),
    "sed": _edited,
    "find": _found,
    "cd": _entered,
}
