"""Reads the catalogue of a marketplace; a bad head makes it unusable, a bad entry only itself."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.plugins.context import PluginFailure
from forge.core.plugins.known import Known
from forge.core.plugins.layout import is_plain_word
from forge.core.plugins.manifest_shape import AUTHOR, FIELDS
from forge.core.plugins.shape import BOOLEAN, STRING, STRINGS, Issue, Shape, check, soft, text
from forge.core.plugins.source import Source, entry_source, unsupported
from forge.foundation.errors import ConfigError
from forge.foundation.hookspec import EVENTS
from forge.foundation.jsonfile import parse_json, read_json

RESERVED = ("inline", "builtin", "skills-dir", "synced", "claude-plugin-test", "local")
OFFICIAL = frozenset(
    (
        "claude-code-marketplace",
        "claude-code-plugins",
        "claude-plugins-official",
        "anthropic-marketplace",
        "anthropic-plugins",
        "agent-skills",
        "anthropic-plugin-directory",
    )
)


class Entry(msgspec.Struct, frozen=True):
    """One plugin of a catalogue. `source` is a path, an object, or says why it is unsupported."""

    name: str
    source: Any
    raw: dict[str, Any]

    @property
    def error(self) -> str | None:
        """Why it cannot be installed; None when it can."""
        if isinstance(self.source, dict) and self.source.get("source") == "unsupported":
            return str(self.source.get("error") or "This plugin uses a source type that is not supported.")
        return None


class Market(msgspec.Struct, frozen=True):
    """A catalogue: its name, the folder its paths start at, its plugins."""

    name: str
    root: str
    entries: list[Entry]
    raw: dict[str, Any]

    @property
    def plugin_root(self) -> str:
        return plugin_root(self.raw)

    def find(self, name: str) -> Entry | None:
        """The entry of a name, also of one it had earlier; the first of several."""
        renames = self.raw.get("renames")
        chain = renames if isinstance(renames, dict) else {}
        wanted: str | None = name
        for _ in range(len(chain) + 1):
            found = next((entry for entry in self.entries if entry.name == wanted), None)
            if found is not None:
                return found
            later = chain.get(wanted)
            wanted = later if isinstance(later, str) else None
        return None


def read_market(known: Known) -> Market:
    """The catalogue of a known marketplace; PluginFailure when it is missing or unusable."""
    return read_catalogue(known.catalogue, known.location)


def read_catalogue(path: str, root: str) -> Market:
    """A catalogue file; its paths start at `root`."""
    try:
        content, text_ = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise PluginFailure(f"Marketplace file not found at {path}", "error_not_found") from None
    except ConfigError as error:
        raise _unparsable(path, f"Invalid JSON in {path}: JSON Parse error: {_syntax(error, path)}") from None
    if not text_.strip():
        raise _unparsable(path, f"Invalid JSON in {path}: JSON Parse error: Unexpected EOF")
    return check_catalogue(content, path, root)


def parse_catalogue(data: bytes, origin: str) -> Any:
    """A downloaded catalogue as a value."""
    try:
        return parse_json(data.decode("utf-8", "replace"), origin)
    except ConfigError as error:
        raise _unparsable(origin, f"Invalid JSON in {origin}: {error.message}") from None


def check_catalogue(content: Any, path: str, root: str) -> Market:
    """A catalogue that was read from `path`; PluginFailure when its head is wrong."""
    wrong = check(content, _HEAD)
    if wrong:
        raise _unparsable(path, f"Invalid schema: {path} " + ", ".join(str(finding) for finding in wrong))
    entries = [entry for raw in content["plugins"] if (entry := _entry(raw, plugin_root(content)))]
    return Market(content["name"], root, entries, content)


def plugin_root(raw: dict[str, Any]) -> str:
    """The folder bare source names start at; empty when there is none or it leaves the marketplace."""
    metadata = raw.get("metadata")
    value = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    if not isinstance(value, str) or os.path.isabs(value) or "\\" in value:
        return ""
    return "" if os.path.normpath(value).split("/")[0] == ".." else value


def check_name(name: str, source: Source) -> None:
    """Refuses names that are kept for something else."""
    repo = str(source.get("repo") or source.get("url") or "")
    anthropic = "github.com/anthropics/" in repo or (
        source.get("source") == "github" and repo.startswith("anthropics/")
    )
    lower = name.lower()
    if lower in OFFICIAL and not anthropic:
        raise PluginFailure(
            f"The name '{name}' is reserved for official Anthropic marketplaces and can only be used with "
            "GitHub sources from the 'anthropics' organization.",
            "reserved_name",
        )
    imitates = "official" in lower and ("claude" in lower or "anthropic" in lower)
    if lower in RESERVED or lower.startswith("claudeai-") or (imitates and not anthropic):
        raise PluginFailure(
            f"The marketplace name '{name}' is reserved. Choose another one.", "reserved_name"
        )


def _entry(raw: Any, root: str) -> Entry | None:
    name = raw.get("name") if isinstance(raw, dict) else None
    if not isinstance(name, str) or not name or any(char.isspace() for char in name):
        return None
    wrong = [str(finding) for finding in check(raw, _ENTRY)]
    hooks = raw.get("hooks")
    strange = [event for event in hooks if event not in EVENTS] if isinstance(hooks, dict) else []
    wrong += [f"hooks: Unrecognized field: {', '.join(strange)}"] if strange else []
    source = entry_source(raw.get("source"), root)
    return Entry(name, unsupported(", ".join(wrong)) if wrong else source, raw)


def _market_name(name: str) -> list[Issue]:
    if not name:
        return soft("Marketplace must have a name")
    if any(char.isspace() for char in name):
        return soft('Marketplace name cannot contain spaces. Use kebab-case (e.g., "my-marketplace")')
    if "/" in name or "\\" in name or ".." in name or name == ".":
        separators = "cannot contain path separators (/ or \\)"
        return soft(f'Marketplace name {separators}, ".." sequences, or be "."')
    if not is_plain_word(name):
        return soft('Marketplace name may only have letters, digits, ".", "_" and "-"')
    return []


def _unparsable(path: str, reason: str) -> PluginFailure:
    return PluginFailure(f"Failed to parse marketplace file at {path}: {reason}", "invalid_marketplace")


def _syntax(error: ConfigError, path: str) -> str:
    said = error.message.removeprefix(f"{path}:{error.line}:{error.column}: ")
    return "Unexpected EOF" if "end" in said else f"{said} at line {error.line}, column {error.column}"


_HEAD = Shape(
    "object",
    keys={
        "name": text(_market_name),
        "owner": AUTHOR,
        "plugins": Shape("array"),
        "description": STRING,
        "version": STRING,
    },
    required=("name", "owner", "plugins"),
)
_ENTRY = Shape(
    "object",
    keys={
        **{key: shape for key, shape in FIELDS.items() if key != "name"},
        "category": STRING,
        "tags": STRINGS,
        "strict": BOOLEAN,
    },
)
