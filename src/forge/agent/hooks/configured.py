"""All hooks of a session by event: settings layers, plugins, skills and agents added up and de-duplicated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.agent.hooks.hook import Hook
from forge.agent.hooks.matching import matches
from forge.core.components.kinds import HookSource
from forge.foundation.settings_hooks import judge_hooks


def hooks_of(source: HookSource, agent_id: str = "") -> list[Hook]:
    """The usable handlers of one source; the end of an agent that brings hooks is a SubagentStop."""
    found: list[Hook] = []
    for event, groups in judge_hooks(source.events).hooks.items():
        named = "SubagentStop" if agent_id and event == "Stop" else event
        for group in groups:
            found += [_hook(source, (named, group.get("matcher", "")), h, agent_id) for h in group["hooks"]]
    return found


def _hook(source: HookSource, where: tuple[str, str], fields: dict[str, Any], agent_id: str) -> Hook:
    return Hook(*where, fields["type"], fields, source.origin, source.plugin, source.base, agent_id)


def select(hooks: Sequence[Hook], event: str, value: str | None) -> list[Hook]:
    """Those of an event's hooks whose matcher accepts the value; without one, all of them."""
    return [h for h in hooks if value is None or matches(h.matcher, value, event)]


def without_repeats(hooks: Sequence[Hook]) -> list[Hook]:
    """Equal handlers of the settings run once, with the fields of the last; plugins count on their own."""
    kept: dict[tuple[object, ...], Hook] = {}
    for hook in hooks:
        kept[_identity(hook)] = hook
    return list(kept.values())


def _identity(hook: Hook) -> tuple[object, ...]:
    if hook.kind == "callback":
        return (id(hook),)
    fields = hook.fields
    arguments = tuple(fields["args"]) if "args" in fields else None
    owner = (hook.plugin.id if hook.plugin else "", hook.base, hook.agent_id)
    return (hook.kind, hook.label, fields.get("if"), arguments, fields.get("shell"), owner)
