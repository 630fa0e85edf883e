"""Requests that steer the session: stop, mode, model, thinking, title, tasks, end."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from forge.agent.background import Background
from forge.agent.session import Session
from forge.core.job import background_allowed
from forge.core.model import Options
from forge.foundation.errors import UsageError
from forge.foundation.permissions.modes import MODES, canonical_mode
from forge.hosts.control_seat import Refused, Request, Seat
from forge.hosts.control_waiting import lifecycle
from forge.hosts.model_choice import model_options, open_choice
from forge.hosts.wire import Record, Wire


def interrupt(seat: Seat, request: Request) -> dict[str, Any]:
    """Stops the turn; with `cancel_queued` what waits behind it as well."""
    waiting = seat.waiting
    uuids = waiting.listed()
    if request.get("cancel_queued") is not True:
        waiting.interrupt()
        return {"still_queued": uuids}
    for uuid in uuids:
        _cancel(seat, uuid)
    waiting.interrupt()
    return {"still_queued": [], "cancelled": uuids}


def cancel_async_message(seat: Seat, request: Request) -> dict[str, Any]:
    """Forgets a prompt that still waits."""
    return {"cancelled": _cancel(seat, str(request.get("message_uuid")))}


def _cancel(seat: Seat, uuid: str) -> bool:
    if not seat.waiting.cancel(uuid):
        return False
    seat.waiting.told.discard(uuid)
    seat.before.append(lambda wire: lifecycle(seat.session, uuid, "cancelled"))
    return True


def end_session(seat: Seat, request: Request) -> None:
    """Stops everything; the process ends."""
    seat.waiting.interrupt()
    seat.waiting.close(drop=True)


def set_permission_mode(seat: Seat, request: Request) -> dict[str, Any]:
    """Changes the mode; bypassing needs a session that was started for it."""
    mode = canonical_mode(str(request.get("mode")))
    if mode is None:
        known = ", ".join(sorted(MODES))
        raise Refused(f"Cannot set permission mode: must be one of {known}", "invalid_mode")
    launched = seat.c.mode == "bypassPermissions" or seat.o.allow_dangerously_skip_permissions
    if mode == "bypassPermissions" and not launched:
        raise Refused(
            "Cannot set permission mode to bypassPermissions because the session was not launched with"
            " --dangerously-skip-permissions",
            "bypass_not_launched",
        )
    if mode == "auto" and not seat.session.model.card.auto_mode:
        raise Refused(
            "Cannot set permission mode to auto: auto mode unavailable for this model", "auto_mode_model"
        )
    seat.session.situation = seat.session.situation.changed(mode=mode)
    seat.after.append(lambda wire: wire.system("status", status=None, permissionMode=mode))
    return {"mode": mode}


def set_model(seat: Seat, request: Request) -> dict[str, Any]:
    """Asks another model from the next request on; no name means the default one."""
    wanted = request.get("model")
    name = wanted if isinstance(wanted, str) and wanted and wanted != "default" else None
    use_model(seat, name)
    return {"model": seat.session.model.card.id}


def use_model(seat: Seat, name: str | None, *, named: bool = True) -> None:
    """Puts another model in; the host hears of it, also by the name it was asked for if that is `named`."""
    session = seat.session
    try:
        model = open_choice(seat.o, seat.c, name)
    except UsageError:
        if name is not None:
            raise
        model = open_choice(seat.o, seat.c, seat.o.model)
    seat.retired.append(session.model)
    session.set_model(model)
    change_options(session, model_options(seat.o, seat.c, model.card, session.id))
    resolved = model.card.id
    shown = f"{name} ({resolved})" if named and name not in (None, resolved) else resolved
    if session.messages:
        seat.before.append(partial(_said, session, f"Set model to `{shown}`"))


def change_options(session: Session, options: Options) -> None:
    """Other wishes for the model from the next request on."""
    session.parts = msgspec.structs.replace(session.parts, options=options)


def _said(session: Session, words: str, wire: Wire) -> Record:
    text = f"<local-command-stdout>{words}</local-command-stdout>"
    return wire.user(text, session.parts.new_id(), isReplay=True)


def set_max_thinking_tokens(seat: Seat, request: Request) -> None:
    """Sets the thinking budget: a number, 0 for none, null for what the session started with."""
    session = seat.session
    options = session.parts.options
    if "max_thinking_tokens" in request:
        budget = request["max_thinking_tokens"]
        if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 0):
            raise Refused("set_max_thinking_tokens: max_thinking_tokens must be a number or null")
        start = model_options(seat.o, seat.c, session.model.card, session.id)
        kind = start.thinking if budget is None else "enabled" if budget else "disabled"
        tokens = start.thinking_budget if budget is None else budget or None
        options = msgspec.structs.replace(options, thinking=kind, thinking_budget=tokens)
    display = request.get("thinking_display")
    if display in ("summarized", "omitted"):
        options = msgspec.structs.replace(options, thinking_display=display)
    change_options(session, options)


def rename_session(seat: Seat, request: Request) -> None:
    """Gives the session a title."""
    title = seat.text(request, "title").strip()
    if request.get("session_id") not in (None, seat.session.id):
        raise Refused("rename_session: this process runs another session")
    seat.session.recorder.side("custom-title", customTitle=title)
    seat.before.append(lambda wire: wire.system("session_title_changed", title=title))


def stop_task(seat: Seat, request: Request) -> dict[str, Any]:
    """Stops a background job; one that is unknown or over is no error."""
    seat.session.keep(Background).stop(str(request.get("task_id")))
    return {}


def background_tasks(seat: Seat, request: Request) -> dict[str, Any]:
    """Lets calls go on without what they wait for: all of them, or the one named."""
    if not background_allowed(seat.session.parts.env):
        raise Refused("Background tasks are disabled (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS)")
    named = request.get("tool_use_id")
    left = seat.session.keep(Background).leave(named if isinstance(named, str) else "")
    return {"backgrounded": left} if isinstance(named, str) else {}


def acknowledge(seat: Seat, request: Request) -> dict[str, Any]:
    """Says yes where nothing is to be done."""
    return {}


def no_title(seat: Seat, request: Request) -> dict[str, Any]:
    """Forge does not spend model requests on titles."""
    return {"title": None}
