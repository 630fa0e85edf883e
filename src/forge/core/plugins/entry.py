"""How a marketplace entry and the plugin's own manifest become one."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.plugins.manifest import Form, Found
from forge.core.plugins.reading import as_list

COMPONENTS = ("commands", "agents", "skills", "hooks", "outputStyles", "themes")
_OF_ENTRY = ("source", "strict", "category", "tags", "relevance", "headers", "headersHelper")
_ADDED = ("commands", "agents", "outputStyles", "themes")


class Merged(msgspec.Struct, frozen=True):
    """What to read: the manifest in force, what the entry adds, and whether only its skills count."""

    raw: dict[str, Any]
    added: dict[str, Any] = {}
    events: Any = None
    only_skills: bool = False
    conflict: bool = False


def merge_entry(found: Found, entry: dict[str, Any] | None) -> Merged:
    """The manifest of a plugin, with what its marketplace says about it."""
    raw = found.raw if isinstance(found.raw, dict) else {}
    if entry is None:
        return Merged(raw)
    at_root = entry.get("source") in (".", "./")
    only_skills = at_root and "skills" in entry
    if found.form is Form.NONE:
        elsewhere = (*_OF_ENTRY, *_ADDED, "hooks")
        own = {key: value for key, value in entry.items() if key not in elsewhere}
        # Nothing says that the default places do not count.
        added = {key: entry[key] for key in _ADDED if key in entry}
        return Merged(own, added, entry.get("hooks"), only_skills)
    has_parts = any(key in entry for key in COMPONENTS)
    if entry.get("strict") is False:
        return Merged(raw, conflict=has_parts)
    if not has_parts:
        return Merged(raw)
    added = {key: entry[key] for key in _ADDED if key in entry}
    if "skills" in entry:
        raw = {**raw, "skills": [*as_list(raw.get("skills")), *as_list(entry["skills"])]}
    return Merged(raw, added, entry.get("hooks"), only_skills)
