"""`forge hooks list`: every hook that is configured anywhere, whether it counts, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from forge.agent.hooks.configured import hooks_of, without_repeats
from forge.agent.hooks.hook import Hook
from forge.core.components.catalog import Catalog
from forge.core.components.kinds import HookSource
from forge.foundation.hookspec import EVENTS, HOOKS
from forge.foundation.origin import Origin, Scope
from forge.hosts.cli.command import Arguments, print_json
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import Configuration
from forge.hosts.hook_sources import extra_files, only_managed, plugins_only, switched_off, why_not
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components

ACTIVE, WAITING, DROPPED = "active", "waiting", "dropped"
UNTRUSTED = "the project is not trusted; `forge trust` changes that"


class Listed(msgspec.Struct, frozen=True):
    """One hook. `state` is active, waiting (for a skill or agent to be used) or dropped; `why` says more."""

    event: str
    matcher: str
    type: str
    command: str
    scope: str
    path: str
    state: str
    why: str = ""
    plugin: str = ""
    condition: str = ""
    timeout: float = 0


class Broken(msgspec.Struct, frozen=True):
    """An entry that could not be used at all."""

    path: str
    key: str
    why: str


def show(o: RunOptions, c: Configuration, event: str, given: Arguments) -> int:
    """Prints the list."""
    components = Components(o, c)
    rows = [row for row in listed(o, c, components.catalog) if event in ("", row.event)]
    broken = [b for b in unusable(c) if not event or b.key.split(".")[1:2] == [event]]
    if given.on("json"):
        print_json({"trusted": c.trusted, "hooks": rows, "unusable": broken})
        return 0
    _print(open_screen(c.env, plain=given.on("no_color")), c, rows, broken)
    return 0


def listed(o: RunOptions, c: Configuration, catalog: Catalog) -> list[Listed]:
    """All hooks in the order of the table of events."""
    found = [*_of_settings(o, c), *_of_plugins(o, c, catalog), *_of_components(c, catalog)]
    order = {name: n for n, name in enumerate(EVENTS)}
    return sorted(found, key=lambda row: order[row.event])


def unusable(c: Configuration) -> list[Broken]:
    """What settings files say about hooks and nobody understands."""
    return [
        Broken(str(d.origin), d.key, d.message)
        for d in c.diagnostics
        if d.key == "hooks" or d.key.startswith("hooks.")
    ]


def _of_settings(o: RunOptions, c: Configuration) -> Iterator[Listed]:
    off = _bare(o)
    found: list[tuple[Hook, str]] = []
    for layer in c.settings.layers:
        events = layer.data.get("hooks")
        if isinstance(events, dict):
            why = off or why_not(c, layer)
            found += [(hook, why) for hook in hooks_of(HookSource(layer.origin, events))]
    for source in extra_files(msgspec.structs.replace(c, trusted=True)):
        why = off or _why_not_extra(c, source.origin)
        found += [(hook, why) for hook in hooks_of(source)]
    running: dict[str, list[Hook]] = {}
    for hook, why in found:
        if not why:
            running.setdefault(hook.event, []).append(hook)
    kept = {id(hook): hook for hooks in running.values() for hook in without_repeats(hooks)}
    for hook, why in found:
        again = None if why or id(hook) in kept else _again(hook, list(kept.values()))
        if again is None:
            yield _row(hook, why)
        elif again.matcher == hook.matcher:
            yield _row(hook, f"the same hook is defined again in {again.origin}, which counts")
        else:
            yield _row(hook, f"runs once where the same hook of {again.origin} matches too", ACTIVE)


def _of_plugins(o: RunOptions, c: Configuration, catalog: Catalog) -> Iterator[Listed]:
    why = _bare(o) or ("disableAllHooks" if switched_off(c) else "")
    why = why or ("allowManagedHooksOnly" if only_managed(c) else "")
    for source in catalog.hooks:
        for hook in hooks_of(source):
            yield _row(hook, why)


def _of_components(c: Configuration, catalog: Catalog) -> Iterator[Listed]:
    """Hooks that skills and agents bring along when they are used."""
    for found in catalog.skills:
        skill = found.value
        for hook in hooks_of(HookSource(found.origin, skill.hooks, skill.plugin, skill.root)):
            yield _row(hook, f"from the first use of the skill {skill.name}", WAITING)
    for agent in catalog.agents:
        kind = agent.value
        refused = UNTRUSTED if agent.origin.scope is Scope.PROJECT and not c.trusted else ""
        for hook in hooks_of(HookSource(agent.origin, kind.hooks, kind.plugin), kind.name):
            state = DROPPED if refused else WAITING
            yield _row(hook, refused or f"while the agent {kind.name} runs", state)


def _row(hook: Hook, why: str, state: str = "") -> Listed:
    if not why and hook.kind not in HOOKS[hook.event].handlers:
        why = f"{hook.kind} hooks are not supported for {hook.event}"
    return Listed(
        event=hook.event,
        matcher=hook.matcher,
        type=hook.kind,
        command=hook.label,
        scope=hook.origin.scope.value,
        path=hook.origin.path,
        state=state or (DROPPED if why else ACTIVE),
        why=why,
        plugin=hook.plugin.id if hook.plugin else hook.origin.plugin,
        condition=str(hook.fields.get("if", "")),
        timeout=float(hook.fields.get("timeout", 0)),
    )


def _bare(o: RunOptions) -> str:
    return "--bare" if o.bare else "--safe-mode" if o.safe_mode else ""


def _why_not_extra(c: Configuration, origin: Origin) -> str:
    if switched_off(c):
        return "disableAllHooks"
    if only_managed(c):
        return "allowManagedHooksOnly"
    if plugins_only(c):
        return "strictPluginOnlyCustomization"
    return UNTRUSTED if origin.scope is Scope.PROJECT and not c.trusted else ""


def _again(hook: Hook, kept: list[Hook]) -> Hook | None:
    same = [k for k in kept if k.event == hook.event and len(without_repeats([hook, k])) == 1]
    return same[0] if same else None


def _print(screen: Screen, c: Configuration, rows: list[Listed], broken: list[Broken]) -> None:
    event = ""
    for row in rows:
        if row.event != event:
            event = row.event
            screen.line(f"{event}  ({HOOKS[event].about})", "bold")
        matcher = f"{row.matcher}  " if row.matcher else ""
        condition = f"  if {row.condition}" if row.condition else ""
        sign = (
            screen.signs["ok"] if row.state == ACTIVE else screen.signs["no"] if row.state == DROPPED else "-"
        )
        screen.line(f"  {sign} {matcher}{row.type}: {row.command}{condition}")
        source = f"{row.scope}: {row.plugin or row.path}".rstrip(": ")
        screen.line(f"      {source}" + (f"; {row.why}" if row.why else ""), "dim")
    if not rows:
        screen.say("No hooks are configured.")
    for entry in broken:
        screen.line(f"{entry.path}: {entry.key}: {entry.why}", "yellow")
    if not c.trusted and any(row.scope in ("project", "local") for row in rows):
        screen.say(
            "This project is not trusted: with a screen, hooks of its files run only after you have trusted "
            "it. `forge -p` runs those of its settings files, as the reference does."
        )
