from __future__ import annotations

import asyncio

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.background import Background
from forge.agent.drive import Patience
from forge.agent.session import Prompt
from forge.core.job import Job, JobEnd
from forge.core.message import Block, Text
from forge.hosts.control_waiting import Waiting


def test_a_session_that_is_ended_waits_for_no_job() -> None:
    async def endless() -> JobEnd:
        await asyncio.Event().wait()
        return JobEnd("completed", "never")

    async def work() -> object:
        s = session(ScriptedModel([]), RecordingHost(), [])
        waiting = Waiting(s)
        s.keep(Background).begin(s, Job("b1", "local_bash", "waits", endless, holds=True))
        waiting.close(drop=True)
        try:
            async with asyncio.timeout(5):
                return await waiting.take(Patience(holding=1000, others=1000))
        finally:
            await s.keep(Background).close()

    assert asyncio.run(work()) is None


@pytest.mark.parametrize(
    ("priority", "expected"),
    [("", (["a"], [], False)), ("later", ([], ["b", "a"], False)), ("now", ([], ["a", "b"], True))],
)
def test_what_comes_during_a_turn_has_its_own_urgency(priority: str, expected: object) -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    waiting = Waiting(s)
    if priority:
        waiting.put(Prompt("b", "2"))
    waiting.busy = True
    waiting.put(Prompt("a", "1"), priority)
    joins, cut = [p.text for p in s.pending], s.turn.cut_short
    waiting.busy, s.pending = False, []
    queued = []
    while not waiting.empty:
        taken = asyncio.run(waiting.take(Patience()))
        queued += taken.text.split("\n") if taken is not None else []
    assert (joins, queued, cut) == expected


NOTE, COMMAND = Prompt("n", "4", query=False), Prompt("/context", "5")
BLOCKS: list[Block] = [Text("x"), Text("y")]


@pytest.mark.parametrize(
    ("came", "expected", "joined"),
    [
        ([Prompt("a", "1")], [("a", "1")], {}),
        (
            [Prompt("a", "1"), Prompt("b", "2"), Prompt("c", "3")],
            [("a", "1"), ("b\nc", "3")],
            {"3": ["2"]},
        ),
        (
            [Prompt("a", "1"), Prompt("b", "2"), NOTE, COMMAND, Prompt("c", "3"), Prompt("d", "6")],
            [("a", "1"), ("b", "2"), ("n", "4"), ("/context", "5"), ("c\nd", "6")],
            {"6": ["3"]},
        ),
        (
            [Prompt("a", "1"), Prompt(BLOCKS, "2"), Prompt("c", "3")],
            [("a", "1"), ([Text("x"), Text("y\n"), Text("c")], "3")],
            {"3": ["2"]},
        ),
        (
            [Prompt("a", "1"), Prompt("b", "2"), Prompt("/c", "3", verbatim=True)],
            [("a", "1"), ("b", "2"), ("/c", "3")],
            {},
        ),
    ],
)
def test_what_gathers_while_a_turn_runs_becomes_one_prompt(
    came: list[Prompt], expected: list[object], joined: dict[str, list[str]]
) -> None:
    async def work() -> tuple[list[object], dict[str, list[str]]]:
        waiting = Waiting(session(ScriptedModel([]), RecordingHost(), []))
        for prompt in came:
            waiting.put(prompt)
        waiting.close()
        found: list[object] = []
        while (taken := await waiting.take(Patience())) is not None:
            found.append((taken.content, taken.uuid))
        return found, waiting.joined

    assert asyncio.run(work()) == (expected, joined)
