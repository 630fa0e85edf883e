"""Switches plugins on and off, in the scope where they are, without breaking what others need."""

from __future__ import annotations

from forge.core.installing.install_path import local_root
from forge.core.installing.needing import all_dependants, dependants
from forge.core.installing.request import Request, success
from forge.core.installing.switches import LOCAL_ORIGIN, SCOPES, STRENGTH, switch, switch_state, switches
from forge.core.installing.uninstall import find_installed
from forge.core.plugins.candidates import SKILLS
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.layout import split_id
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.settings import write_setting


def enable(request: Request, context: Context) -> Outcome:
    """`enable PLUGIN`; for a plugin from a path this is the moment it is trusted."""
    return _turn(request, context, request.word("plugin"), on=True)


def disable(request: Request, context: Context) -> Outcome:
    """`disable PLUGIN` or `disable --all`."""
    if request.on("--all"):
        return _disable_all(request, context)
    if not request.words:
        raise UsageError("Please specify a plugin name or use --all to disable all plugins")
    return _turn(request, context, request.words[0], on=False)


def _turn(request: Request, context: Context, given: str, *, on: bool) -> Outcome:
    word = "enable" if on else "disable"
    plugin_id, scope = _target(given, request, context)
    name = split_id(plugin_id)[0]
    if _is_so(plugin_id, scope, request, context, on=on):
        where = f" at {scope} scope" if request.scope() else ""
        raise PluginFailure(
            f'Plugin "{given}" is already {word}d{where}', "already_in_goal_state", alreadyInGoalState=True
        )
    if not on:
        _refuse_if_needed(plugin_id, name, context)
    of_skills = plugin_id.endswith(f"@{SKILLS}")
    # A folder of skills is on by itself: to switch it on is to take back that it is off.
    switch(context.places, scope, plugin_id, None if on and of_skills else on)
    _follow_own_setting(name, on, context)
    fields = {"command": word, "outcome": "ok", "plugin": given, "pluginId": plugin_id, "scope": scope}
    where = "" if of_skills else f" (scope: {scope})"
    return success(request, fields, f"Successfully {word}d plugin: {name}{where}")


def _is_so(plugin_id: str, scope: str, request: Request, context: Context, *, on: bool) -> bool:
    """Whether nothing is to be done. A stronger scope may always be given its own word, a weaker one not."""
    before = switch_state(context.places, plugin_id)
    if not request.scope() or before is None or before[0] == scope:
        default = plugin_id.endswith(f"@{SKILLS}")
        now = before[1] if before else switches(context.places, scope).get(plugin_id, default)
        return now is on
    if STRENGTH.index(scope) > STRENGTH.index(before[0]):
        raise PluginFailure(
            f'Plugin "{plugin_id}" is installed at {before[0]} scope, not {scope}. Use --scope {before[0]} '
            "or omit --scope to auto-detect.",
            "not_installed_at_scope",
            installedScope=before[0],
        )
    return False


def _target(given: str, request: Request, context: Context) -> tuple[str, str]:
    """The id and scope that are meant; without --scope the strongest one that mentions the plugin."""
    asked = request.scope()
    found = find_installed(given, context)
    plugin_id = found[0].id if found else given
    name, market = split_id(plugin_id)
    if not market and local_root(name, context):
        plugin_id = f"{name}{LOCAL_ORIGIN}"
    elif not market:
        mentioned = [
            key for scope in SCOPES for key in switches(context.places, scope) if split_id(key)[0] == name
        ]
        if not mentioned:
            raise PluginFailure(
                f'Plugin "{given}" not found in any editable settings scope. Use plugin@marketplace format.',
                "ambiguous_marketplace",
            )
        plugin_id = mentioned[0]
    state = switch_state(context.places, plugin_id)
    scopes = [one.scope for one in found if one.scope in SCOPES]
    scope = asked or (state[0] if state else min(scopes, key=STRENGTH.index, default="user"))
    return plugin_id, scope


def _refuse_if_needed(plugin_id: str, name: str, context: Context) -> None:
    needed_by = dependants(plugin_id, context)
    if not needed_by:
        return
    names = [one.name for one in needed_by]
    these = "that plugin" if len(needed_by) == 1 else "those plugins"
    first = all_dependants(plugin_id, context)
    together = " && ".join(f"forge plugin disable {each}" for each in [*first, plugin_id])
    raise PluginFailure(
        f"{name} is still required by {', '.join(names)}. Disable {these} first, or disable everything "
        f"together: {together}",
        "required_by_dependents",
        reverseDependents=names,
        disableFirst=first,
    )


def _disable_all(request: Request, context: Context) -> Outcome:
    count = 0
    for scope in SCOPES:
        for plugin_id, value in switches(context.places, scope).items():
            if value:
                switch(context.places, scope, plugin_id, False)
                count += 1
    message = (
        f"Disabled {count} plugin{'' if count == 1 else 's'}" if count else "No enabled plugins to disable"
    )
    return success(request, {"command": "disable", "outcome": "ok", "all": True}, message, reload=bool(count))


def _follow_own_setting(name: str, on: bool, context: Context) -> None:
    """A switch of the form `plugins.NAME.enabled` must not contradict the other one."""
    own = context.setting("plugins", {})
    entry = own.get(name) if isinstance(own, dict) else None
    if isinstance(entry, dict) and isinstance(entry.get("enabled"), bool) and entry["enabled"] is not on:
        write_setting(context.places, Scope.USER, ("plugins", name, "enabled"), on)
