"""Brings the files of a plugin from wherever its source says into a directory of ours."""

from __future__ import annotations

import hashlib
import os
import shlex

import msgspec

from forge.core.installing.archive import only_folder, safe_parts, unpack
from forge.core.installing.copying import content_hash
from forge.core.installing.download import download
from forge.core.installing.git import clone, commit_of
from forge.core.installing.npm import fetch_package
from forge.core.installing.program import run_program
from forge.core.plugins.context import Context, PluginFailure
from forge.core.plugins.known import Known
from forge.core.plugins.market import Entry, Market
from forge.core.plugins.source import NETWORK_KINDS, Source, git_url
from forge.foundation.inside import is_really_inside

COMMAND_SECONDS = 120


class Fetched(msgspec.Struct, frozen=True):
    """The files of a plugin, and what tells this state of them from others.

    `revision` names the version directory when nothing else does; `command` sources add it to the version.
    """

    path: str
    revision: str = ""
    commit: str = ""
    command: str = ""
    in_place: bool = False


def fetch_plugin(entry: Entry, market: Market, known: Known, scratch: str, context: Context) -> Fetched:
    """Fetches the files of a catalogue's entry; `scratch` is an empty place that may be filled."""
    if entry.error is not None:
        known_kind = bool(entry.source.get("error"))
        wrong = "This plugin's marketplace entry is invalid: " if known_kind else ""
        raise PluginFailure(f"{wrong}{entry.error}", "error_validation" if known_kind else "error_unknown")
    if isinstance(entry.source, str):
        return _relative(entry.source, market, known, context)
    return fetch_source(entry.source, scratch, context)


def fetch_source(source: Source, scratch: str, context: Context) -> Fetched:
    """Fetches what a source object names."""
    kind = source["source"]
    forbid_when_air_gapped(kind, context)
    if kind in ("github", "url"):
        commit = clone(
            git_url(source), scratch, context.env, ref=source.get("ref", ""), sha=source.get("sha", "")
        )
        return Fetched(scratch, commit[:12], commit)
    if kind == "git-subdir":
        return _subdirectory(source, scratch, context)
    if kind == "npm":
        version = fetch_package(source, scratch, context.env)
        return Fetched(only_folder(scratch), version)
    if kind == "archive":
        return _archive(source, scratch, context)
    return _command(source, context)


def forbid_when_air_gapped(kind: str, context: Context) -> None:
    """With the setting airGap nothing is fetched over the network."""
    if context.air_gap and kind in NETWORK_KINDS:
        raise PluginFailure(
            f"The setting airGap forbids fetching from the network, and this source ({kind}) needs it. "
            "Use a local path, or turn airGap off.",
            "air_gap",
        )


def command_of(source: Source) -> str:
    """A command source as it is recorded; empty for every other kind."""
    if source.get("source") != "command":
        return ""
    return str(source["command"]) + ("\n[mode: link]" if source.get("mode") == "link" else "")


def relative_path(source: str, market: Market) -> str:
    """The folder a path of a catalogue means."""
    bare = not source.startswith(".")
    return os.path.normpath(os.path.join(market.root, market.plugin_root if bare else "", source))


def _relative(source: str, market: Market, known: Known, context: Context) -> Fetched:
    path = relative_path(source, market)
    climbs = "\\" in source or ".." in source.split("/")
    if not known.has_folder or climbs or not is_really_inside(path, market.root):
        raise PluginFailure(
            f"{source} does not stay inside the marketplace directory, or the marketplace is a single file "
            "without a directory.",
            "error_policy",
        )
    if not os.path.isdir(path):
        raise PluginFailure(f"Source path does not exist: {path}", "error_not_found")
    commit = "" if known.in_place else commit_of(known.location, context.env)
    return Fetched(path, commit[:12], commit, in_place=known.in_place)


def _subdirectory(source: Source, scratch: str, context: Context) -> Fetched:
    wanted = str(source["path"])
    url = git_url(source)
    commit = clone(url, scratch, context.env, ref=source.get("ref", ""), sha=source.get("sha", ""))
    path = os.path.join(scratch, *safe_parts(wanted))
    if not os.path.isdir(path):
        raise PluginFailure(
            f"Subdirectory '{wanted}' not found in repository {source['url']}. "
            "Check that the path is correct and exists at the specified ref/sha.",
            "error_not_found",
        )
    if not is_really_inside(path, scratch):
        raise PluginFailure(f"'{wanted}' leads out of the repository.", "error_policy")
    return Fetched(path, f"{commit[:12]}-{hashlib.sha256(wanted.encode()).hexdigest()[:8]}", commit)


def _archive(source: Source, scratch: str, context: Context) -> Fetched:
    data = download(str(source["url"]), context.env)
    digest = hashlib.sha256(data).hexdigest()
    expected = str(source.get("sha256") or digest).lower()
    if digest != expected:
        raise PluginFailure(
            f"{source['url']} is not what the marketplace expects: its SHA-256 is {digest}, not {expected}.",
            "error_integrity",
        )
    unpack(data, scratch)
    return Fetched(only_folder(scratch), digest[:12])


def _command(source: Source, context: Context) -> Fetched:
    command, seconds = str(source["command"]), source.get("timeout", COMMAND_SECONDS)
    try:
        done = run_program(["/bin/sh", "-c", command], context.places.home, context.env, float(seconds))
    except FileNotFoundError:
        raise PluginFailure("There is no shell to run the command with.") from None
    said = f"Plugin source command `{command}`"
    if done.timed_out:
        raise PluginFailure(f"{said} did not finish within {seconds:g}s and was stopped.")
    if done.code:
        raise PluginFailure(f"{said} failed with exit code {done.code}: {done.err.strip()[-500:]}")
    lines = done.out.strip().splitlines()
    if len(lines) != 1:
        raise PluginFailure(
            f"{said} printed {len(lines)} lines; it must print exactly one absolute path.", "error_policy"
        )
    if not os.path.isabs(lines[0]) or not os.path.isdir(lines[0]):
        raise PluginFailure(
            f"{said} printed {shlex.quote(lines[0])}, which is not a directory.", "error_policy"
        )
    return Fetched(lines[0], content_hash(lines[0]), command=command_of(source))
