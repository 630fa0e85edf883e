"""Agent mode: the CLI runs its own tools. Each of its messages is a reply of its own, with the results of its
calls; every call is permitted by Forge first."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from forge.core.message import ToolUse
from forge.core.model import Delta, Retrying, Workplace
from forge.core.models.claude_cli.changes import Answered, Change, Confirmed, StepStarted, TurnFinished
from forge.core.models.claude_cli.control import hook_answer
from forge.core.models.claude_cli.parts import ToolPart
from forge.core.models.claude_cli.reply import Reply
from forge.core.models.claude_cli.talk import Answers, Asked, Talk, last_reply
from forge.core.models.claude_cli.trouble import check_retry


def asking(place: Workplace) -> Answers:
    """Answers the CLI: every call is a question, and Forge decides."""

    async def answer(asked: Asked) -> Asked | None:
        kind = asked.get("subtype")
        if kind == "hook_callback":
            # What the CLI would allow by itself is asked about as well.
            return hook_answer("ask")
        if kind != "can_use_tool":
            return None
        name, call_id, given = asked.get("tool_name"), asked.get("tool_use_id"), asked.get("input")
        call = ToolUse(str(call_id or ""), str(name or ""), given if isinstance(given, dict) else {})
        permission = await place.permit(call)
        if not permission.allowed:
            return {"behavior": "deny", "message": permission.message}
        return {"behavior": "allow", "updatedInput": permission.input}

    return answer


async def agent_reply(talk: Talk, made_by: str) -> AsyncIterator[Delta]:
    """The next message of the CLI, with what its calls gave; raises `ModelError`."""
    reply, retry = Reply(made_by), None
    calls: dict[str, bool] = {}
    while (change := await talk.change()) is not None:
        if isinstance(change, Retrying):
            check_retry(change)
            retry = change
        if isinstance(change, TurnFinished):
            yield last_reply(talk, reply, change)
            return
        if isinstance(change, StepStarted) and reply.ended:
            if retry is None:
                talk.put_back(change)
                break
            # The message before was broken off, and this one takes its place.
            yield retry
            reply, retry, calls = Reply(made_by), None, {}
        for delta in reply.take(change):
            yield delta
        _note_call(calls, change)
        talk.waiting = not all(calls.values())
        if reply.ended and calls and not talk.waiting:
            break
    else:
        raise await talk.broken_off()
    talk.running = True
    finished = reply.finish(0.0)
    # Without calls the CLI goes on by itself, as it does after a reply that was cut off.
    yield finished if calls else msgspec.structs.replace(finished, stop_reason="pause_turn")


def _note_call(calls: dict[str, bool], change: Change) -> None:
    """Keeps which calls of this message have their result."""
    if isinstance(change, Confirmed | Answered) and isinstance(change.part, ToolPart) and not change.child:
        calls[change.part.call_id] = isinstance(change, Answered) or calls.get(change.part.call_id, False)
