"""Removes dependencies that were installed on the side and that nothing needs any more."""

from __future__ import annotations

from forge.core.installing.caching import mark_orphans
from forge.core.installing.needing import leftovers
from forge.core.installing.request import Request
from forge.core.installing.uninstall import drop
from forge.core.plugins.context import Context, Outcome
from forge.core.plugins.installed import Installation, visible_installed


def prune(request: Request, context: Context) -> Outcome:
    """`prune`: asks before it removes anything."""
    scope = request.scope("user")
    here = [one for one in visible_installed(context.layout, context.places.cwd) if one.scope == scope]
    automatic = [one for one in here if one.automatic]
    unneeded = leftovers(here, context)
    if not unneeded:
        what = f"{_count(automatic)} at {scope} scope, all still needed" if automatic else _none(scope)
        return Outcome(f"Nothing to prune ({what}).\n")
    listed = f"{_count(unneeded)} no longer needed at {scope} scope:\n"
    listed += "".join(f"  {one.id} ({one.version})\n" for one in unneeded)
    if request.on("--dry-run"):
        return Outcome(f"{listed}(dry run — nothing removed)\n")
    if not request.yes:
        if context.ask is None:
            return Outcome(f"{listed}Not a TTY — run `forge plugin prune -y` to remove.\n")
        context.say(listed)
        if not context.ask("Remove?"):
            return Outcome("Nothing was removed.\n")
    for one in unneeded:
        drop(one.id, scope, context)
    mark_orphans(context.layout, context.now())
    return Outcome(f"Removed {_count(unneeded)}: {', '.join(one.name for one in unneeded)}\n", reload=True)


def _count(plugins: list[Installation]) -> str:
    return f"{len(plugins)} auto-installed plugin{'' if len(plugins) == 1 else 's'}"


def _none(scope: str) -> str:
    return f"no auto-installed plugins at {scope} scope"
