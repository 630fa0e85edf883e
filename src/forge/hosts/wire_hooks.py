"""What hooks did, as stream-json records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent import event as ev

Record = dict[str, Any]

# Their runs are always told; those of other events only to hosts that asked for them.
_ALWAYS = ("SessionStart", "Setup")


def routes(system: Callable[..., Record], *, all_events: bool) -> dict[type, Callable[[Any], list[Record]]]:
    """The records of each event about hooks; `system` makes a system record."""

    def shown(event: str) -> bool:
        return all_events or event in _ALWAYS

    def started(e: ev.HookStarted) -> list[Record]:
        return [system("hook_started", **_names(e))] if shown(e.event) else []

    def progress(e: ev.HookProgress) -> list[Record]:
        printed = {"stdout": e.stdout, "stderr": e.stderr, "output": e.output}
        return [system("hook_progress", **_names(e), **printed)] if shown(e.event) else []

    def ended(e: ev.HookEnded) -> list[Record]:
        if not shown(e.event):
            return []
        printed = {"output": e.output, "stdout": e.stdout, "stderr": e.stderr}
        return [system("hook_response", **_names(e), **printed, exit_code=e.exit_code, outcome=e.outcome)]

    return {
        ev.HookStarted: started,
        ev.HookProgress: progress,
        ev.HookEnded: ended,
        ev.HookSaid: lambda e: [system("informational", content=e.text, level=e.level, **e.facts)],
        ev.HookNotice: lambda e: [system("notification", key=e.key, text=e.text, **e.facts)],
        ev.ScreenStale: lambda e: [system("ui_invalidate", event="ui.render")],
        ev.TitleChanged: lambda e: [system("session_title_changed", title=e.title)],
    }


def _names(e: ev.HookStarted | ev.HookProgress | ev.HookEnded) -> Record:
    return {"hook_id": e.id, "hook_name": e.name, "hook_event": e.event}
