"""What can stand at the end of a command line: sub-commands, options, and names of things that exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from forge.core.installing.command import VERBS
from forge.core.installing.request import ALIASES, LISTS, REPEATED, SWITCHES, TEXTS
from forge.core.installing.scaffold import PARTS
from forge.core.installing.switches import SCOPES
from forge.core.plugins.candidates import Request as Search
from forge.core.plugins.candidates import find_candidates
from forge.core.plugins.context import PluginFailure
from forge.core.plugins.known import read_known
from forge.core.plugins.layout import find_layout
from forge.core.plugins.market import read_market
from forge.foundation.history.sessions import transcripts
from forge.foundation.paths import Places, find_places, projects_dir, slug
from forge.hosts.cli.flags import COMMANDS, FLAGS, SWITCH, Flag

Names = Callable[[Places, Mapping[str, str]], list[str]]


def complete(words: list[str], env: Mapping[str, str], cwd: str) -> list[str]:
    """The candidates for the last of the words, sorted; empty where a file name is meant."""
    *before, last = words
    places = find_places(env, cwd)
    found = _candidates(before, last, places, env)
    return sorted({word for word in found if word.startswith(last)})


def _candidates(before: list[str], last: str, places: Places, env: Mapping[str, str]) -> list[str]:
    command = next((word for word in before if word in COMMANDS), "")
    if not command:
        return _top(before, last)
    rest = before[before.index(command) + 1 :]
    if command in ("plugin", "plugins"):
        return _plugin(rest, last, places, env)
    if command == "completion":
        return ["bash", "zsh", "fish"]
    return _ordinary(command, rest, last, places, env)


def _top(before: list[str], last: str) -> list[str]:
    values = _values_of(before[-1:], FLAGS)
    if values is not None:
        return values
    if last.startswith("-"):
        return [name for flag in FLAGS if not flag.hidden for name in flag.names if name.startswith("--")]
    return [name for name, (_, about) in COMMANDS.items() if about]


def _values_of(previous: list[str], flags: Any) -> list[str] | None:
    """The values of an option that wants one; None when the word before is not such an option."""
    for flag in flags:
        if previous and previous[0] in flag.names and flag.kind != SWITCH:
            return list(flag.choices)
    return None


def _ordinary(command: str, rest: list[str], last: str, places: Places, env: Mapping[str, str]) -> list[str]:
    module = import_module(COMMANDS[command][0])
    flags: tuple[Flag, ...] = getattr(getattr(module, "COMMAND", None), "flags", ())
    values = _values_of(rest[-1:], flags)
    if values is not None:
        return values
    if last.startswith("-"):
        return [name for flag in flags for name in flag.names if name.startswith("--")] + ["--help"]
    words = [word for word in rest if not word.startswith("-")]
    actions = [str(action) for action in getattr(module, "ACTIONS", ())]
    if not words:
        return actions
    if command in ("skill", "agent") and words == ["info"]:
        return [str(name) for name in module.names(env, places.cwd)]
    return _sessions(places, env) if command == "sessions" and words[0] not in ("list", "search") else []


def _plugin(rest: list[str], last: str, places: Places, env: Mapping[str, str]) -> list[str]:
    previous = rest[-1] if rest else ""
    if previous in ("--scope", "-s"):
        return list(SCOPES)
    if previous in TEXTS or previous in REPEATED:
        return []
    if last.startswith("-"):
        return [*SWITCHES, *TEXTS, *REPEATED, *LISTS, "--help"]
    if "--with" in rest:
        return list(PARTS)
    words = [word for word in rest if not word.startswith("-")]
    verb = ALIASES.get(words[0], words[0]) if words else ""
    if verb == "marketplace" and len(words) > 1:
        verb, words = f"marketplace {words[1]}", words[1:]
    if not verb or verb == "marketplace":
        return _verbs(verb)
    return _NAMES[verb](places, env) if len(words) == 1 and verb in _NAMES else []


def _verbs(outer: str) -> list[str]:
    if outer:
        return [verb.partition(" ")[2] for verb in VERBS if verb.startswith(f"{outer} ")]
    return list(dict.fromkeys(verb.partition(" ")[0] for verb in VERBS))


def _installed(places: Places, env: Mapping[str, str]) -> list[str]:
    candidates, _ = find_candidates(Search(places, env=env, trusted=True))
    return [candidate.id for candidate in candidates]


def _offered(places: Places, env: Mapping[str, str]) -> list[str]:
    found = []
    for known in read_known(find_layout(places, env)).values():
        try:
            found += [f"{entry.name}@{known.name}" for entry in read_market(known).entries]
        except PluginFailure:
            continue  # a broken catalogue has nothing to offer
    return found


def _markets(places: Places, env: Mapping[str, str]) -> list[str]:
    return list(read_known(find_layout(places, env)))


def _sessions(places: Places, env: Mapping[str, str]) -> list[str]:
    folder = f"{projects_dir(places)}/{slug(places.cwd)}"
    return [path.rpartition("/")[2].removesuffix(".jsonl") for path in transcripts(folder)]


_NAMES: dict[str, Names] = {
    "install": _offered,
    "uninstall": _installed,
    "enable": _installed,
    "disable": _installed,
    "update": _installed,
    "details": _installed,
    "configure": _installed,
    "marketplace update": _markets,
    "marketplace remove": _markets,
    "marketplace rm": _markets,
}
