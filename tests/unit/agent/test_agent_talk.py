from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, echo, session, tool
from forge.agent.drive import Patience, drive
from forge.agent.event import JobEnded
from forge.agent.session import Prompt, Session
from forge.agent.team.agent_tools import agent_tools
from forge.agent.team.crew import Crew
from forge.core.message import Block, Text, ToolResult
from forge.core.tool import ToolContext, ToolOutput

START = {"description": "look", "prompt": "SUB"}


def build(model: ScriptedModel, host: RecordingHost, **facts: Any) -> Session:
    tools = [tool("Echo", facts.pop("echo", echo)), *agent_tools()]
    return session(model, host, tools, rules=allow("Echo"), **facts)


def play(s: Session) -> None:
    asyncio.run(drive(s, Prompt("MAIN", "p"), Patience(5.0, 0.0)))


def result(s: Session, call_id: str) -> Any:
    blocks = [b for m in s.messages for b in m.blocks if isinstance(b, ToolResult)]
    content = next(b.content for b in blocks if b.tool_use_id == call_id)
    return content if isinstance(content, str) else json.loads(str(getattr(content[0], "text", "")))


def the_id(s: Session) -> str:
    return next(iter(s.keep(Crew).members))


@pytest.mark.parametrize("kept", [True, False])
def test_an_ended_agent_goes_on_with_what_it_knew(tmp_path: Path, *, kept: bool) -> None:
    holder: list[Session] = []

    async def ask_again() -> list[Block]:
        return [call("SendMessage", "m1", to=the_id(holder[0]), message="and then?")]

    model = ScriptedModel(
        [
            [call("Agent", "c1", **START, run_in_background=False)],
            [Text("first report")],
            ask_again,
            [Text("main waits")],
            [Text("second report")],
            [Text("end")],
        ]
    )
    host = RecordingHost()
    where = {"transcript": str(tmp_path / "s.jsonl"), "results_dir": str(tmp_path / "s" / "results")}
    s = build(model, host, **(where if kept else {}))
    holder.append(s)
    play(s)
    told = model.requests[4] if len(model.requests[4].messages) == 3 else model.requests[3]
    texts = [[b.text for b in m.blocks if isinstance(b, Text)][-1] for m in told.messages]
    assert texts == ["SUB", "first report", "and then?"]
    expected = {"success": True, "message": f"Resuming agent {the_id(s)[:7]}", "resumedAgentId": the_id(s)}
    assert result(s, "m1") == expected
    assert [e.end.status for e in host.of(JobEnded)] == ["completed", "completed"]


def test_an_agent_of_an_earlier_run_is_found_on_disk(tmp_path: Path) -> None:
    where = {"transcript": str(tmp_path / "s.jsonl"), "results_dir": str(tmp_path / "s" / "results")}
    first = build(
        ScriptedModel([[call("Agent", "c1", **START, run_in_background=False)], [Text("first report")]]),
        RecordingHost(),
        **where,
    )
    play(first)
    agent_id = the_id(first)
    model = ScriptedModel([[call("SendMessage", "m1", to=agent_id, message="and then?")]])
    host = RecordingHost()
    second = build(model, host, **where)
    play(second)
    told = next(r for r in model.requests if "SUB" in str(r.messages[0].blocks[-1]))
    texts = [[b.text for b in m.blocks if isinstance(b, Text)][-1] for m in told.messages]
    assert texts == ["SUB", "first report", "and then?"]
    assert [(e.job.id, e.end.status) for e in host.of(JobEnded)] == [(agent_id, "completed")]
    assert second.keep(Crew).report()["spawned"] == 0


def test_a_running_agent_reads_a_message_after_its_next_call() -> None:
    sent = asyncio.Event()
    holder: list[Session] = []

    async def wait(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        async with asyncio.timeout(5):
            await sent.wait()
        return ToolOutput("waited")

    class Roles(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            main = "MAIN" in str(request.messages[0].blocks[-1])
            step = sum(m.role == "assistant" for m in request.messages)
            self.requests.append(request)
            async for delta in ScriptedModel([self.turn(main=main, step=step)]).stream(request):
                yield delta

        def turn(self, *, main: bool, step: int) -> list[Block]:
            if not main:
                return [call("Echo", "e1")] if step == 0 else [Text("report")]
            if step == 0:
                return [call("Agent", "c1", **START)]
            if step == 1:
                return [call("SendMessage", "m1", to=the_id(holder[0]), message="hurry")]
            sent.set()
            return [Text("main")]

    model = Roles([])
    s = build(model, RecordingHost(), echo=wait)
    holder.append(s)
    play(s)
    inner = [r for r in model.requests if "MAIN" not in str(r.messages[0].blocks[-1])]
    last = inner[-1].messages[2].blocks
    assert [b.text for b in last if isinstance(b, Text)] == ["hurry"]
    assert result(s, "m1")["message"].startswith(f"Message queued for delivery to {the_id(s)} at its next")


def test_the_agents_of_a_session_are_listed() -> None:
    model = ScriptedModel(
        [
            [call("ListAgents", "l1")],
            [call("Agent", "c1", **START, run_in_background=False)],
            [Text("report")],
            [
                call("ListAgents", "l2", q="nothing like it"),
                call("SendMessage", "m1", to="a0", message="hello"),
                call("SendMessage", "m2", to="main", message="hello"),
                call("SendMessage", "m3", to="*", message="hello"),
                call("SendMessage", "m4", to="a0"),
            ],
            [Text("end")],
        ]
    )
    s = build(model, RecordingHost())
    play(s)
    assert [result(s, name) for name in ("l1", "l2", "m1", "m2", "m3", "m4")] == [
        "No reachable agents.",
        f"Subagents (1):\n  {the_id(s)}  ·  general-purpose  ·  completed  ·  look",
        {
            "success": False,
            "message": "No agent named 'a0' is reachable.\nUse ListAgents to see everyone you can message.",
        },
        {
            "success": False,
            "message": 'You are the main conversation — "main" addresses you. Send to a named agent instead.',
        },
        '<tool_use_error>broadcast (to: "*") is no longer supported — send a message per recipient'
        "</tool_use_error>",
        "<tool_use_error>message must not be empty</tool_use_error>",
    ]
