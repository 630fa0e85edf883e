"""Where a command line reaches: the paths its file commands and redirections read and write."""

from __future__ import annotations

import re

from forge.foundation.permissions.disguise import started
from forge.foundation.permissions.filecommands import accesses, operands
from forge.foundation.permissions.places import LONGEST_PATH, resolve
from forge.foundation.permissions.wrappers import unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Redirect, Script, Simple, Word

_TILDE = r"~(?!/|$)"
_ENVIRON = r"/proc/[^/]+/environ"
_GLOB = r"[*?\[]"
_ENV_ASSIGNMENT = r"[A-Za-z_]\w*="
_MOST_CHANGES = 100
_FREE_TARGETS = frozenset({"/dev/null"})
_FREE_SOURCES = frozenset({"/dev/null", "/dev/stdin"})

EXPANSION = "Shell expansion syntax in paths requires manual approval"
TILDE = "Tilde expansion variants (~user, ~+, ~-) in paths require manual approval"
TRAVERSAL = (
    "Path contains '..' traversal after a directory segment,"
    " which may follow a symlink outside the working directory"
)
GLOB_WRITE = "Glob patterns are not allowed in write operations. Please specify an exact file path."
ENVIRON = "Accesses /proc/*/environ which may expose secrets"


class Touch:
    """One path that a command reads (`read`, `input`) or writes (`write`, `copy`, `redirect`)."""

    __slots__ = ("complaint", "kind", "name", "other", "path", "simple", "word")

    def __init__(self, kind: str, name: str, word: Word, path: str) -> None:
        self.kind = kind
        self.name = name
        self.word = word
        self.path = path
        self.other = path
        self.complaint = ""
        self.simple: Simple | None = None

    @property
    def writes(self) -> bool:
        return self.kind not in ("read", "input")

    @property
    def reads(self) -> bool:
        return self.kind in ("read", "input", "copy")


class Walk:
    """The touches of a command line and how it changes directory on the way.

    `lost`: it changes directory too often or too deep to be followed to its end.
    """

    __slots__ = ("changes", "lost", "touches", "unsettled")

    def __init__(self) -> None:
        self.touches: list[Touch] = []
        self.changes: list[str] = []
        self.unsettled = False
        self.lost = False


def walk(script: Script, s: Situation, *, strict: bool = False) -> Walk:
    """Collect the touched paths; `strict` also looks behind sudo and the like, as deny rules want it."""
    found = Walk()
    base, possible = s.cwd, s.cwd
    for simple in script.commands:
        for words in _command_lines(simple, strict=strict):
            name = words[0].value.rsplit("/", 1)[-1] if strict else words[0].value
            for access in accesses(words, name):
                _add(found, simple, _touch(access.kind, name, access.word, s, (base, possible)))
        for redirect in simple.redirects:
            kind = _kind(redirect)
            if kind:
                _add(found, simple, _touch(kind, kind, redirect.target, s, (base, possible)))
        target = _directory(simple)
        if target is not None and (len(found.changes) == _MOST_CHANGES or len(possible) >= LONGEST_PATH):
            found.lost = True
        elif target is not None:
            found.changes.append(resolve(target, s, base))
            possible = resolve(target, s, possible)
            if _settled(target):
                base = resolve(target, s, base)
            else:
                found.unsettled = True
    return found


def plain_words(simple: Simple) -> list[Word]:
    """The words of a command without wrappers such as timeout or env."""
    words = simple.words
    while words:
        rest, problem = unwrapped(words)
        if problem:
            break
        if rest is words:
            rest = _without_env(words)
        if rest is words:
            break
        words = rest
    return words


def has_glob(word: Word) -> bool:
    """Whether a pattern character is in the word, quoted or not."""
    return word.glob or bool(re.search(_GLOB, word.value))


def _without_env(words: list[Word]) -> list[Word]:
    if words[0].value != "env":
        return words
    at = 1
    while at < len(words):
        value = words[at].value
        if value in ("-u", "-C"):
            at += 2
        elif value in ("-i", "-", "--") or re.match(_ENV_ASSIGNMENT, value):
            at += 1
        else:
            break
    return words[at:]


def _command_lines(simple: Simple, *, strict: bool) -> list[list[Word]]:
    if strict:
        return started(simple, strict=True)
    words = plain_words(simple)
    return [words] if words else []


def _add(found: Walk, simple: Simple, touch: Touch) -> None:
    touch.simple = simple
    found.touches.append(touch)


def _touch(kind: str, name: str, word: Word, s: Situation, bases: tuple[str, str]) -> Touch:
    value = _before_glob(word)
    touch = Touch(kind, name, word, resolve(value, s, bases[0]))
    touch.other = resolve(value, s, bases[1])
    touch.complaint = _complaint(touch)
    return touch


def _before_glob(word: Word) -> str:
    if not word.glob:
        return word.value
    found = re.search(_GLOB, word.value)
    head = word.value[: found.start()] if found else word.value
    return head[: head.rfind("/") + 1] or "."


def _complaint(touch: Touch) -> str:
    value = touch.word.value
    if re.match(_ENVIRON, value):
        return ENVIRON
    if touch.kind == "redirect" and (has_glob(touch.word) or value.startswith("~")):
        return EXPANSION
    if touch.writes and has_glob(touch.word):
        return GLOB_WRITE
    if re.match(_TILDE, value):
        return TILDE
    if "$" in value or "`" in value:
        return EXPANSION
    return TRAVERSAL if _goes_back(value) else ""


def _goes_back(value: str) -> bool:
    """Whether `..` follows the name of a directory, which could be a link."""
    parts = value.split("/")
    named = [part not in ("", ".", "..") for part in parts]
    return any(part == ".." for part in parts[named.index(True) :]) if any(named) else False


def _kind(redirect: Redirect) -> str:
    target = redirect.target.value
    if redirect.operator in ("<<", "<<-", "<<<"):
        return ""
    if redirect.operator in ("<&", ">&") and (target.isdigit() or target == "-"):
        return ""
    if redirect.operator in ("<", "<&"):
        return "" if target in _FREE_SOURCES else "input"
    return "" if target in _FREE_TARGETS else "redirect"


def _directory(simple: Simple) -> str | None:
    words = plain_words(simple)
    if not words or words[0].value != "cd":
        return None
    named = operands(words)
    if [word.value for word in words[1:]] == ["-"]:
        return "."
    return named[0].value if named else "~"


def _settled(target: str) -> bool:
    """Whether cd leads to one place only; a plain name could be found through CDPATH."""
    return target.startswith(("/", "~", "./", "../")) or target in (".", "..")
