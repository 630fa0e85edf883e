"""Agent mode: the CLI runs its own tools. Each of its messages is a reply of its own, with the results of its
calls; every call is permitted by Forge first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from forge.core.message import ToolUse
from forge.core.model import Delta, Finished, Retrying, ToolSpec, Workplace
from forge.core.models.claude_cli.changes import Answered, Change, Confirmed, StepStarted, TurnFinished
from forge.core.models.claude_cli.control import hook_answer
from forge.core.models.claude_cli.parts import ToolPart
from forge.core.models.claude_cli.reply import Reply
from forge.core.models.claude_cli.talk import Answers, Asked, Talk, last_reply
from forge.core.models.claude_cli.trouble import check_retry
from forge.foundation.encode import dumps

_VALUE = "StructuredOutput"


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


def value_schema(tools: Sequence[ToolSpec]) -> str:
    """The schema of the value this run has to hand over, "" if there is none."""
    found = next((tool.input_schema for tool in tools if tool.name == _VALUE), None)
    return dumps(found).decode() if found is not None else ""


async def agent_reply(talk: Talk, made_by: str) -> AsyncIterator[Delta]:
    """The next message of the CLI, with what its calls gave; raises `ModelError`."""
    reply, retry, calls = Reply(made_by), None, Calls()
    while (change := await talk.change()) is not None:
        if isinstance(change, Retrying):
            check_retry(change)
            retry = change
        if isinstance(change, TurnFinished):
            yield _without_value(last_reply(talk, reply, change))
            return
        if isinstance(change, StepStarted) and reply.ended:
            if retry is None:
                talk.put_back(change)
                break
            # The message before was broken off, and this one takes its place.
            yield retry
            reply, retry, calls = Reply(made_by), None, Calls()
        for delta in reply.take(change):
            yield delta
        calls.note(change)
        talk.waiting = bool(calls.open)
        if reply.ended and calls.settled:
            break
    else:
        raise await talk.broken_off()
    talk.running = True
    finished = _without_value(reply.finish(0.0))
    # Without calls the CLI goes on by itself, as it does after a reply that was cut off.
    yield finished if calls.names else msgspec.structs.replace(finished, stop_reason="pause_turn")


class Calls:
    """The calls of one message; `open` are those without a result."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.open: set[str] = set()

    def note(self, change: Change) -> None:
        """Takes in what a change says about a call."""
        if not isinstance(change, Confirmed | Answered) or not isinstance(change.part, ToolPart):
            return
        call = change.part
        if change.child:
            return
        if isinstance(change, Answered):
            self.open.discard(call.call_id)
        elif call.call_id not in self.names and call.status == "pending":
            self.open.add(call.call_id)
        self.names[call.call_id] = call.name

    @property
    def settled(self) -> bool:
        """All have their results and another message follows; a value that was handed over may be the end."""
        return bool(self.names) and not self.open and _VALUE not in self.names.values()


def _without_value(finished: Finished) -> Finished:
    """Leaves it to Forge to look at a value that was handed over."""
    values = {call.id for call in finished.message.calls if call.name == _VALUE}
    if not values:
        return finished
    kept = [result for result in finished.results if result.tool_use_id not in values]
    return msgspec.structs.replace(finished, results=kept)
