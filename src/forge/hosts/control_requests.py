"""Control requests of a host: which function answers which, and the envelope of the answers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from forge.foundation.errors import ForgeError
from forge.hosts.control_seat import Refused, Reply, Request, Seat
from forge.hosts.wire import Record, Wire

# A route is imported when the first such request comes: most runs need one or two of them.
ROUTES = {
    "initialize": "control_initialize:initialize",
    "interrupt": "control_session:interrupt",
    "cancel_async_message": "control_session:cancel_async_message",
    "end_session": "control_session:end_session",
    "set_permission_mode": "control_session:set_permission_mode",
    "set_model": "control_session:set_model",
    "set_max_thinking_tokens": "control_session:set_max_thinking_tokens",
    "rename_session": "control_session:rename_session",
    "stop_task": "control_session:stop_task",
    "background_tasks": "control_session:background_tasks",
    "set_color": "control_session:acknowledge",
    "set_has_subscribers": "control_session:acknowledge",
    "generate_session_title": "control_session:no_title",
    "apply_flag_settings": "control_settings:apply_flag_settings",
    "update_settings": "control_settings:update_settings",
    "get_settings": "control_settings:get_settings",
    "list_permission_rules": "control_settings:list_permission_rules",
    "register_repo_root": "control_settings:register_repo_root",
    "get_binary_version": "control_facts:get_binary_version",
    "get_session_cost": "control_facts:get_session_cost",
    "get_usage": "control_facts:get_usage",
    "get_context_usage": "control_facts:get_context_usage",
    "list_models": "control_facts:list_models",
    "get_hooks_listing": "control_facts:get_hooks_listing",
    "reload_skills": "parts.rows:reload_skills",
    "reload_plugins": "parts.rows:reload_plugins",
    "reload_output_styles": "parts.rows:reload_output_styles",
    "read_file": "control_files:read_file",
    "seed_read_state": "control_files:seed_read_state",
    "file_suggestions": "control_files:file_suggestions",
    "get_task_output": "control_files:get_task_output",
    "rewind_files": "control_rewind:rewind_files",
    "mcp_status": "control_mcp:mcp_status",
    "mcp_message": "control_mcp:mcp_message",
    "mcp_read_resource": "control_mcp:unsupported",
    "set_mcp_permission_mode_override": "control_mcp:set_permission_mode_override",
}

# These wait for a server, and other messages of the host are read meanwhile.
SLOW = {
    "mcp_set_servers": "control_mcp:mcp_set_servers",
    "mcp_toggle": "control_mcp:mcp_toggle",
    "mcp_reconnect": "control_mcp:mcp_reconnect",
    "mcp_call": "control_mcp:mcp_call",
}


def respond(seat: Seat, request_id: str, request: Request, wire: Wire) -> list[Record]:
    """Carries out a request: the records that precede the response, the response, those that follow."""
    answer = _answer(seat, request)
    response = {**answer, "request_id": request_id, **seat.siblings}
    before = [make(wire) for make in seat.before]
    after = [make(wire) for make in seat.after]
    seat.before, seat.after, seat.siblings = [], [], {}
    return [*before, {"type": "control_response", "response": response}, *after]


async def respond_slowly(seat: Seat, request_id: str, request: Request) -> Record:
    """The response to a request of SLOW, as soon as there is one."""
    try:
        answer = _success(await _route(SLOW[str(request["subtype"])])(seat, request))
    except (Refused, ForgeError) as error:
        answer = _failure(error)
    return {"type": "control_response", "response": {**answer, "request_id": request_id}}


def _answer(seat: Seat, request: Request) -> dict[str, Any]:
    subtype = str(request.get("subtype"))
    try:
        if subtype not in ROUTES:
            raise Refused(f"Unsupported control request subtype: {subtype}", "unsupported_request")
        return _success(_route(ROUTES[subtype])(seat, request))
    except (Refused, ForgeError) as error:
        return _failure(error)


def _success(body: Reply) -> dict[str, Any]:
    return {"subtype": "success"} if body is None else {"subtype": "success", "response": body}


def _failure(error: Refused | ForgeError) -> dict[str, Any]:
    code = {"error_code": error.code} if isinstance(error, Refused) and error.code else {}
    return {"subtype": "error", "error": str(error), **code}


def _route(name: str) -> Callable[[Seat, Request], Any]:
    module, _, function = name.partition(":")
    route: Callable[[Seat, Request], Any] = getattr(import_module(f"forge.hosts.{module}"), function)
    return route
