"""What a command line starts behind wrappers, quotes and other shells: what deny and ask rules must see.

Rules are first matched as hosts of the reference expect it. Where that would allow a command, a strict look
finds what hides behind unusual wrappers and text that is evaluated.
"""

from __future__ import annotations

import re

from forge.foundation.permissions.wrappers import ASSIGNMENT, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Simple, Word

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash"})
# The letters are options with a value of their own.
_USUAL = {
    "env": "uSC",
    "sudo": "ugpCThDRr",
    "doas": "uC",
    "exec": "a",
    "time": "fo",
    "command": "",
    "builtin": "",
    "noglob": "",
    "nocorrect": "",
    "nohup": "",
    "watch": "n",
    "setsid": "",
    "ionice": "cnp",
    "flock": "wE",
    "strace": "oeps",
    "ltrace": "oeps",
    "unshare": "",
    "taskset": "",
    "chrt": "",
}
_UNUSUAL = {
    "nice": "n",
    "stdbuf": "ioe",
    "timeout": "ks",
    "xargs": "nPILsdEa",
    "eval": "",
    "coproc": "",
    "busybox": "",
}
_OPERANDS = {"timeout": 1, "flock": 1, "taskset": 1, "chrt": 1}
_QUOTED = {"script": "-c", "env": "-S"}
_FIND_STARTS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_MOST_WRAPPERS = 8


def started(simple: Simple, *, strict: bool, piped: bool = True) -> list[list[Word]]:
    """The words of a command and, for each wrapper in front, what it starts; `piped`: a bare xargs too."""
    found: list[list[Word]] = []
    words = simple.words
    while words:
        # Nobody nests wrappers deeply, but the innermost command must be seen even then.
        found[_MOST_WRAPPERS:] = [words]
        words = _inner(words, strict=strict, piped=piped)
        while words and re.match(ASSIGNMENT, words[0].value):
            words = words[1:]
    return found


def quoted_command(words: list[Word], *, strict: bool) -> str:
    """The command line that a wrapper gets as text: script -c, env -S and, strictly seen, eval and su."""
    name = _base(words)
    values = [word.value for word in words[1:]]
    if name == "eval" and strict:
        return " ".join(values)
    for at, value in enumerate(values[:-1]):
        if value == _QUOTED.get(name):
            return values[at + 1]
        if strict and name in ("script", "su") and re.fullmatch(r"-\w*c", value):
            return values[at + 1]
    return ""


def script_of(words: list[Word]) -> str:
    """The script that a shell is given with -c."""
    if _base(words) not in SHELLS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if not word.value.startswith("-"):
            return ""
        if not word.value.startswith("--") and "c" in word.value:
            return words[at + 1].value if at + 1 < len(words) else ""
    return ""


def _base(words: list[Word]) -> str:
    return words[0].value.rsplit("/", 1)[-1] if words else ""


def _inner(words: list[Word], *, strict: bool, piped: bool) -> list[Word]:
    """What a wrapper starts, skipping its options and operands; nothing if there is no wrapper."""
    name = _base(words)
    if name == "command" and len(words) > 1 and words[1].value in ("-v", "-V"):
        return []
    if name in _USUAL or (strict and name in _UNUSUAL):
        return _behind_options(words, name, _USUAL.get(name, _UNUSUAL.get(name, "")))
    if name == "find" and strict:
        return next((words[at + 1 :] for at, word in enumerate(words) if word.value in _FIND_STARTS), [])
    if name == "xargs" and piped and len(words) > 1 and not words[1].value.startswith("-"):
        return words[1:]
    rest, problem = unwrapped(words)
    if rest is words or (problem and rest[0].value != "--"):
        return []
    return rest[1:] if rest and rest[0].value == "--" else rest


def _behind_options(words: list[Word], name: str, valued: str) -> list[Word]:
    at = 1
    while at < len(words):
        value = words[at].value
        if re.match(ASSIGNMENT, value):
            at += 1
        elif value.startswith("-") and len(value) > 1:
            at += 2 if len(value) == 2 and value[1] in valued else 1
        else:
            break
    return words[at + _OPERANDS.get(name, 0) :]
