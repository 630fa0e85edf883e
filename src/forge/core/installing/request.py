"""The words of a plugin command, and its answer in the shapes scripts know: a line of JSON or a sentence."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.installing.switches import SCOPES
from forge.core.plugins.context import Outcome, PluginFailure
from forge.foundation.encode import dumps
from forge.foundation.errors import UsageError
from forge.foundation.permissions.syntax import word_set
from forge.foundation.suggest import closest

# Flags by the way they take values.
SWITCHES = word_set(
    "--json --yes --keep-data --all --available --dry-run --prune --strict --force --values-stdin"
)
TEXTS = word_set("--scope --marketplace --accept-command --profile --description --author --author-email")
REPEATED = frozenset(("--config",))
LISTS = frozenset(("--with", "--sparse"))
SHORT = {"-y": "--yes", "-s": "--scope", "-a": "--all", "-f": "--force"}

ALIASES = {
    "i": "install",
    "remove": "uninstall",
    "rm": "uninstall",
    "info": "details",
    "new": "init",
    "autoremove": "prune",
}
MARKET_VERBS: tuple[str, ...] = ("add", "list", "update", "remove")
MARKET_ALIASES = {"rm": "remove"}


class Request(msgspec.Struct, frozen=True):
    """A verb such as `install` or `marketplace add`, its words and its flags."""

    verb: str
    words: list[str]
    flags: dict[str, Any]

    @property
    def json(self) -> bool:
        return "--json" in self.flags

    @property
    def yes(self) -> bool:
        return "--yes" in self.flags

    def on(self, flag: str) -> bool:
        return flag in self.flags

    def text(self, flag: str) -> str:
        return str(self.flags.get(flag, ""))

    def texts(self, flag: str) -> list[str]:
        return list(self.flags.get(flag, ()))

    def scope(self, default: str = "") -> str:
        """The scope that was asked for."""
        scope = self.text("--scope") or default
        if scope and scope not in (*SCOPES, "managed"):
            raise UsageError(f"Invalid scope: {scope}. Must be one of: {', '.join(SCOPES)}.")
        return scope

    def word(self, name: str) -> str:
        """The first word, which must be there."""
        if not self.words:
            raise UsageError(f"error: missing required argument '{name}'")
        return self.words[0]


def read_request(words: list[str]) -> Request:
    """Reads the words after `plugin`; UsageError in the wording of the command line."""
    plain: list[str] = []
    flags: dict[str, Any] = {}
    at = 0
    while at < len(words):
        word, at = words[at], at + 1
        if word == "--":
            plain += words[at:]
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        at = _take(word, words, at, flags)
    verb, rest = _verb(plain)
    return Request(verb, rest, flags)


def success(request: Request, fields: dict[str, Any], message: str, *, reload: bool = True) -> Outcome:
    """The answer of a command that did something; `fields` are those of its JSON line."""
    if request.json:
        return Outcome(
            _line({**fields, "message": message} if "message" not in fields else fields), reload=reload
        )
    return Outcome(f"✔ {message}\n", reload=reload)


def failure(request: Request, fields: dict[str, Any], error: PluginFailure, lead: str) -> Outcome:
    """The answer of a command that could not."""
    said = f"✘ {lead}{error.message}\n"
    if not request.json:
        return Outcome("", said, 1)
    rest = {"message": error.message, "failureCode": error.code, **error.more}
    line = {"command": "", "outcome": "failed", **fields, **rest}
    return Outcome(_line(line), said, 1)


def pretty(value: Any) -> str:
    """JSON over several lines, as lists are printed."""
    return msgspec.json.format(dumps(value), indent=2).decode() + "\n"


def _line(value: dict[str, Any]) -> str:
    return dumps(value).decode() + "\n"


def _verb(plain: list[str]) -> tuple[str, list[str]]:
    verb, *rest = plain or [""]
    verb = ALIASES.get(verb, verb)
    if verb != "marketplace":
        return verb, rest
    inner, *rest = rest or [""]
    return f"marketplace {MARKET_ALIASES.get(inner, inner)}".strip(), rest


def _take(word: str, words: list[str], at: int, flags: dict[str, Any]) -> int:
    name, attached, value = word.partition("=")
    name = SHORT.get(name, name)
    if name in SWITCHES:
        flags[name] = True
        return at
    if name in LISTS:
        taken = [value] if attached else []
        while not attached and at < len(words) and not words[at].startswith("-"):
            taken.append(words[at])
            at += 1
        flags[name] = [*flags.get(name, []), *taken]
        return at
    if name not in TEXTS and name not in REPEATED:
        near = closest(name, [*SWITCHES, *TEXTS, *REPEATED, *LISTS])
        raise UsageError(f"error: unknown option '{name}'" + (f"\n(Did you mean {near}?)" if near else ""))
    if not attached:
        if at >= len(words):
            raise UsageError(f"error: option '{name}' argument missing")
        value, at = words[at], at + 1
    flags[name] = [*flags.get(name, []), value] if name in REPEATED else value
    return at
