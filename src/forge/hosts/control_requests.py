"""Control requests of a host: what each does and how it is answered."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from forge.agent.host import AskPermission
from forge.agent.prompt import system_prompt
from forge.agent.session import Structured
from forge.agent.structured import structured_output_tool
from forge.core.model import ModelCard
from forge.core.models.catalog import known_models
from forge.core.registry import Component
from forge.foundation.errors import ForgeError
from forge.foundation.permissions.modes import canonical_mode
from forge.hosts.build import Built, open_choice
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions
from forge.hosts.wire import CAPABILITIES, Record, Wire
from forge.version import COMPATIBLE_WITH, VERSION


class Refused(Exception):
    """The request cannot be carried out."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Requests:
    """Answers the control requests of one connection."""

    def __init__(self, o: RunOptions, c: Configuration, built: Built) -> None:
        self._o, self._c, self._built = o, c, built
        self._session = built.session
        self._after: list[Callable[[Wire], Record]] = []
        self._routes: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
            "initialize": self._initialize,
            "interrupt": self._interrupt,
            "set_permission_mode": self._set_mode,
            "set_model": self._set_model,
            "get_settings": self._get_settings,
            "get_binary_version": lambda r: {"version": COMPATIBLE_WITH, "forgeVersion": VERSION},
            "get_session_cost": lambda r: {"text": f"Total cost: ${self._session.ledger.cost:.4f}"},
            "mcp_status": lambda r: {"mcpServers": []},
        }

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The body of the control response."""
        subtype = request.get("subtype")
        route = self._routes.get(str(subtype))
        try:
            if route is None:
                raise Refused(f"Unsupported control request subtype: {subtype}", "unsupported_request")
            body = route(request)
        except Refused as refused:
            code = {"error_code": refused.code} if refused.code else {}
            return {"subtype": "error", "error": str(refused), **code}
        except ForgeError as error:
            return {"subtype": "error", "error": str(error)}
        return {"subtype": "success"} if body is None else {"subtype": "success", "response": body}

    def take_records(self, wire: Wire) -> list[Record]:
        """Records that follow the response of the last request."""
        made, self._after = [make(wire) for make in self._after], []
        return made

    def _initialize(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("hooks"):
            raise Refused("Hook callbacks are not supported by this version yet.", "unsupported_hooks")
        self._take_prompts(request)
        self._take_schema(request)
        choice = self._built.choice
        return {
            "commands": [],
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": [_model_row(card) for card in known_models(self._c.settings.get)],
            "account": {"apiKeySource": choice.key_source, "apiProvider": choice.card.provider},
            "pid": os.getpid(),
            "claude_code_version": COMPATIBLE_WITH,
            "forge_version": VERSION,
            "current_permission_mode": self._session.situation.mode,
            "hook_on_failure_supported": False,
            "session_state": "idle",
            "capabilities": CAPABILITIES,
            "fast_mode_state": "off",
        }

    def _take_prompts(self, request: dict[str, Any]) -> None:
        own, added = request.get("systemPrompt"), request.get("appendSystemPrompt")
        if isinstance(own, list):
            own = "\n\n".join(p for p in own if isinstance(p, str))
        own = own if isinstance(own, str) else None
        if own is not None or isinstance(added, str):
            custom = self._o.system_prompt if own is None else own
            self._session.system = system_prompt(custom, added if isinstance(added, str) else "")

    def _take_schema(self, request: dict[str, Any]) -> None:
        schema = request.get("jsonSchema")
        if isinstance(schema, dict):
            self._session.structured = Structured(schema)
            tool = structured_output_tool(self._session.structured)
            self._session.parts.tools.add(Component(tool.name, tool, tool.origin))

    def _interrupt(self, request: dict[str, Any]) -> dict[str, Any]:
        self._session.interrupt()
        return {"still_queued": []}

    def _set_mode(self, request: dict[str, Any]) -> dict[str, Any]:
        mode = canonical_mode(str(request.get("mode")))
        if mode is None:
            raise Refused(f"Invalid permission mode: {request.get('mode')}", "invalid_mode")
        launched = self._c.mode == "bypassPermissions" or self._o.allow_dangerously_skip_permissions
        if mode == "bypassPermissions" and not launched:
            raise Refused(
                "Cannot set permission mode to bypassPermissions because the session was not launched with"
                " --dangerously-skip-permissions",
                "bypass_not_launched",
            )
        self._session.situation = self._session.situation.changed(mode=mode)
        self._after.append(lambda wire: wire.system("status", status=None, permissionMode=mode))
        return {"mode": mode}

    def _set_model(self, request: dict[str, Any]) -> dict[str, Any]:
        wanted = request.get("model")
        name = wanted if isinstance(wanted, str) and wanted != "default" else None
        self._session.set_model(open_choice(self._o, self._c, name or self._o.model))
        return {"model": self._session.model.card.id}

    def _get_settings(self, request: dict[str, Any]) -> dict[str, Any]:
        settings = self._c.settings
        return {
            "effective": settings.merged,
            "sources": [{"source": layer.scope.wire, "settings": layer.data} for layer in settings.layers],
            "applied": {"model": self._session.model.card.id},
            "errors": [
                {"file": d.origin.path, "path": d.key, "message": d.message} for d in self._c.diagnostics
            ],
        }


def _model_row(card: ModelCard) -> dict[str, Any]:
    return {
        "value": card.id if card.provider == "anthropic" else card.ref,
        "resolvedModel": card.id,
        "displayName": card.label or card.id,
        "description": f"{card.provider}, {card.context_window // 1000}k context",
        "supportsEffort": bool(card.effort),
    }


def can_use_tool(question: AskPermission) -> dict[str, Any]:
    """The permission question as a host sees it."""
    call, decision = question.call, question.decision
    command = call.input.get("command")
    optional = {
        "description": command if isinstance(command, str) else None,
        "blocked_path": decision.blocked_path,
        "decision_reason": decision.reason,
        "decision_reason_type": decision.reason_type,
        "requires_user_interaction": True if decision.requires_interaction else None,
    }
    return {
        "subtype": "can_use_tool",
        "tool_name": call.name,
        "display_name": call.name,
        "input": call.input,
        "permission_suggestions": msgspec.to_builtins(decision.suggestions),
        "tool_use_id": call.id,
        **{k: v for k, v in optional.items() if v is not None},
    }
