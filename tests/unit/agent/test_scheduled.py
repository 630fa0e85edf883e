from __future__ import annotations

import asyncio
from itertools import count

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.background import Background, due
from forge.agent.event import JobEnded, JobsChanged, JobStarted
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.agenda import Agenda
from forge.core.job import JobEnd
from forge.core.message import Text
from forge.core.tools.builtin import builtin_tools

NAMES = ("CronCreate", "CronDelete", "ScheduleWakeup")


def test_a_due_prompt_wakes_the_session_and_a_recurring_one_waits_again() -> None:
    host = RecordingHost()
    turn = [
        call("ScheduleWakeup", "1", delaySeconds=60, reason="why", prompt="look again"),
        call("CronCreate", "2", cron="0 0 1 * *", prompt="monthly report"),
    ]
    tools = [tool for tool in builtin_tools() if tool.name in NAMES]
    s = session(ScriptedModel([[*turn], [Text("ok")]]), host, tools)
    hours = count(1_800_000_000, 3600)
    # An hour passes whenever somebody looks at the clock, so the wakeup is due at once.
    s.keep(Agenda).now = lambda: float(next(hours))

    async def play() -> list[str]:
        await run_turn(s, Prompt("go", "p1"))
        async with asyncio.timeout(5):
            while s.keep(Agenda).wakeups():
                await asyncio.sleep(0)
        running = [view.kind for view in s.keep(Background).running()]
        await s.keep(Background).close()
        return running

    assert asyncio.run(play()) == ["cron"]
    # It is a prompt like one that is typed, and no job that hosts hear of.
    told = [m.text for m in s.messages if m.role == "user"] + [p.text for p in s.pending]
    assert told.count("look again") == 1
    assert host.of(JobStarted) + host.of(JobEnded) + host.of(JobsChanged) == []
    assert [entry.prompt for entry in s.keep(Agenda).entries.values()] == ["monthly report"]


def test_a_due_prompt_is_recorded_as_one_nobody_typed() -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    prompt = due(s, JobEnd("completed", "it is time", "look again"))
    assert (prompt.content, prompt.verbatim, prompt.origin) == ("look again", True, None)
    assert prompt.record == {
        "isMeta": True,
        "promptSource": "system",
        "wakeupSource": "schedule_wakeup",
        "turnOrigin": "scheduled",
    }
