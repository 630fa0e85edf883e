"""Removals that would take away the system, the home or the work: they ask in every mode."""

from __future__ import annotations

import os.path
import re

from forge.foundation.inside import is_inside
from forge.foundation.permissions.places import forms, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Word

REMOVERS = frozenset({"rm", "rmdir"})
_POSSIBLY_EMPTY = r"\"?\$(?:\{(\w+)\}|(\w+))\"?/+\*?\"?"
_SUBSTITUTION = r"(?s)\"?(?:\$\(.*\)|`.*`)\"?"
_SUBSTITUTED = r"(?s)\$\(.*\)|`.*`"
_RECURSIVE = r"-[a-zA-Z]*[rR]|--recursive"
_EVERYTHING = r"(?:\*+/)*\*+"
_NO_ALLOW_RULE = "This requires explicit approval and cannot be auto-allowed by permission rules."


class Danger:
    """Why a removal must be confirmed: a short reason and a message."""

    __slots__ = ("message", "reason")

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        self.message = message


def unknown_removal(words: list[Word]) -> Danger | None:
    """A recursive removal, behind whatever wrapper, whose target only a nested command knows."""
    name = words[0].value.rsplit("/", 1)[-1]
    if name not in REMOVERS or not any(re.match(_RECURSIVE, word.value) for word in words[1:]):
        return None
    dangers = (
        _unknown(name, word, "", recursive=True) for word in words[1:] if "(" in word.raw or "`" in word.raw
    )
    return next((danger for danger in dangers if danger), None)


def dangerous_removal(words: list[Word], s: Situation, *, moved: bool) -> Danger | None:
    """The first dangerous target of an rm or rmdir command."""
    name = words[0].value.rsplit("/", 1)[-1] if words else ""
    if name not in REMOVERS:
        return None
    line = " ".join(word.raw for word in words)
    flags = [word.value for word in words[1:] if word.value.startswith("-")]
    recursive = any(re.match(_RECURSIVE, flag) for flag in flags)
    for word in words[1:]:
        if word.value.startswith("-"):
            continue
        danger = _unknown(name, word, line, recursive=recursive) or _known(name, word, s, moved=moved)
        if danger:
            return danger
    return None


def _unknown(name: str, word: Word, line: str, *, recursive: bool) -> Danger | None:
    if recursive and re.fullmatch(_SUBSTITUTION, word.raw):
        return Danger(
            f"Dangerous {name} operation on statically-unresolvable target: command substitution output",
            f"Dangerous {name} operation detected: the target is the output of a command substitution"
            f" (`$(...)` or backticks) and cannot be checked before the command runs. {_NO_ALLOW_RULE}",
        )
    empty = re.fullmatch(_POSSIBLY_EMPTY, word.raw)
    if not empty or (empty.group(1) or empty.group(2)) == "HOME":
        return None
    variable = empty.group(1) or empty.group(2)
    tail = "/*" if word.raw.rstrip('"').endswith("*") else "/"
    return Danger(
        f"Dangerous {name} operation on possibly-empty variable path: {word.raw} in `{line}`"
        f' (rewrite it as "${{{variable}:?}}"{tail} or use a literal path)',
        f"Dangerous {name} operation detected in `{line}`. The target '{word.raw}' is a shell variable"
        f" expansion: when ${variable} is unset or empty it becomes `/`, `/*` or a top-level path."
        f" {_NO_ALLOW_RULE}",
    )


def _known(name: str, word: Word, s: Situation, *, moved: bool) -> Danger | None:
    given = word.value.replace("${HOME}", s.home)
    value = re.sub(_SUBSTITUTED, "", given)
    if value != given and not given.startswith("/"):
        return None
    shown = _shown(value, s)
    below_all = _above_everything(value)
    path = resolve(value if below_all is None else below_all or ".", s)
    if _critical(path, s):
        return Danger(
            f"Dangerous {name} operation on critical path: {shown}",
            f"Dangerous {name} operation detected: '{shown}'\n\nThis command would remove a critical system"
            f" directory. {_NO_ALLOW_RULE}",
        )
    if (moved and below_all in ("", "./")) or value == "*/":
        return Danger(
            f"Dangerous {name} operation on statically-unresolvable target: {shown}",
            f"Dangerous {name} operation detected: the target '{shown}' depends on where the command runs."
            f" {_NO_ALLOW_RULE}",
        )
    if any(is_inside(directory, form) for form in forms(path) for directory in {s.cwd, *s.directories}):
        return Danger(
            f"Dangerous {name} operation on working directory or its ancestor: {shown}",
            f"Dangerous {name} operation detected: '{shown}'\n\nThis command would remove a workspace"
            " directory (the working directory, an additional working directory, or one of their parent"
            f" directories). {_NO_ALLOW_RULE}",
        )
    return None


def _above_everything(value: str) -> str | None:
    """The directory whose whole content a pattern such as `x/*` or `**/*` names."""
    head, slash, tail = value.rpartition("/")
    while tail and re.fullmatch(_EVERYTHING, tail) and re.fullmatch(_EVERYTHING, head or "x"):
        head, slash, tail = "", "", "*"
    if not re.fullmatch(_EVERYTHING, tail):
        return None
    return head + slash


def _critical(path: str, s: Situation) -> bool:
    return path == "/" or os.path.dirname(path) == "/" or path in forms(s.home)


def _shown(value: str, s: Situation) -> str:
    if value.startswith("/"):
        return value
    if value == "~" or value.startswith("~/"):
        return s.home + value[1:]
    return resolve(value, s)
