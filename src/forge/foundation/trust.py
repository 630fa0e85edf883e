"""Workspace trust: read from the reference's state and from Forge's own store, written only to the latter."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import patch_json, read_json
from forge.foundation.jsonpatch import delete, put
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.paths import Places, trust_key
from forge.foundation.settings_files import detail_of


class _State(msgspec.Struct):
    """The one part of `.claude.json` that is of interest; the rest is skipped unread."""

    projects: dict[str, msgspec.Raw] = {}


def is_trusted(p: Places) -> bool:
    """Whether the user has accepted this workspace, here or in the reference."""
    return read_trust(p)[0]


def read_trust(p: Places) -> tuple[bool, list[Diagnostic]]:
    """Trust, and what is wrong with the files that record it; a broken file means not trusted.

    Only the exact directory counts (the repository's root, else the start directory), never a parent.
    """
    notes: list[Diagnostic] = []
    trusted = _in_own_store(p, notes) or _in_reference(p, notes)
    return trusted, notes


def trust(p: Places) -> None:
    """Remembers that the user accepts this workspace."""
    patch_json(trust_file(p), [put(("projects", trust_key(p), "trusted"), True)])


def untrust(p: Places) -> None:
    """Forgets Forge's own record; what the reference has recorded stays its business."""
    patch_json(trust_file(p), [delete(("projects", trust_key(p)))])


def trust_file(p: Places) -> str:
    """Where Forge remembers what the user has accepted."""
    return os.path.join(p.forge_home, "trust.json")


def _in_own_store(p: Places, notes: list[Diagnostic]) -> bool:
    path = trust_file(p)
    try:
        data, _ = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except ConfigError as error:
        notes.append(_broken(path, detail_of(error)))
        return False
    entry = _member(_member(data, "projects"), trust_key(p))
    return _member(entry, "trusted") is True


def _in_reference(p: Places, notes: list[Diagnostic]) -> bool:
    try:
        with open(p.claude_state, "rb") as file:
            data = file.read().removeprefix(b"\xef\xbb\xbf")
        if not data.strip():
            return False
        entry = msgspec.json.decode(data, type=_State).projects.get(trust_key(p))
        return entry is not None and _member(msgspec.json.decode(entry), "hasTrustDialogAccepted") is True
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (*NOT_JSON, OSError) as error:
        notes.append(_broken(p.claude_state, str(error)))
        return False


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _broken(path: str, reason: str) -> Diagnostic:
    return Diagnostic(
        Severity.WARNING,
        f"cannot be used ({reason}), so it does not make this workspace trusted",
        Origin(Scope.USER, path),
        "Fix the JSON, or move the file aside.",
    )
