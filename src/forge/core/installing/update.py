"""Brings an installed plugin to the version its marketplace offers now."""

from __future__ import annotations

import os
from typing import Any

from forge.core.installing.caching import Placed, mark_orphans, place
from forge.core.installing.fetch import command_of
from forge.core.installing.install import Offer, accept_command, find_offer
from forge.core.installing.marketplaces import refresh
from forge.core.installing.request import Request, success
from forge.core.installing.switches import STRENGTH
from forge.core.installing.uninstall import find_installed
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.installed import Installation, record_installed
from forge.core.plugins.known import read_known
from forge.core.plugins.layout import split_id


def update(request: Request, context: Context) -> Outcome:
    """`update PLUGIN`: the new copy takes the place of the old one, which is swept later."""
    given = request.word("plugin")
    if not request.json:
        context.say(f'Checking for updates for plugin "{given}"…\n')
    one = _installed(given, request, context)
    offer = _offer(one, request, context)
    source = offer.entry.source
    # A command that was accepted before is not asked about again.
    if not isinstance(source, dict) or one.record.get("sourceCommand") != command_of(source):
        accept_command(offer, request, context)
    placed = place(offer.entry, offer.market, offer.known, context)
    old, new = one.version, placed.version
    fields = {
        "command": "update",
        "outcome": "ok",
        "plugin": given,
        "pluginId": one.id,
        "scope": one.scope,
    }
    versions = {"oldVersion": old, "newVersion": new}
    if old == new and os.path.realpath(one.path) == os.path.realpath(placed.path):
        return _unchanged(request, one, placed, fields, versions, context)
    _record(one, placed, context)
    where = f" ({one.project})" if one.project else ""
    message = f'Plugin "{one.name}" updated from {old} to {new} for scope {one.scope}{where}. '
    message += "Restart to apply changes."
    return success(request, {**fields, "message": message, "updateOutcome": "updated", **versions}, message)


def _unchanged(
    request: Request,
    one: Installation,
    placed: Placed,
    fields: dict[str, Any],
    versions: dict[str, str],
    context: Context,
) -> Outcome:
    if placed.version == "unknown":
        # Without a version nobody can tell whether the files changed; they were copied anew.
        _record(one, placed, context)
        message = (
            f'Plugin "{one.name}" refreshed from source for scope {one.scope}. Restart to apply changes.'
        )
        state = "updated"
    else:
        message = f"{one.name} is already at the latest version ({placed.version})."
        state = "up_to_date"
    return success(
        request,
        {**fields, "message": message, "updateOutcome": state, **versions},
        message,
        reload=state == "updated",
    )


def _record(one: Installation, placed: Placed, context: Context) -> None:
    project = {"projectPath": one.project} if one.project else {}
    auto = {"auto": True} if one.automatic else {}
    record = {"scope": one.scope, **project, **placed.record, **auto}
    record_installed(context.layout, one.id, record, context.now())
    mark_orphans(context.layout, context.now())


def _installed(given: str, request: Request, context: Context) -> Installation:
    found = find_installed(given, context)
    name, market = split_id(given)
    if not found:
        if market:
            raise PluginFailure(f'Plugin "{name}" not found', "not_found", pluginId=given)
        raise PluginFailure(f'Plugin "{given}" is not installed', "not_installed")
    scope = request.scope()
    matching = [one for one in found if scope in ("", one.scope)]
    if not matching:
        raise PluginFailure(
            f'Plugin "{found[0].name}" is not installed at scope {scope}',
            "not_installed_at_scope",
            pluginId=found[0].id,
        )
    order = [*STRENGTH, "managed", ""]
    return min(matching, key=lambda one: order.index(one.scope) if one.scope in order else len(order))


def _offer(one: Installation, request: Request, context: Context) -> Offer:
    """The entry after the marketplace was refreshed; offline the old catalogue is good enough."""
    known = read_known(context.layout).get(one.market)
    if known is not None and not known.in_place:
        try:
            refresh(known, context)
        except PluginFailure as error:
            context.warn(
                f"{one.market} could not be refreshed, its copy from before is used: {error.message}\n"
            )
    return find_offer(one.id, request, context)
