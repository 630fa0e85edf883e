"""A live CLI: how long it may be silent, and what it is told while it works."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fake_claude import Line, call, init, message, text, tool_result
from forge.core.message import Text, ToolResult, ToolUse
from forge.core.model import Delta, Finished, Permission, Workplace
from forge.core.models.claude_cli.agent_mode import agent_reply, asking
from forge.core.models.claude_cli.process import Cli, Stalled
from forge.core.models.claude_cli.talk import Answers, Talk


class Script(Cli):
    """Prints prepared pieces; a number between them is how many answers it waits for first."""

    def __init__(self, *pieces: list[Line] | int) -> None:
        self.pieces = list(pieces)
        self.patience: list[float | None] = []
        self.sent: list[Any] = []
        self._answered = asyncio.Semaphore(0)

    async def read(self, seconds: float | None = None) -> bytes:
        self.patience.append(seconds)
        await asyncio.sleep(0)
        while self.pieces and isinstance(count := self.pieces[0], int):
            for _ in range(count):
                await self._answered.acquire()
            self.pieces.pop(0)
        lines = self.pieces.pop(0) if self.pieces else []
        return (
            b"".join(json.dumps(line).encode() + b"\n" for line in lines) if isinstance(lines, list) else b""
        )

    def send(self, message: Any) -> None:
        self.sent.append(message)
        self._answered.release()


def talk_with(script: Script, answers: Answers) -> Talk:
    return Talk(script, answers, key=None, idle=7.0)


def wants(number: int) -> Line:
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": f"toolu_{number}", "input": {}}
    return {"type": "control_request", "request_id": f"r{number}", "request": asked}


async def permit(asked: ToolUse) -> Permission:
    return Permission(True, asked.input)


PLACE = Workplace("/", [], permit)
CALLS = message([call("Bash", 1), call("Bash", 2)], reason="tool_use")


async def everything(talk: Talk) -> list[Delta]:
    return [delta async for delta in agent_reply(talk, "claude-code/sonnet")]


def test_it_may_be_silent_only_while_a_call_runs_or_somebody_is_asked() -> None:
    async def run() -> list[float | None]:
        script = Script(
            [init()], CALLS[:3], CALLS[3:], [wants(1)], 1, [tool_result(1, "a")], [tool_result(2, "b")]
        )
        await everything(talk_with(script, asking(PLACE)))
        return script.patience

    # The start, the first words; then calls without results.
    assert asyncio.run(run()) == [7.0, 7.0, 7.0, None, None, None]


def test_all_results_of_a_message_end_the_reply_at_once() -> None:
    async def run() -> tuple[Delta, bool]:
        script = Script(
            [*CALLS, tool_result(2, "b"), tool_result(1, "a", is_error=True), *message([text("x")], 2)]
        )
        talk = talk_with(script, asking(PLACE))
        return (await everything(talk))[-1], talk.running

    last, running = asyncio.run(run())
    assert isinstance(last, Finished)
    assert last.results == [ToolResult("toolu_2", "b"), ToolResult("toolu_1", "a", True)]
    assert running


def test_while_it_works_results_are_known_reminders_wait_and_prompts_are_refused() -> None:
    async def run() -> tuple[list[bool], list[Any]]:
        script = Script()
        talk = talk_with(script, asking(PLACE))
        talk.running = True
        reminder = Text("<system-reminder>x</system-reminder>")
        told = [talk.tell([ToolResult("t", "a"), reminder]), talk.tell([ToolResult("t", "a"), Text("stop")])]
        talk.running, talk.untold = False, [reminder]
        told.append(talk.tell([Text("next")]))
        return told, [line["message"]["content"] for line in script.sent]

    told, sent = asyncio.run(run())
    assert told == [True, False, True]
    assert sent == [[Text("<system-reminder>x</system-reminder>"), Text("next")]]


def test_a_question_that_was_withdrawn_is_not_answered() -> None:
    async def run() -> list[Any]:
        asked = asyncio.Event()

        async def forever(request: dict[str, Any]) -> dict[str, Any] | None:
            asked.set()
            await asyncio.Event().wait()
            return None

        cancel = {"type": "control_cancel_request", "request_id": "r1"}
        script = Script([wants(1)], [cancel], [init()])
        talk = talk_with(script, forever)
        await talk.change()
        await asyncio.sleep(0)
        return script.sent

    assert asyncio.run(run()) == []


def test_a_guard_that_fails_refuses() -> None:
    async def run() -> list[Any]:
        async def fail(request: dict[str, Any]) -> dict[str, Any] | None:
            raise ValueError("broken")

        script = Script([wants(1)], 1, [init()])
        await talk_with(script, fail).change()
        return script.sent

    (answer,) = asyncio.run(run())
    assert (answer["response"]["subtype"], answer["response"]["request_id"]) == ("error", "r1")


def test_what_happened_while_nobody_asked_makes_it_unusable() -> None:
    async def run(*pieces: list[Line]) -> bool:
        return await talk_with(Idle(*pieces), asking(PLACE)).is_ready()

    assert asyncio.run(run())
    assert asyncio.run(run([{"type": "system", "subtype": "status", "status": None}]))
    assert not asyncio.run(run([init(), *message([text("woke up")])]))
    assert not asyncio.run(run([], []))


class Idle(Script):
    """Has printed these pieces and waits; an empty one is its end."""

    async def read(self, seconds: float | None = None) -> bytes:
        if not self.pieces:
            raise Stalled
        return await super().read(seconds)
