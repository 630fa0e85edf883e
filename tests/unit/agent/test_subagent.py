from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, forever, tool
from forge.agent.background import Background
from forge.agent.event import (
    AgentProgress,
    AgentSaid,
    JobEnded,
    JobStarted,
    Noted,
    Replied,
    ToolFinished,
    TurnEnded,
)
from forge.agent.hooks.port import NOTHING, Block, Outcome, Told
from forge.agent.host import Allow, AskPermission
from forge.agent.loop import run_turn
from forge.agent.resume import load
from forge.agent.session import Prompt, Session
from forge.agent.team.child_host import ChildHost
from forge.agent.team.crew import Crew
from forge.core.job import Job, JobEnd
from forge.core.message import Aside, Text
from forge.core.model import Delta, Request
from forge.core.tool import ToolContext, ToolOutput
from forge.foundation.history.transcript import read_records
from unit.agent.casting import Cast, build, play, results, task, words


def test_a_foreground_agent_hands_back_its_report() -> None:
    model = Cast(
        MAIN=[[task("SUB find")], [Text("main end")]],
        SUB=[[call("Echo", text="x")], [Text("line 1\nline 2")]],
    )
    host = RecordingHost()
    s = build(model, host)
    ended = play(s)
    (job,) = [e.job for e in host.of(JobStarted)]
    told = words(results(s)["call-1"]).split("\n")
    assert [told[0], told[1], told[3:]] == [
        "  <tools-used-before-summary>Echo</tools-used-before-summary>",
        "  ",
        [
            "  line 1",
            "  line 2",
            f"agentId: {job.id} (use SendMessage with to: '{job.id}',"
            " summary: '<5-10 word recap>' to continue this agent)",
            "<usage>subagent_tokens: 15",
            "tool_uses: 1",
            "duration_ms: 0</usage>",
        ],
    ]
    assert told[2].startswith("[Subagent hand-back] ")
    (finished,) = [e for e in host.of(ToolFinished) if e.call.name == "Agent"]
    assert {k: finished.data[k] for k in ("status", "agentId", "agentType", "toolsUsed", "totalTokens")} == {
        "status": "completed",
        "agentId": job.id,
        "agentType": "general-purpose",
        "toolsUsed": ["Echo"],
        "totalTokens": 15,
    }
    assert (ended.result, ended.num_turns, ended.usage.input) == ("main end", 2, 20)
    assert len(job.id) == 17 and job.id.startswith("a")


def test_the_events_of_an_agent_are_tagged_and_told_in_the_order_of_the_reference() -> None:
    model = Cast(
        MAIN=[[task("SUB")], [Text("end")]], SUB=[[call("Echo", "sub-1", text="x")], [Text("report")]]
    )
    host = RecordingHost()
    play(build(model, host))
    kinds = (JobStarted, AgentSaid, AgentProgress, JobEnded)
    shown = [e for e in host.events if isinstance(e, kinds)]
    names = [type(e.event).__name__ if isinstance(e, AgentSaid) else type(e).__name__ for e in shown]
    assert names == [
        "JobStarted",
        "Noted",
        "AgentProgress",
        "Replied",
        "ToolStarted",
        "ToolFinished",
        "Replied",
        "TurnEnded",
        "JobEnded",
    ]
    (prompt,) = [e.event for e in host.of(AgentSaid) if isinstance(e.event, Noted)]
    assert prompt.text == "SUB"


def test_a_background_agent_answers_at_once_and_wakes_the_conversation() -> None:
    model = Cast(
        MAIN=[[task("SUB", run_in_background=None)], [Text("waiting")], [Text("got it")]],
        SUB=[[Text("report")]],
    )
    host = RecordingHost()
    s = build(model, host)
    ended = play(s)
    launched = words(results(s)["call-1"])
    (job,) = [e.job for e in host.of(JobStarted)]
    news = model.requests("MAIN")[2].messages[-1].blocks[-1]
    assert launched.startswith("Async agent launched successfully.") and f"agentId: {job.id}" in launched
    assert isinstance(news, Text)
    assert '<summary>Agent "look" finished</summary>' in news.text
    assert "<result>report</result>" in news.text and "<subagent_tokens>15</subagent_tokens>" in news.text
    assert ended.result == "got it"
    assert [e.end.status for e in host.of(JobEnded)] == ["completed"]
    assert [e.event.block.text for e in host.of(AgentSaid) if e.final] == ["report"]


def test_an_agent_that_is_sent_into_the_background_goes_on_there() -> None:
    holder: list[Session] = []
    moved = asyncio.Event()

    async def leave() -> list[Any]:
        assert (holder[0].keep(Background).leave("other"), holder[0].keep(Background).leave()) == (
            False,
            True,
        )
        await moved.wait()
        return [Text("report")]

    async def answer() -> list[Any]:
        moved.set()
        return [Text("waiting")]

    model = Cast(MAIN=[[task("SUB")], answer, [Text("got it")]], SUB=[leave])
    host = RecordingHost()
    s = build(model, host)
    holder.append(s)
    ended = play(s)
    assert words(results(s)["call-1"]).startswith("Async agent launched successfully.")
    assert [(e.job.backgrounded, e.moved) for e in host.of(JobStarted)] == [(False, False), (True, True)]
    assert ([e.end.status for e in host.of(JobEnded)], ended.result) == (["completed"], "got it")
    assert s.keep(Background).waited == {}


def test_news_that_waits_together_is_answered_once() -> None:
    host = RecordingHost()
    calls = [task(f"SUB{n}", f"call-{n}", run_in_background=True) for n in range(3)]
    model = Cast(MAIN=[], **{f"SUB{n}": [[Text(f"report {n}")]] for n in range(3)})
    s = build(model, host)

    async def when_all_have_ended() -> list[Any]:
        while s.keep(Crew).running():
            await asyncio.sleep(0)
        return [Text("waiting")]

    model.roles["MAIN"].turns = [calls, when_all_have_ended, [Text("got all")]]
    play(s)
    ends = [(e.result, e.num_turns, e.terminal_reason) for e in host.of(TurnEnded)]
    assert ends == [("waiting", 4, "completed"), ("", 0, ""), ("", 0, ""), ("got all", 1, "completed")]
    asked = "".join(b.text for b in model.requests("MAIN")[2].messages[-1].blocks if isinstance(b, Text))
    assert all(f"<result>report {n}</result>" in asked for n in range(3))


def test_agents_of_one_message_work_at_the_same_time() -> None:
    arrived: list[str] = []
    both = asyncio.Event()

    async def meet(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        arrived.append(args["text"])
        if len(arrived) == 2:
            both.set()
        async with asyncio.timeout(5):
            await both.wait()
        return ToolOutput("met")

    model = Cast(
        MAIN=[[task("ONE", "c1"), task("TWO", "c2")], [Text("end")]],
        ONE=[[call("Meet", text="1")], [Text("first")]],
        TWO=[[call("Meet", text="2")], [Text("second")]],
    )
    s = build(model, tools=[tool("Meet", meet)], rules=allow("Meet"))
    play(s)
    assert sorted(arrived) == ["1", "2"]
    assert ["first" in words(results(s)["c1"]), "second" in words(results(s)["c2"])] == [True, True]


def test_an_interrupt_stops_every_waiting_agent_and_answers_every_call() -> None:
    reached = asyncio.Event()
    count = iter(range(1, 3))

    async def hang(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        if next(count) == 2:
            reached.set()
        await asyncio.Event().wait()
        return ToolOutput("never")

    model = Cast(
        MAIN=[[task("ONE", "c1"), task("TWO", "c2")]], ONE=[[call("Hang", "h1")]], TWO=[[call("Hang", "h2")]]
    )
    host = RecordingHost()
    s = build(model, host, tools=[tool("Hang", hang)], rules=allow("Hang"))

    async def scene() -> Any:
        running = asyncio.ensure_future(s.run(lambda: run_turn(s, Prompt("MAIN", "p"))))
        await reached.wait()
        s.interrupt()
        return await running

    ended = asyncio.run(scene())
    inner = [e.event.call.id for e in host.of(AgentSaid) if isinstance(e.event, ToolFinished)]
    assert ended.terminal_reason == "aborted_tools"
    assert {k: r.is_error for k, r in results(s).items()} == {"c1": True, "c2": True}
    assert sorted(inner) == ["h1", "h2"]
    assert [e.end.status for e in host.of(JobEnded)] == ["stopped", "stopped"]
    assert s.keep(Crew).report()["killed"] == {"parent": 0, "user": 2, "system": 0}


def test_the_transcript_of_an_agent_lies_beside_that_of_the_conversation(tmp_path: Path) -> None:
    model = Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=[[call("Echo", text="x")], [Text("report")]])
    host = RecordingHost()
    s = build(
        model, host, transcript=str(tmp_path / "s.jsonl"), results_dir=str(tmp_path / "s" / "tool-results")
    )
    play(s)
    (job,) = [e.job for e in host.of(JobStarted)]
    path = tmp_path / "s" / "subagents" / f"agent-{job.id}.jsonl"
    entries = [r for r in read_records(str(path)) if "uuid" in r]
    assert {(r["isSidechain"], r["agentId"], r["sessionId"]) for r in entries} == {
        (True, job.id, "session-1")
    }
    past = load(str(path))
    assert past is not None and past.messages[-1].text == "report"
    meta = json.loads(path.with_suffix(".meta.json").read_text())
    assert meta == {
        "agentType": "general-purpose",
        "isBuiltIn": True,
        "description": "look",
        "toolUseId": "call-1",
        "spawnDepth": 1,
        "requestShape": "foreground",
        "model": "test/test-model",
        "finished": True,
        "status": "completed",
        "usage": {"input": 20, "output": 10, "costUSD": 0.00021},
    }
    main = [r for r in read_records(str(tmp_path / "s.jsonl")) if "uuid" in r]
    assert not any(r["isSidechain"] for r in main)


def test_a_question_of_an_agent_names_it_and_the_answer_holds_for_the_conversation() -> None:
    rule = {
        "type": "addRules",
        "rules": [{"toolName": "Echo"}],
        "behavior": "allow",
        "destination": "session",
    }
    host = RecordingHost(Allow(updates=[rule]))
    model = Cast(
        MAIN=[[task("SUB")], [call("Echo", "main-echo", text="y")], [Text("end")]],
        SUB=[[call("Echo", text="x")], [Text("report")]],
    )
    s = build(model, host, rules=[])
    play(s)
    (question,) = host.questions
    assert isinstance(question, AskPermission)
    assert question.agent_id == host.of(JobStarted)[0].job.id
    assert results(s)["main-echo"].content == "echo y"


class Watching:
    """Hooks that note what fires; a SubagentStop can be refused once."""

    def __init__(self, refuse: str = "") -> None:
        self.fired: list[tuple[str, str, bool]] = []
        self.refuse = refuse

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        self.fired.append((event, payload.get("tool_name", ""), "agent_id" in payload))
        if event == "SubagentStart":
            return Outcome(told=[Told("hook_additional_context", "be quick")])
        if event == "SubagentStop" and self.refuse:
            reason, self.refuse = self.refuse, ""
            return Outcome(blocks=[Block("x", reason)])
        return NOTHING


@pytest.mark.requirement("S1-85", "S1-87", "S1-89", "S1-90")
def test_hooks_around_an_agent_fire_in_the_order_of_the_reference() -> None:
    hooks = Watching(refuse="go on")
    model = Cast(
        MAIN=[[task("SUB")], [Text("end")]],
        SUB=[[call("Echo", text="x")], [Text("early")], [Text("report")]],
    )
    s = build(model, hooks=hooks)
    play(s)
    assert hooks.fired == [
        ("UserPromptSubmit", "", False),
        ("PreToolUse", "Agent", False),
        ("SubagentStart", "", True),
        ("PreToolUse", "Echo", True),
        ("PostToolUse", "Echo", True),
        ("PostToolBatch", "", True),
        ("SubagentStop", "", True),
        ("SubagentStop", "", True),
        ("PostToolUse", "Agent", False),
        ("PostToolBatch", "", False),
        ("MessageDisplay", "", False),
        ("Stop", "", False),
    ]
    first = model.requests("SUB")[0].messages[0].blocks
    assert Aside("be quick") in first
    assert "\n  report\n" in words(results(s)["call-1"])


def test_an_agent_gets_its_task_as_it_is_and_nothing_of_the_conversation() -> None:
    model = Cast(MAIN=[[task("SUB @/etc/hostname")], [Text("end")]], SUB=[[Text("r")]])
    s = build(model)
    play(s)
    (request,) = model.requests("SUB")
    assert len(request.messages) == 1
    last = request.messages[0].blocks[-1]
    assert isinstance(last, Text) and last.text == "SUB @/etc/hostname"


def test_stopping_a_background_agent_ends_it_and_tells_the_model() -> None:
    model = Cast(MAIN=[[task("SUB", run_in_background=True)], [Text("w")], [Text("end")]], SUB=[forever])
    host = RecordingHost()
    s = build(model, host)

    async def scene() -> None:
        await run_turn(s, Prompt("MAIN", "p"))
        (job,) = [e.job for e in host.of(JobStarted)]
        assert s.keep(Background).stop(job.id)
        async with asyncio.timeout(5):
            await s.woken.wait()

    asyncio.run(scene())
    assert [e.end.status for e in host.of(JobEnded)] == ["stopped"]
    assert 'Agent "look" was stopped' in s.pending[0].text
    report = s.keep(Crew).report()
    assert (report["requested"], report["started_in_background"]) == (
        {"background": 1, "foreground": 0, "unset": 0},
        1,
    )


@pytest.mark.parametrize(
    ("stop", "killed", "told"),
    [
        (lambda jobs, job: jobs.stop_agents(), "system", 0),
        (lambda jobs, job: jobs.stop(job.id, "parent"), "parent", 1),
        (lambda jobs, job: jobs.stop(job.id), "user", 1),
    ],
)
def test_who_stops_a_background_agent_is_counted_and_an_interrupt_is_no_news(
    stop: Callable[[Background, Job], object], killed: str, told: int
) -> None:
    model = Cast(MAIN=[[task("SUB", run_in_background=True)], [Text("w")]], SUB=[forever])
    host = RecordingHost()
    s = build(model, host)

    async def scene() -> None:
        await run_turn(s, Prompt("MAIN", "p"))
        (job,) = [e.job for e in host.of(JobStarted)]
        s.woken.clear()
        stop(s.keep(Background), job)
        async with asyncio.timeout(5):
            await s.woken.wait()

    asyncio.run(scene())
    assert (s.keep(Crew).report()["killed"][killed], len(s.pending)) == (1, told)


def test_a_running_agent_follows_the_mode_of_the_conversation() -> None:
    holder: list[Session] = []

    async def tighten() -> list[Any]:
        holder[0].set_mode("dontAsk")
        return [call("Echo", "e2", text="b")]

    model = Cast(
        MAIN=[[task("SUB")], [Text("end")]], SUB=[[call("Echo", "e1", text="a")], tighten, [Text("report")]]
    )
    host = RecordingHost()
    s = build(model, host, rules=[])
    s.situation = s.situation.changed(mode="bypassPermissions")
    holder.append(s)
    ended = play(s)
    assert [d.tool_use_id for d in ended.denials] == ["e2"]


def test_many_agents_leave_no_session_behind() -> None:
    calls = [task("SUB", f"c{n}") for n in range(10)]

    class Same(Cast):
        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            main = "SUB" not in str(request.messages[0].blocks[-1])
            answered = len(request.messages) > 1
            turn: list[Any] = calls if main and not answered else [Text("r")]
            async for delta in ScriptedModel([turn]).stream(request):
                yield delta

    s = build(Same())
    play(s)
    crew = s.keep(Crew)
    assert [m.session for m in crew.members.values()] == [None] * 10
    assert (crew.report()["completed"], s.ledger.spent["test-model"].usage.input) == (10, 120)


def test_progress_counts_the_reply_under_way() -> None:
    host = RecordingHost()
    s = build(Cast(), host)
    job = Job("a1", "local_agent", "look", forever_done)
    announced = {"usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 3}}
    ChildHost(s, job).emit(Replied("u", announced, call("Echo"), ""))
    (progress,) = host.of(AgentProgress)
    assert progress.usage["total_tokens"] == 123


async def forever_done() -> JobEnd:
    return JobEnd("completed", "")
