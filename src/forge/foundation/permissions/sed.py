"""Which sed commands only print, or only substitute."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Word

_PRINT = r"\s*(?:\d+(?:,\d+)?)?p\s*"
_SUBSTITUTE = r"\s*s/[^/\n{}#;]*/[^/\n{}#;]*/[gpimIM0-9]*\s*"
_PRINT_FLAG = r"-[nErz]+|--quiet|--silent|--posix|--regexp-extended|--zero-terminated"
_QUIET = r"-[Erz]*n[nErz]*|--quiet|--silent"
_SUBSTITUTE_FLAG = r"-[Er]+|--posix|--regexp-extended|--"
_IN_PLACE = frozenset({"-i", "--in-place"})
_LIKE_A_SCRIPT = r"(?s)[we/].*|-.*|\d*[acdgGhHilnNpPqQrRtbxzDF=]|s/.*/.*/.*"

DANGEROUS = (
    "sed command contains operations that require explicit approval (e.g., write commands, execute commands)"
)


def prints_lines(words: list[Word]) -> bool:
    """Whether the command is `sed -n` with line numbers to print."""
    flags, rest = _split(words)
    if not rest or not all(re.fullmatch(_PRINT_FLAG, flag) for flag in flags):
        return False
    if not any(re.fullmatch(_QUIET, flag) for flag in flags):
        return False
    return all(re.fullmatch(_PRINT, part) for part in rest[0].value.split(";"))


def substitutes(words: list[Word], *, in_place: bool) -> bool:
    """Whether the command is one plain substitution, and edits files only if that is accepted."""
    flags, rest = _split(words)
    edits = [flag for flag in flags if flag in _IN_PLACE]
    others = [flag for flag in flags if flag not in _IN_PLACE]
    if (
        not rest
        or (edits and not in_place)
        or not all(re.fullmatch(_SUBSTITUTE_FLAG, flag) for flag in others)
    ):
        return False
    if any(word.value == "-" for word in rest):
        return False
    if not re.fullmatch(_SUBSTITUTE, rest[0].value) or not rest[0].value.isascii():
        return False
    return not (_ambiguous(words) and any(re.fullmatch(_LIKE_A_SCRIPT, word.value) for word in rest[1:]))


def files_of(words: list[Word]) -> list[Word]:
    """The files a recognised sed command names."""
    return _split(words)[1][1:]


def _split(words: list[Word]) -> tuple[list[str], list[Word]]:
    flags = [word.value for word in words[1:] if word.value.startswith("-") and word.value != "-"]
    rest = [word for word in words[1:] if not word.value.startswith("-") or word.value == "-"]
    return flags, rest


def _ambiguous(words: list[Word]) -> bool:
    """Whether `-i` is followed by the script, which other versions of sed take as its suffix."""
    values = [word.value for word in words]
    if "-i" not in values:
        return False
    following = values[values.index("-i") + 1 :]
    return bool(following) and not following[0].startswith("-")
