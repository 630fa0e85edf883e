"""Where the files of an installed plugin are really read from, and what its manifest says there."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.installing.caching import entry_manifest
from forge.core.installing.fetch import relative_path
from forge.core.plugins.context import Context, PluginFailure
from forge.core.plugins.installed import Installation
from forge.core.plugins.known import read_known
from forge.core.plugins.manifest import Manifest, read_manifest
from forge.core.plugins.market import Entry, read_market


class Folder(msgspec.Struct, frozen=True):
    """A plugin's directory. `in_place` ones are the folder of a local marketplace instead of the copy."""

    path: str
    in_place: bool = False
    entry: Entry | None = None
    manifest: Manifest | None = None

    @property
    def raw_entry(self) -> dict[str, Any] | None:
        return self.entry.raw if self.entry is not None else None


def folder_of(one: Installation, context: Context) -> Folder:
    """The directory an installed plugin is read from."""
    known = read_known(context.layout).get(one.market)
    entry, path, in_place = None, one.path, False
    if known is not None:
        try:
            market = read_market(known)
        except PluginFailure:
            market = None  # the copy in the cache is still there
        entry = market.find(one.name) if market is not None else None
        if market is not None and entry is not None and known.in_place and isinstance(entry.source, str):
            path, in_place = relative_path(entry.source, market), True
    if entry is not None:
        return Folder(path, in_place, entry, entry_manifest(entry, path))
    return Folder(path, in_place, None, read_manifest(path, bare=False).manifest)
