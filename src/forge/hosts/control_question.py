"""The permission question to a host, and its answer."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.host import Allow, Answer, AskPermission, Refuse

CLOSED = "Tool permission request failed: AbortError: Tool permission stream closed before response received"
_INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
)


def can_use_tool(question: AskPermission) -> dict[str, Any]:
    """The permission question as a host sees it."""
    call, decision = question.call, question.decision
    what = call.input.get("description" if call.name == "Monitor" else "command")
    optional = {
        "description": what if isinstance(what, str) else None,
        "blocked_path": decision.blocked_path,
        "decision_reason": decision.reason,
        "decision_reason_type": decision.reason_type,
        "agent_id": question.agent_id or None,
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


def read_answer(answer: dict[str, Any]) -> Answer:
    """What the host said; anything unreadable is a refusal."""
    behavior, message = answer.get("behavior"), answer.get("message")
    if behavior == "allow":
        updated, updates = answer.get("updatedInput"), answer.get("updatedPermissions")
        changed = updated if isinstance(updated, dict) else None
        return Allow(changed, updates if isinstance(updates, list) else [])
    if behavior != "deny" or not isinstance(message, str):
        return Refuse(_INVALID)
    return Refuse(message, interrupt=answer.get("interrupt") is True)
