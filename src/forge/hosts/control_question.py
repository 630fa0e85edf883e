"""The permission question to a host, and its answer."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.host import Allow, Answer, AskPermission, Refuse
from forge.agent.session import Session
from forge.core.mcp.names import shown
from forge.core.message import ToolUse

CLOSED = "Tool permission request failed: AbortError: Tool permission stream closed before response received"
INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
    " updatedPermissions may hold at most 4096 updates, rules and directories in all."
)


# What a call is about, in a few words of its own input: the first of these keys that is there.
_ABOUT = {
    "Agent": ("description",),
    "Monitor": ("description",),
    "Read": ("file_path",),
    "Write": ("file_path",),
    "Edit": ("file_path",),
    "NotebookEdit": ("notebook_path",),
    "WebFetch": ("url",),
    "WebSearch": ("query",),
    "Glob": ("pattern",),
    "Grep": ("pattern",),
}
_KINDS = ("user_temporary", "user_permanent", "user_reject")
_COMMAND = ("description", "command")


async def ask_elsewhere(s: Session | None, tool: str | None, question: AskPermission) -> Answer:
    """The answer where the host is not asked: of a tool for that purpose, if there is one, otherwise no."""
    if s is None or tool in (None, "", "stdio"):
        return Refuse(question.decision.message, asked=False)
    answer: Answer = await import_module("forge.hosts.prompt_tool").ask_tool(s, tool, question)
    return answer


def can_use_tool(question: AskPermission, s: Session) -> dict[str, Any]:
    """The permission question as a host sees it."""
    call, decision = question.call, question.decision
    tool = s.find_tool(call.name)
    server = tool.remote if tool is not None else None
    offered = msgspec.to_builtins(decision.suggestions)
    optional = {
        "mcp_server": {"name": server.server, "source": server.source} if server is not None else None,
        "description": _about(call, s.situation.cwd),
        "blocked_path": decision.blocked_path,
        "decision_reason": decision.reason,
        "decision_reason_type": decision.reason_type,
        "agent_id": question.agent_id or None,
        "requires_user_interaction": True if decision.requires_interaction else None,
    }
    return {
        "subtype": "can_use_tool",
        "tool_name": call.name,
        "display_name": shown(server.tool) if server is not None else call.name,
        "input": call.input,
        # Only of a command it is said that there is nothing to suggest.
        **({"permission_suggestions": offered} if offered or "command" in call.input else {}),
        "tool_use_id": call.id,
        **{k: v for k, v in optional.items() if v is not None},
    }


def _about(call: ToolUse, cwd: str) -> str | None:
    keys: tuple[str, ...] = _ABOUT.get(call.name, _COMMAND if "command" in call.input else ())
    words = next((w for key in keys if isinstance(w := call.input.get(key), str) and w), None)
    if words is None or not keys[0].endswith("_path"):
        return words
    inside = os.path.relpath(words, cwd)
    return words if inside.startswith("..") else inside


def read_answer(answer: dict[str, Any]) -> Answer:
    """What the host said; anything unreadable is a refusal."""
    behavior, message = answer.get("behavior"), answer.get("message")
    named = answer.get("decisionClassification")
    kind = named if named in _KINDS else ""
    if behavior == "allow":
        updated, updates = answer.get("updatedInput"), answer.get("updatedPermissions")
        changed = updated if isinstance(updated, dict) else None
        return Allow(changed, updates if isinstance(updates, list) else [], kind)
    if behavior != "deny" or not isinstance(message, str):
        return Refuse(INVALID)
    return Refuse(message, interrupt=answer.get("interrupt") is True, kind=kind)
