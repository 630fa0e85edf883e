"""Model mode: the CLI only answers. Its hook leaves every call to Forge, which runs it like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from forge.core.model import Delta, Retrying, ToolSpec
from forge.core.models.claude_cli.bridge import mcp_answer, tool_names
from forge.core.models.claude_cli.changes import Change, StepFinished, StepStarted, TurnFinished
from forge.core.models.claude_cli.control import hook_answer
from forge.core.models.claude_cli.reply import Reply
from forge.core.models.claude_cli.talk import Answers, Asked, Talk, last_reply
from forge.core.models.claude_cli.trouble import check_retry

_NOT_HERE = "Calls are run by the host."
# After any other end the CLI asks the model again by itself; what happens then is Forge's decision.
_COMPLETE = ("stop", "tool-calls")


def deferring(tools: Sequence[ToolSpec]) -> Answers:
    """Answers the CLI: here are the tools, and every call is put off."""

    async def answer(asked: Asked) -> Asked | None:
        kind = asked.get("subtype")
        if kind == "mcp_message":
            message = asked.get("message")
            return {"mcp_response": mcp_answer(message if isinstance(message, dict) else {}, tools)}
        if kind == "hook_callback":
            return hook_answer("defer")
        return {"behavior": "deny", "message": _NOT_HERE} if kind == "can_use_tool" else None

    return answer


async def model_reply(talk: Talk, made_by: str, tools: Sequence[ToolSpec]) -> AsyncIterator[Delta]:
    """The reply to what was asked last; raises `ModelError`."""
    reply, retry = Reply(made_by, names=tool_names(tools)), None
    while (change := await talk.change()) is not None:
        if isinstance(change, Retrying):
            check_retry(change)
            retry = change
        if isinstance(change, TurnFinished):
            yield last_reply(talk, reply, change)
            return
        if _goes_on(change, reply):
            if retry is None:
                talk.spent = True
                yield reply.finish()
                return
            # The message before was broken off, and this one takes its place.
            yield retry
            reply, retry = Reply(made_by, names=tool_names(tools)), None
        for delta in reply.take(change):
            yield delta
        if isinstance(change, StepFinished) and change.reason not in _COMPLETE:
            talk.spent = True
            yield reply.finish()
            return
    raise await talk.broken_off()


def _goes_on(change: Change, reply: Reply) -> bool:
    """A second message in one turn, which nobody has asked for."""
    return reply.ended and isinstance(change, StepStarted)
