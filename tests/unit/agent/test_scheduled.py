from __future__ import annotations

import asyncio
from itertools import count

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.background import Background
from forge.agent.event import JobEnded
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.agenda import Agenda
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
            while not host.of(JobEnded):
                await asyncio.sleep(0)
        running = [view.kind for view in s.keep(Background).running()]
        await s.keep(Background).close()
        return running

    assert asyncio.run(play()) == ["cron"]
    (first, *_) = host.of(JobEnded)
    assert (first.end.status, first.end.result) == ("completed", "look again")
    told = [m.text for m in s.messages if m.role == "user"] + [p.text for p in s.pending]
    assert sum("<result>look again</result>" in text for text in told) == 1
    assert [entry.prompt for entry in s.keep(Agenda).entries.values()] == ["monthly report"]
