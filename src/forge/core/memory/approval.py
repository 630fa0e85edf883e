"""Imports from outside a project: whether the user has allowed them, here or in the reference."""

from __future__ import annotations

import msgspec

from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import delete, put
from forge.foundation.paths import Places, trust_key
from forge.foundation.trust import trust_file

_KEY = "externalImports"


class _State(msgspec.Struct):
    projects: dict[str, msgspec.Raw] = {}


class _Project(msgspec.Struct):
    theirs: bool = msgspec.field(default=False, name="hasClaudeMdExternalIncludesApproved")
    ours: bool = msgspec.field(default=False, name=_KEY)


def imports_approved(p: Places) -> bool:
    """Whether project files may import files from outside; a broken record approves nothing."""
    return any(entry.ours for entry in _entries(trust_file(p), p)) or any(
        entry.theirs for entry in _entries(p.claude_state, p)
    )


def approve_imports(p: Places, *, approved: bool) -> None:
    """Remembers the user's answer for this project; the reference's own record stays as it is."""
    path = ("projects", trust_key(p), _KEY)
    patch_json(trust_file(p), [put(path, True) if approved else delete(path)])


def _entries(path: str, p: Places) -> list[_Project]:
    try:
        with open(path, "rb") as file:
            projects = msgspec.json.decode(file.read(), type=_State).projects
        return [
            msgspec.json.decode(projects[key], type=_Project)
            for key in dict.fromkeys((trust_key(p), p.cwd))
            if key in projects
        ]
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return []
