"""Calls that a model runs itself: permitted here like all others, their results are taken over."""

from __future__ import annotations

from collections.abc import Sequence

from forge.agent.event import ToolFinished
from forge.agent.hooks.sites import before_call, rewritten
from forge.agent.permission import permit
from forge.agent.session import Session
from forge.core.message import ToolResult, ToolUse
from forge.core.model import Permission, Workplace


def workplace(s: Session) -> Workplace:
    """Where a model that runs tools itself may work in this session."""

    async def ask(call: ToolUse) -> Permission:
        return await _permission(s, call)

    return Workplace(s.situation.cwd, list(s.situation.directories), ask)


async def _permission(s: Session, call: ToolUse) -> Permission:
    """The same hooks, rules and questions as for a call that is run here."""
    tool = s.find_tool(call.name)
    if tool is None:
        return Permission(False, call.input, f"The tool {call.name} is not offered in this session.")
    hooked = await before_call(s, ToolUse(call.id, tool.name, call.input))
    if hooked.updated_input is not None and hooked.verdict != "deny":
        call, wrong = rewritten(s, call, tool, hooked.updated_input)
        if wrong is not None:
            return Permission(False, call.input, str(wrong.result.content))
    verdict = await permit(s, call, tool, hooked)
    if verdict.refused is not None:
        return Permission(False, call.input, str(verdict.refused.result.content))
    return Permission(True, verdict.call.input)


def take_results(s: Session, calls: Sequence[ToolUse], results: Sequence[ToolResult]) -> list[ToolUse]:
    """Shows and records what the model has run; the calls that are left are for Forge."""
    known = {call.id: call for call in calls}
    taken = [result for result in results if result.tool_use_id in known]
    for result in taken:
        uuid = s.parts.new_id()
        s.recorder.result(uuid, result, result.content)
        s.turn.user_events += 1
        s.emit(ToolFinished(uuid, known.pop(result.tool_use_id), result, result.content))
    if taken:
        s.add_user(list(taken))
    return list(known.values())
