from __future__ import annotations

import asyncio

import msgspec
import pytest

from doubles import CARD, RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.agent.team.crew import Seat
from forge.core.message import Aside, Message, Text


def talk(*prompts: str, counts: bool = True, depth: int = 0, before: list[Message] | None = None) -> Session:
    model = ScriptedModel([[call("Echo", "a"), call("Echo", "b")], [Text("done")]])
    model.card = msgspec.structs.replace(CARD, counts_tokens=counts)
    s = session(model, RecordingHost(), [tool("Echo", echo)])
    s.messages = list(before or [])
    s.keep(Seat).depth = depth

    async def turns() -> None:
        for prompt in prompts:
            await run_turn(s, Prompt(prompt, prompt))

    asyncio.run(turns())
    return s


def left(tokens: int, result_of: str = "") -> Aside:
    return Aside(f"<total_tokens>{tokens} tokens left</total_tokens>", result_of)


PAST = [Message("user", [Text("earlier")]), Message("assistant", [Text("said")])]
OPENED = [Message("user", [Aside("SessionStart hook additional context: hello")])]


@pytest.mark.parametrize(
    ("s", "expected"),
    [
        (talk("go", counts=False), []),
        (talk("go", "on"), [left(15_000_000), left(14_999_985, "b"), left(14_999_985)]),
        (talk("go", depth=1), [left(14_999_985, "b")]),
        (talk("go", before=PAST), [left(15_000_000), left(15_000_000, "b")]),
        (talk("go", before=OPENED), [OPENED[0].blocks[0], left(15_000_000), left(14_999_985, "b")]),
    ],
    ids=[
        "a model that is not told",
        "with prompts and after calls",
        "a sub-agent",
        "a resumed session",
        "behind what a hook said at the start",
    ],
)
def test_a_model_that_counts_hears_how_far_its_context_may_grow(s: Session, expected: list[Aside]) -> None:
    assert [b for m in s.messages for b in m.blocks if isinstance(b, Aside)] == expected
