from __future__ import annotations

import asyncio

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.background import Background
from forge.agent.drive import Patience
from forge.core.job import Job, JobEnd
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
