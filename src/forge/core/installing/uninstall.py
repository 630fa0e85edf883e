"""Takes plugins away: the record, the switch, and with the last scope options, secrets and data."""

from __future__ import annotations

from forge.core.installing.caching import mark_orphans
from forge.core.installing.copying import discard
from forge.core.installing.needing import dependants, unneeded_note
from forge.core.installing.option_values import forget_options
from forge.core.installing.request import Request, success
from forge.core.installing.switches import SCOPES, switch, switches
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.installed import Installation, forget_installed, read_installed, visible_installed


def uninstall(request: Request, context: Context) -> Outcome:
    """`uninstall PLUGIN`; `--prune` also removes dependencies nothing needs any more."""
    given, scope = request.word("plugin"), request.scope("user")
    found = find_installed(given, context)
    if not found:
        raise PluginFailure(f'Plugin "{given}" not found in installed plugins', "not_installed")
    plugin_id = found[0].id
    if not any(one.scope == scope for one in found):
        raise _elsewhere(given, plugin_id, scope, [one.scope for one in found], context)
    kept = request.on("--keep-data")
    needed_by = [one.name for one in dependants(plugin_id, context)]
    drop(plugin_id, scope, context, keep_data=kept)
    mark_orphans(context.layout, context.now())
    message = f"Successfully uninstalled plugin: {found[0].name} (scope: {scope})"
    message += f" — warning: required by {', '.join(needed_by)}" if needed_by else ""
    message += unneeded_note(scope, context)
    fields = {
        "command": "uninstall",
        "outcome": "ok",
        "plugin": given,
        "pluginId": plugin_id,
        "scope": scope,
        "keptData": kept,
    }
    return success(request, fields, message)


def _elsewhere(given: str, plugin_id: str, scope: str, scopes: list[str], context: Context) -> PluginFailure:
    if "project" in scopes and switches(context.places, "project").get(plugin_id):
        return PluginFailure(
            f'Plugin "{given}" is enabled at project scope (.claude/settings.json, shared with your team). '
            f"To disable just for you: forge plugin disable {plugin_id} --scope local",
            "enabled_at_project_scope",
            installedScope="project",
        )
    return PluginFailure(
        f'Plugin "{given}" is installed in {scopes[0]} scope, not {scope}. Use --scope {scopes[0]} to '
        "uninstall.",
        "not_installed",
        installedScope=scopes[0],
    )


def find_installed(given: str, context: Context) -> list[Installation]:
    """The installations a name or id means here; the first id counts when a bare name fits several."""
    here = visible_installed(context.layout, context.places.cwd)
    found = [one for one in here if given in (one.id, one.name)]
    return [one for one in found if one.id == found[0].id]


def drop(plugin_id: str, scope: str, context: Context, *, keep_data: bool = False) -> None:
    """Removes a plugin from a scope; an empty scope means all of them, in every project."""
    cwd = context.places.cwd
    here = {one.scope: one for one in visible_installed(context.layout, cwd) if one.id == plugin_id}
    record = here[scope].record if scope in here else None

    def gone(each: str, candidate: dict[str, object]) -> bool:
        return each == plugin_id and (not scope or candidate == record)

    forget_installed(context.layout, gone)
    for each in [scope] if scope else SCOPES:
        if plugin_id in switches(context.places, each):
            switch(context.places, each, plugin_id, None)
    if any(one.id == plugin_id for one in read_installed(context.layout)):
        return
    if not keep_data:
        discard(context.layout.data(plugin_id))
    forget_options(context.places, plugin_id)
