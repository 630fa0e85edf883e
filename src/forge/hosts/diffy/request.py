"""diffy's command line as a record."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from forge.core.review.feedback import LIMIT
from forge.foundation.errors import UsageError

_FLAGS = {
    "--staged": "staged",
    "--apply": "apply",
    "--hook-mode": "hook_mode",
    "--json": "json",
    "--list": "list",
    "--force": "force",
    "--help": "help",
    "-h": "help",
    "--version": "version",
}
_VALUES = {
    "--base": "base",
    "--ref": "base",
    "--surface": "surface",
    "--decisions": "decisions",
    "--hook-output": "hook_output",
    "--export": "export",
    "--session": "session",
    "--auto-accept": "auto_accept",
}
_CHOICES = {"hook_output": ("exit2", "json"), "export": ("md", "json")}


class Request(msgspec.Struct, frozen=True):
    """What was asked for. `base` is empty for the usual baseline; `paths` are relative to `cwd`.

    `restore` is None, "" for the last backup, or the name of one.
    """

    cwd: str
    base: str = ""
    staged: bool = False
    apply: bool = False
    hook_mode: bool = False
    hook_output: str = "exit2"
    surface: str = ""
    json: bool = False
    decisions: str = ""
    restore: str | None = None
    list: bool = False
    force: bool = False
    export: str = ""
    auto_accept: str = ""
    session: str = ""
    limit: int = LIMIT
    paths: tuple[str, ...] = ()
    help: bool = False
    version: bool = False


def parse(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> Request:
    """The request in these words; UsageError if they make no sense."""
    given: dict[str, object] = {
        "cwd": cwd,
        "limit": feedback_limit(env),
        "session": env.get("CLAUDE_CODE_SESSION_ID", ""),
    }
    paths: list[str] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            paths += words
            break
        if word == "--restore":
            given["restore"] = words.pop(0) if words and not words[0].startswith("-") else ""
        elif word == "--head":
            _set(given, "base", "HEAD")
        elif word in _FLAGS:
            given[_FLAGS[word]] = True
        elif word.partition("=")[0] in _VALUES:
            _take_value(given, word, words)
        elif word.startswith("-") and word != "-":
            raise UsageError(f"unknown option {word}", "diffy --help lists the options.")
        else:
            paths.append(word)
    return _checked(msgspec.convert(given | {"paths": paths}, Request))


def feedback_limit(env: Mapping[str, str]) -> int:
    """The size the feedback may have, in bytes."""
    wanted = env.get("DIFFY_FEEDBACK_MAX_SIZE", "").strip()
    return int(wanted) if wanted.isdecimal() and int(wanted) > 0 else LIMIT


def below_root(request: Request, root: str) -> list[str]:
    """The paths asked for, relative to the root of the work tree."""
    found = []
    for path in request.paths:
        # The last part may be a link that is itself under review.
        directory, last = os.path.split(os.path.join(request.cwd, path).rstrip("/"))
        absolute = os.path.join(os.path.realpath(directory), last) if last not in ("", ".", "..") else ""
        relative = os.path.relpath(absolute or os.path.realpath(os.path.join(request.cwd, path)), root)
        if relative == ".." or relative.startswith("../"):
            raise UsageError(f"{path} is outside the work tree {root}")
        found.append(relative)
    return found


def _take_value(given: dict[str, object], word: str, words: list[str]) -> None:
    option, equals, value = word.partition("=")
    if not equals:
        if not words:
            raise UsageError(f"{option} needs a value", "diffy --help lists the options.")
        value = words.pop(0)
    name = _VALUES[option]
    if name in _CHOICES and value not in _CHOICES[name]:
        raise UsageError(f"{option} is {' or '.join(_CHOICES[name])}, not {value!r}")
    _set(given, name, value)


def _set(given: dict[str, object], name: str, value: str) -> None:
    if name == "base" and not value:
        raise UsageError("the base is empty", "Give a commit, a branch or `empty`.")
    if name == "base" and given.get(name, value) != value:
        raise UsageError("only one of --base, --ref and --head can be given")
    given[name] = value


def _checked(request: Request) -> Request:
    if request.staged and request.base:
        raise UsageError("--staged and another base exclude each other")
    if request.list and request.restore is None:
        raise UsageError("--list belongs to --restore")
    if request.restore is not None and (request.decisions or request.json or request.paths):
        raise UsageError("--restore stands alone")
    if request.json and request.decisions:
        raise UsageError("--json lists, --decisions decides: give one of them")
    return request
