"""What tests of sub-agents share: a model with a role per conversation, and a session that has agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from doubles import CARD, RecordingHost, ScriptedModel, allow, call, echo, session, tool
from forge.agent.drive import Patience, drive
from forge.agent.session import Prompt, Session
from forge.agent.team.agent_tools import agent_tools
from forge.core.message import Text, ToolResult
from forge.core.model import Delta, Request


class Cast:
    """A model that plays the role whose word is in the first message of the conversation."""

    def __init__(self, **roles: list[Any]) -> None:
        self.card = CARD
        self.roles = {word: ScriptedModel(turns) for word, turns in roles.items()}

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        texts = [b.text for b in request.messages[0].blocks if isinstance(b, Text)]
        role = next(model for word, model in self.roles.items() if word in "".join(texts[-2:]))
        async for delta in role.stream(request):
            yield delta

    async def close(self) -> None:
        pass

    def requests(self, word: str) -> list[Request]:
        return self.roles[word].requests


def task(prompt: str, identity: str = "call-1", **more: Any) -> Any:
    wish = {"description": "look", "prompt": prompt, "run_in_background": False, **more}
    return call("Agent", identity, **{k: v for k, v in wish.items() if v is not None})


def build(model: Any, host: RecordingHost | None = None, **facts: Any) -> Session:
    tools = [tool("Echo", echo), *facts.pop("tools", []), *agent_tools()]
    rules = facts.pop("rules", allow("Echo"))
    return session(model, host or RecordingHost(), tools, rules=rules, **facts)


def play(s: Session, text: str = "MAIN") -> Any:
    return asyncio.run(drive(s, Prompt(text, "prompt-1"), Patience(5.0, 0.0)))


def results(s: Session) -> dict[str, ToolResult]:
    blocks = [b for m in s.messages for b in m.blocks if isinstance(b, ToolResult)]
    return {b.tool_use_id: b for b in blocks}


def words(result: ToolResult) -> str:
    if isinstance(result.content, str):
        return result.content
    return "".join(b.text for b in result.content if isinstance(b, Text))
