"""The versioned copies of installed plugins: making one, marking what nobody uses, sweeping it later."""

from __future__ import annotations

import os
import re
from contextlib import suppress

import msgspec

from forge.core.installing.copying import copy_plugin, discard
from forge.core.installing.fetch import Fetched, fetch_plugin
from forge.core.plugins.context import Context, PluginFailure
from forge.core.plugins.installed import Record, read_installed
from forge.core.plugins.known import Known
from forge.core.plugins.layout import Layout
from forge.core.plugins.manifest import Manifest, manifest_of, read_manifest
from forge.core.plugins.market import Entry, Market

ORPHAN_MARK = ".orphaned_at"
ORPHAN_DAYS = 14
LINK_MARK = ".claude-plugin-link"


class Placed(msgspec.Struct, frozen=True):
    """A copy in the cache; `record` is what `installed_plugins.json` says about it beside the scope."""

    manifest: Manifest
    version: str
    path: str
    record: Record
    left_out: list[str] = []


def place(entry: Entry, market: Market, known: Known, context: Context) -> Placed:
    """Fetches a plugin and copies it to the cache directory of its version."""
    layout = context.layout
    os.makedirs(layout.cache, exist_ok=True)
    scratch = os.path.join(layout.cache, f"temp_{os.urandom(6).hex()}")
    try:
        fetched = fetch_plugin(entry, market, known, scratch, context)
        found = read_manifest(fetched.path, bare=False)
        if found.corrupt or found.errors:
            raise PluginFailure(found.failure, "error_validation")
        manifest = entry_manifest(entry, fetched.path)
        version = version_of(manifest, entry, fetched)
        path = os.path.join(layout.cache, known.name, entry.name, _folder(version))
        left_out: list[str] = []
        if fetched.command.endswith("[mode: link]"):
            _link(fetched.path, path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            left_out = copy_plugin(fetched.path, path)
        return Placed(manifest, version, path, _record(path, version, fetched), left_out)
    finally:
        discard(scratch)


def entry_manifest(entry: Entry, path: str) -> Manifest:
    """The manifest that counts: the plugin's own, else its entry."""
    own = read_manifest(path, bare=False).manifest
    if own is not None:
        return own
    raw = {"name": entry.name} if entry.error is not None else {**entry.raw, "name": entry.name}
    return manifest_of(raw, entry.name)


def version_of(manifest: Manifest, entry: Entry, fetched: Fetched) -> str:
    """Manifest, else entry, else what the source tells; commands add the state of their output."""
    stated = manifest.version or entry.raw.get("version") or ""
    if fetched.command:
        return f"{stated}-{fetched.revision}" if stated else fetched.revision
    return stated or fetched.revision or "unknown"


def mark_orphans(layout: Layout, now: float) -> None:
    """Marks copies no installation refers to, and removes those that were marked two weeks ago."""
    used = {os.path.realpath(one.path) for one in read_installed(layout)}
    for directory in _copies(layout.cache):
        mark = os.path.join(directory, ORPHAN_MARK)
        if os.path.realpath(directory) in used:
            with suppress(FileNotFoundError):
                os.remove(mark)
        elif not os.path.exists(mark):
            with suppress(OSError), open(mark, "w") as file:
                file.write(str(int(now * 1000)))
        elif now - os.stat(mark).st_mtime > ORPHAN_DAYS * 86_400:
            discard(directory)


def _copies(cache: str) -> list[str]:
    found = [cache]
    for _ in range(3):
        found = [
            entry.path
            for directory in found
            if os.path.isdir(directory)
            for entry in os.scandir(directory)
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("temp_")
        ]
    return found


def _record(path: str, version: str, fetched: Fetched) -> Record:
    record: Record = {"installPath": path, "version": version}
    if fetched.commit:
        record["gitCommitSha"] = fetched.commit
    if fetched.command:
        record |= {"sourceCommand": fetched.command, "sourceProducerPath": fetched.path}
    return record


def _link(source: str, target: str) -> None:
    discard(target)
    os.makedirs(target)
    for name in sorted(os.listdir(source)):
        os.symlink(os.path.join(source, name), os.path.join(target, name))
    with open(os.path.join(target, LINK_MARK), "w") as file:
        file.write(source)


def _folder(version: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]", "-", version).strip(".") or "unknown"
