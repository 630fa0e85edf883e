"""The rules of plugin.json: errors that keep a plugin from loading, and warnings that do not."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec

from forge.core.plugins.hooks_file import judge_events
from forge.core.plugins.manifest_shape import EXPERIMENTAL, FIELDS, MANIFEST, OPEN_MANIFEST
from forge.core.plugins.shape import Finding, check, issues, kind_of
from forge.foundation.settings_schema import words
from forge.foundation.suggest import closest

_RESERVED_START = ("claude-", "anthropic-", "anthropics-", "cc-plugin-")
_RESERVED = ("claude", "anthropic", "anthropics", "claude-code", "claude-mods")
_OWNERS = ("claude", "anthropic", "anthropics")
_LOADABLE = re.compile(r"[^@:/\\\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_INSTALLABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# Known, and without effect on loading.
_QUIET = words(
    "icon documentationUrl supportUrl privacyPolicyUrl termsOfServiceUrl engines metadata experimental"
)
_OF_ENTRIES = words("category tags strict source relevance")
_OF_NPM = words(
    "main scripts files bin private type exports module types peerDependencies"
    " optionalDependencies workspaces publishConfig bugs contributors maintainers funding"
)
_ADVICE = {
    "version": 'No version is given; add one such as "1.0.0".',
    "description": "No description is given; people choose plugins by it.",
    "author": "No author is given.",
}


class Checked(msgspec.Struct, frozen=True):
    """Schema errors (fatal), other errors (only a validator minds), warnings and notes."""

    errors: list[Finding] = []
    objections: list[Finding] = []
    warnings: list[Finding] = []
    notes: list[str] = []


def schema_errors(raw: Any, *, lenient: bool = False) -> list[Finding]:
    """Everything that makes a manifest unusable; `lenient` are the rules of Forge's own manifests."""
    if not isinstance(raw, dict):
        return [Finding("root", "manifest must be an object")]
    found = check(raw, OPEN_MANIFEST if lenient else MANIFEST)
    found += _guards(raw.get("hooks"))
    experimental = raw.get("experimental")
    if isinstance(experimental, dict):
        for key, shape in EXPERIMENTAL.items():
            if key in experimental:
                wrong = issues(experimental[key], shape, ("experimental", key))
                found += [Finding(".".join(i.path), i.message) for i in wrong]
    return found


def check_manifest(raw: Any, *, official: bool = False, lenient: bool = False) -> Checked:
    """All a validator says about a manifest; `official` allows the names kept for the vendor."""
    errors = schema_errors(raw, lenient=lenient)
    if not isinstance(raw, dict):
        return Checked(errors)
    name = raw.get("name")
    warnings = _name_warnings(name) if isinstance(name, str) and not errors else []
    objections = [Finding("name", reserved)] if (reserved := reserved_name(name, official)) else []
    if isinstance(name, str) and not objections and not official and _claims(name):
        warnings.append(Finding("name", f'"{name}" sounds like a plugin of the vendor; say what it does.'))
    warnings += _field_warnings(raw) + _hook_warnings(raw.get("hooks"))
    if not errors:
        warnings += [Finding(key, text) for key, text in _ADVICE.items() if not raw.get(key)]
    settings = raw.get("settings")
    notes = ["settings.agent: this key is deprecated; users set `agent` themselves."]
    return Checked(errors, objections, warnings, notes if _has(settings, "agent") else [])


def reserved_name(name: Any, official: bool = False) -> str:
    """Why a name is kept for the vendor's own plugins, or nothing."""
    if not isinstance(name, str) or official:
        return ""
    lower = name.lower()
    words_of = re.split(r"[^a-z0-9]+", lower)
    beside = any("official" in pair and not pair.isdisjoint(_OWNERS) for pair in map(set, pairwise(words_of)))
    if not lower.startswith(_RESERVED_START) and lower not in _RESERVED and not beside:
        return ""
    starts = ", ".join(f'"{start}"' for start in _RESERVED_START)
    return f'Plugin name "{name}" is reserved (as are names starting with {starts}). Say what it does.'


def loadable_name(name: str) -> bool:
    """Whether a plugin of this name may be loaded from a path."""
    return _LOADABLE.fullmatch(name) is not None


def installable_name(name: str) -> bool:
    """Whether a name can be part of the id of an installed plugin."""
    return _INSTALLABLE.fullmatch(name) is not None


def _claims(name: str) -> bool:
    return any(word in _OWNERS for word in re.split(r"[^a-z0-9]+", name.lower()))


def _name_warnings(name: str) -> list[Finding]:
    if _KEBAB.fullmatch(name):
        return []
    if not loadable_name(name):
        effect = "it cannot be loaded from a path or installed"
    elif not installable_name(name):
        effect = "it cannot be installed from a marketplace"
    else:
        effect = "other programs may not accept it"
    return [Finding("name", f'Plugin name "{name}" is not kebab-case: {effect}.')]


def _hook_maps(hooks: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(hooks, dict):
        return [("hooks", hooks)]
    if isinstance(hooks, list):
        return [(f"hooks.{n}", item) for n, item in enumerate(hooks) if isinstance(item, dict)]
    return []


def _guards(hooks: Any) -> list[Finding]:
    found = []
    for place, events in _hook_maps(hooks):
        found += [Finding(place, message) for message in judge_events(events, place).fatal]
    return [*found, Finding("hooks", "Invalid input")] if found else []


def _hook_warnings(hooks: Any) -> list[Finding]:
    maps = _hook_maps(hooks)
    return [Finding(place, m) for place, events in maps for m in judge_events(events, place).dropped]


def _field_warnings(raw: dict[str, Any]) -> list[Finding]:
    found = []
    for key, value in raw.items():
        message = _field_warning(key, value)
        if message:
            found.append(Finding(key, message))
    inner = raw.get("experimental")
    for key in inner if isinstance(inner, dict) else ():
        if key not in EXPERIMENTAL:
            found.append(Finding(f"experimental.{key}", f"Unknown field '{key}'; it is ignored."))
    return found


def _field_warning(key: str, value: Any) -> str:
    if key in ("themes", "monitors"):
        return f"'{key}' is experimental: write it as 'experimental.{key}'."
    if key in ("metadata", "experimental", "engines") and not isinstance(value, dict):
        return f"'{key}' must be an object; got {kind_of(value)}. It is ignored."
    if key in FIELDS or key in _QUIET:
        return ""
    if key in _OF_ENTRIES:
        return f"Field '{key}' belongs in the marketplace entry; it is ignored here."
    if key in _OF_NPM:
        return f"Unknown field '{key}' (commonly seen in an npm package.json); it is ignored."
    meant = closest(key, [*FIELDS, *_QUIET])
    advice = f" — did you mean '{meant}'?" if meant else ";"
    return f"Unknown field '{key}'{advice} It is ignored."


def _has(value: Any, key: str) -> bool:
    return isinstance(value, dict) and key in value
