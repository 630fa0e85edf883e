"""Installs a plugin from a marketplace: its files, what it depends on, its options, its switch."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from forge.core.installing.caching import Placed, entry_manifest, mark_orphans, place
from forge.core.installing.contents import describe_contents
from forge.core.installing.fetch import command_of, relative_path
from forge.core.installing.marketplaces import add_source
from forge.core.installing.needing import refuse_contradictions
from forge.core.installing.option_values import read_pairs, save_options, set_keys
from forge.core.installing.request import Request, success
from forge.core.installing.switches import SCOPES, declared_market, switch, switch_state
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.installed import Installation, keep_on_purpose, record_installed, visible_installed
from forge.core.plugins.known import Known, read_known
from forge.core.plugins.layout import is_plain_word, split_id
from forge.core.plugins.market import Entry, Market, read_market
from forge.core.plugins.semver import satisfies
from forge.core.plugins.source import read_argument


class Offer(msgspec.Struct, frozen=True):
    """An entry together with the marketplace it is in."""

    entry: Entry
    market: Market
    known: Known

    @property
    def id(self) -> str:
        return f"{self.entry.name}@{self.known.name}"


def install(request: Request, context: Context) -> Outcome:
    """`install NAME[@MARKETPLACE]`."""
    given, scope = request.word("plugin"), request.scope("user")
    if scope == "managed":
        raise PluginFailure("Managed plugins are installed by managed settings only.", "policy")
    if not request.json:
        context.say(f'Installing plugin "{given}"...')
    offer = find_offer(given, request, context)
    fields: dict[str, Any] = {
        "command": "install",
        "outcome": "ok",
        "plugin": given,
        "pluginId": offer.id,
        "scope": scope,
    }
    here = [one for one in visible_installed(context.layout, context.places.cwd) if one.scope == scope]
    there = next((one for one in here if one.id == offer.id), None)
    if there is not None:
        return _already(request, context, offer, there, fields)
    accept_command(offer, request, context)
    placed = place(offer.entry, offer.market, offer.known, context)
    if not _trusted(offer, placed, request, context):
        mark_orphans(context.layout, context.now())
        raise PluginFailure("not installed, because it was not accepted", "declined")
    refuse_contradictions(offer.id, placed.manifest.dependencies, context)
    on = register(offer, placed, scope, context)
    message = f"Successfully installed plugin: {offer.id} (scope: {scope})"
    message += add_dependencies(offer, placed, scope, request, context)
    if not on:
        message += f". This plugin is disabled by default — enable it with: forge plugin enable {offer.id}"
    more, note = _configure(offer.id, placed.manifest.options, request, context)
    mark_orphans(context.layout, context.now())
    return success(request, {**fields, "message": message + note, **more}, message + note)


def find_offer(given: str, request: Request, context: Context) -> Offer:
    """The entry a name means; a bare name is looked for in every marketplace."""
    name, market = split_id(given)
    wanted = request.text("--marketplace")
    if wanted:
        market, _ = add_source(
            read_argument(wanted, context.places.cwd, context.places.home), "user", context
        )
    known = read_known(context.layout)
    if market and market not in known:
        known = _add_declared(market, context)
    for each in [known[market]] if market in known else [] if market else known.values():
        offer = _offer(name, each, strict=bool(market))
        if offer is not None:
            return offer
    if not market:
        raise PluginFailure(f'Plugin "{name}" not found in any configured marketplace.', "not_found")
    raise PluginFailure(
        f'Plugin "{name}" not found in marketplace "{market}". Your local copy may be out of date — '
        f"try `forge plugin marketplace update {market}`.",
        "not_found",
    )


def _add_declared(market: str, context: Context) -> dict[str, Known]:
    """A marketplace that settings declare is fetched when somebody installs from it."""
    for scope in SCOPES:
        source = declared_market(context.places, scope, market)
        if source is not None:
            add_source(source, scope, context)
            break
    return read_known(context.layout)


def accept_command(offer: Offer, request: Request, context: Context) -> None:
    """A plugin that comes out of a command is fetched only after somebody has seen the command."""
    source = offer.entry.source
    if not isinstance(source, dict) or source.get("source") != "command":
        return
    command, mode = str(source["command"]), str(source.get("mode") or "copy")
    effect = {
        "copy": "its output directory is copied into the plugin cache",
        "link": "its output directory is used in place (linked, not copied)",
    }[mode]
    context.warn(
        f'"{offer.entry.name}" is installed by running a command from marketplace '
        f'"{offer.known.name}" on this '
        f'machine:\n  {command}\n  (mode "{mode}": {effect})\n'
    )
    shown = {"kind": "command_source", "pluginId": offer.id, "command": command, "mode": mode}
    digest = hashlib.sha256(f"{offer.id}\n{command_of(source)}".encode()).hexdigest()
    accepted = request.yes or request.text("--accept-command") == digest
    if accepted or (context.ask is not None and context.ask("Run this command?")):
        return
    if context.ask is None:
        context.warn(
            "Not an interactive terminal, so the command was only displayed, not accepted. Re-run in "
            "a terminal to "
            "confirm it, or pass -y/--yes to accept the command shown above.\n"
        )
    raise PluginFailure(
        f"{offer.id} is installed by running a command on this machine (`{command}`) that has not "
        "been reviewed yet, "
        f"so it was not run. Review and accept it in a terminal: run `forge plugin install {offer.id}`.",
        "command_source_refused",
        shownCommand={**shown, "sha256": digest},
    )


def register(offer: Offer, placed: Placed, scope: str, context: Context, *, auto: bool = False) -> bool:
    """Records an installation and switches it on, unless it says it wants to be off at first."""
    project = {} if scope == "user" else {"projectPath": context.places.cwd}
    record = {"scope": scope, **project, **placed.record, **({"auto": True} if auto else {})}
    record_installed(context.layout, offer.id, record, context.now())
    wish = offer.entry.raw.get("defaultEnabled", placed.manifest.default_enabled)
    on = wish is not False
    switch(context.places, scope, offer.id, on)
    return on


def add_dependencies(offer: Offer, placed: Placed, scope: str, request: Request, context: Context) -> str:
    """Installs what a plugin needs from its own marketplace; returns what to say about it."""
    added: list[str] = []
    missing: list[str] = []
    waiting = [(offer, placed)]
    while waiting:
        parent, copy = waiting.pop(0)
        for needed in copy.manifest.dependencies:
            needed_id = f"{needed.name}@{needed.marketplace or parent.known.name}"
            here = visible_installed(context.layout, context.places.cwd)
            there = next((one for one in here if one.id == needed_id), None)
            if there is not None:
                _check_version(there, needed.version)
                continue
            dependency = _dependency(needed_id, parent, context)
            if dependency is None:
                missing += [needed_id] if _may_come_from(needed_id, parent) else []
                continue
            accept_command(dependency, request, context)
            own = place(dependency.entry, dependency.market, dependency.known, context)
            register(dependency, own, scope, context, auto=True)
            added.append(needed.name)
            waiting.append((dependency, own))
    return _told(offer.entry.name, added, missing)


def _offer(name: str, known: Known, *, strict: bool) -> Offer | None:
    try:
        market = read_market(known)
    except PluginFailure:
        if strict:
            raise
        return None  # a bare name may still be found elsewhere
    entry = market.find(name)
    if entry is None:
        return None
    if not is_plain_word(entry.name):
        raise PluginFailure(
            f'"{entry.name}" cannot be part of a plugin id, so it cannot be installed.', "error_policy"
        )
    return Offer(entry, market, known)


def _dependency(needed_id: str, parent: Offer, context: Context) -> Offer | None:
    if not _may_come_from(needed_id, parent):
        return None
    name, market = split_id(needed_id)
    known = read_known(context.layout).get(market)
    return _offer(name, known, strict=False) if known is not None else None


def _may_come_from(needed_id: str, parent: Offer) -> bool:
    """Other marketplaces count only where a marketplace names them; about those no word is lost."""
    market = split_id(needed_id)[1]
    allowed = parent.market.raw.get("allowCrossMarketplaceDependenciesOn")
    return market == parent.known.name or (isinstance(allowed, list) and market in allowed)


def _check_version(there: Installation, wanted: str) -> None:
    if wanted and not satisfies(there.version, wanted):
        raise PluginFailure(
            f'Dependency "{there.id}" is installed at {there.version}, which does not satisfy: '
            f"{wanted}. To look for "
            f"a version in range, run `forge plugin update {there.id}`",
            "dependency_version_conflict",
        )


def _told(name: str, added: list[str], missing: list[str]) -> str:
    text = ""
    if added:
        text += f" (+ {len(added)} dependenc{'y' if len(added) == 1 else 'ies'}: {', '.join(added)})"
    for each in missing:
        text += (
            f'. Warning: dependency "{each}" was not installed (no marketplace you have added lists it). '
            f'"{name}" will not load without it'
        )
    return text


def _already(
    request: Request, context: Context, offer: Offer, there: Installation, fields: dict[str, Any]
) -> Outcome:
    if there.automatic:
        keep_on_purpose(context.layout, offer.id)
    message = f'Plugin "{offer.id}" is already installed (scope: {there.scope})'
    if offer.known.in_place and isinstance(offer.entry.source, str):
        folder = relative_path(offer.entry.source, offer.market)
        message += (
            f" — it loads in place from {folder}, so edits there take effect at the next session start or "
            "/reload-plugins"
        )
    if switch_state(context.places, offer.id) in (None, (there.scope, False)):
        message += f". It is disabled — enable it with: forge plugin enable {offer.id}"
    schema = declared_options(offer, there)
    more, note = _configure(offer.id, schema, request, context) if request.texts("--config") else ({}, "")
    available = str(offer.entry.raw.get("version") or there.version)
    versions = {"installedVersion": there.version, "availableVersion": available}
    return success(
        request, {**fields, "message": message + note, **more, **versions}, message + note, reload=bool(more)
    )


def declared_options(offer: Offer, there: Installation) -> dict[str, dict[str, Any]]:
    """The options of an installed plugin, from the folder it is read from."""
    in_place = offer.known.in_place and isinstance(offer.entry.source, str)
    folder = relative_path(offer.entry.source, offer.market) if in_place else there.path
    return entry_manifest(offer.entry, folder).options


def _configure(
    plugin_id: str, schema: dict[str, dict[str, Any]], request: Request, context: Context
) -> tuple[dict[str, Any], str]:
    """Applies --config, and counts what is still unset."""
    more: dict[str, Any] = {}
    if request.texts("--config"):
        try:
            values = read_pairs(request.texts("--config"), schema)
        except PluginFailure as error:
            return {"configApplied": False}, f"\n⚠ Installed, but --config not applied: {error.message}"
        save_options(context.places, plugin_id, values, schema)
        more["configApplied"] = True
    unset = len(schema) - len(set_keys(context.places, plugin_id, schema))
    if not unset:
        return more, ""
    more["unsetOptionCount"] = unset
    options = f"{unset} userConfig option{'' if unset == 1 else 's'}"
    return more, f"\n{options} not yet set — run /plugin configure {plugin_id}, or pass --config KEY=VALUE."


def _trusted(offer: Offer, placed: Placed, request: Request, context: Context) -> bool:
    """Shows what a plugin brings and asks; where nobody can be asked the reference just goes on."""
    if request.yes or context.ask is None:
        return True
    context.warn(describe_contents(placed.path, placed.manifest, f"{offer.id} {placed.version}"))
    return context.ask("Plugins run programs with your rights. Install and enable it?")
