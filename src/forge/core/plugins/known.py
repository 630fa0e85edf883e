"""The marketplaces that were added, `known_marketplaces.json`, and where their catalogues are."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.plugins.layout import Layout, is_plain_word
from forge.foundation.ids import timestamp
from forge.foundation.jsonfile import patch_json, read_json
from forge.foundation.jsonpatch import delete, put

MARKET_FILE = os.path.join(".claude-plugin", "marketplace.json")


class Known(msgspec.Struct, frozen=True):
    """A marketplace: where it comes from and where its copy is."""

    name: str
    source: dict[str, Any]
    location: str

    @property
    def kind(self) -> str:
        return str(self.source.get("source", ""))

    @property
    def in_place(self) -> bool:
        """Whether its plugins are read from the user's own folder instead of a copy."""
        return self.kind in ("directory", "file")

    @property
    def has_folder(self) -> bool:
        """A catalogue fetched from a URL is one file and has no folder of plugins."""
        return os.path.isdir(self.location)

    @property
    def catalogue(self) -> str:
        """The file with the list of plugins."""
        if self.kind == "file":
            return str(self.source.get("path", ""))
        inner = self.source.get("path") if self.kind in ("git", "github") else ""
        relative = inner if isinstance(inner, str) and inner else MARKET_FILE
        return os.path.join(self.location, relative) if self.has_folder else self.location


def read_known(layout: Layout) -> dict[str, Known]:
    """Every known marketplace by name; entries of another shape are left out."""
    try:
        content, _ = read_json(layout.known)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found: dict[str, Known] = {}
    for name, entry in content.items() if isinstance(content, dict) else ():
        source = entry.get("source") if isinstance(entry, dict) else None
        location = entry.get("installLocation") if isinstance(entry, dict) else None
        # The name becomes part of paths below the cache.
        if isinstance(source, dict) and isinstance(location, str) and is_plain_word(name):
            found[name] = Known(name, source, location)
    return found


def record_known(layout: Layout, market: Known, now: float) -> None:
    """Remembers a marketplace, or that it is fresh."""
    changes = [
        put((market.name, "source"), market.source),
        put((market.name, "installLocation"), market.location),
        put((market.name, "lastUpdated"), timestamp(now)),
    ]
    patch_json(layout.known, changes)


def forget_known(layout: Layout, name: str) -> None:
    """Forgets a marketplace."""
    patch_json(layout.known, [delete((name,))])
