"""`diffy init`: shows the hook entries for a settings file, asks, and writes them beside what is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.jsonfile import read_json, update_json
from forge.foundation.paths import find_places

# `tty` is Forge's: it lends its terminal. Other agents ignore the field.
STOP = {
    "type": "command",
    "command": "diffy --hook-mode --apply",
    "timeout": 86400,
    "statusMessage": "diffy: waiting for your review",
    "tty": True,
}
ENTRIES: dict[str, dict[str, Any]] = {
    "Stop": STOP,
    "UserPromptSubmit": {"type": "command", "command": "diffy mark --deliver", "timeout": 10},
    "SessionStart": {"type": "command", "command": "diffy mark", "timeout": 10},
}


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy init [--user] [--yes]`; the exit code."""
    if unknown := [word for word in words if word not in ("--user", "--yes")]:
        raise UsageError(f"diffy init does not know {unknown[0]!r}.", "Write: diffy init [--user] [--yes]")
    return run(words, env, os.getcwd())


def run(words: Sequence[str], env: Mapping[str, str], cwd: str) -> int:
    """Writes the entries to the project's settings, or with --user to the user's; the exit code."""
    places = find_places(env, cwd)
    project = os.path.join(places.git_root or places.cwd, ".claude", "settings.json")
    path = os.path.join(places.claude_dir, "settings.json") if "--user" in words else project
    missing = missing_entries(_current(path))
    if not missing:
        sys.stdout.write(f"{path} has the hooks already.\n")
        return 0
    shown = msgspec.json.format(msgspec.json.encode({"hooks": added({}, missing)["hooks"]}), indent=2)
    sys.stdout.write(f"To be added to {path}:\n\n{shown.decode()}\n\n")
    if "--yes" not in words and not _agreed():
        sys.stdout.write("Nothing was written.\n")
        return 1
    update_json(path, lambda settings: added(settings, missing), private=False)
    sys.stdout.write(f"Written to {path}. Agents that run now read it when they start again.\n")
    return 0


def missing_entries(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries whose event does not run diffy yet."""
    hooks = settings.get("hooks")
    known = hooks if isinstance(hooks, dict) else {}
    return {event: entry for event, entry in ENTRIES.items() if not _runs_diffy(known.get(event))}


def added(settings: Mapping[str, Any], entries: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The settings with these entries at the end of what each event has."""
    hooks = dict(settings.get("hooks") or {})
    for event, entry in entries.items():
        hooks[event] = [*(hooks.get(event) or []), {"hooks": [entry]}]
    return {**settings, "hooks": hooks}


def _runs_diffy(matchers: Any) -> bool:
    for matcher in matchers if isinstance(matchers, list) else ():
        handlers = matcher.get("hooks") if isinstance(matcher, dict) else None
        for entry in handlers if isinstance(handlers, list) else ():
            words = str(entry.get("command", "")).split() if isinstance(entry, dict) else []
            if words and os.path.basename(words[0]) == "diffy":
                return True
    return False


def _current(path: str) -> dict[str, Any]:
    try:
        value, _ = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(rows, list) for rows in hooks.values()):
        raise ConfigError("hooks must be an object with a list for each event", path=path)
    found: dict[str, Any] = value
    return found


def _agreed() -> bool:
    if not sys.stdin.isatty():
        sys.stdout.write("Write it with --yes.\n")
        return False
    sys.stdout.write("Write it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
