from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.core.tool import ToolError
from forge.hosts.control_hooks import HookCalls
from forge.hosts.sink import Sink


class Heard(Sink):
    """Keeps records instead of writing them."""

    def __init__(self) -> None:
        super().__init__()
        self.records_seen: list[dict[str, Any]] = []

    def record(self, record: dict[str, Any]) -> None:
        self.records_seen.append(record)


@pytest.mark.parametrize(("subtype", "withdrawn"), [("hook_callback", ["id-1"]), ("mcp_message", [])])
def test_a_stopped_turn_withdraws_its_questions_once(subtype: str, withdrawn: list[str]) -> None:
    async def run() -> list[str]:
        sink = Heard()
        calls = HookCalls(session(ScriptedModel([]), RecordingHost(), []), sink)
        asking = asyncio.ensure_future(calls.ask({"subtype": subtype}))
        await asyncio.sleep(0)
        calls.withdraw()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return [r["request_id"] for r in sink.records_seen if r["type"] == "control_cancel_request"]

    assert asyncio.run(run()) == withdrawn


def test_answers_reach_their_question_and_a_host_that_has_gone_ends_the_rest() -> None:
    async def run() -> list[Any]:
        calls = HookCalls(session(ScriptedModel([]), RecordingHost(), []), Heard())
        asking = [asyncio.ensure_future(calls.call("hook_0", {}, "")) for _ in range(3)]
        await asyncio.sleep(0)
        calls.answered({"request_id": "id-1", "subtype": "success", "response": {"a": 1}})
        calls.answered({"request_id": "id-2", "subtype": "error", "error": "broke"})
        calls.close()
        return list(await asyncio.gather(*asking, return_exceptions=True))

    first, *others = asyncio.run(run())
    assert first == {"a": 1}
    assert [(type(each), str(each)) for each in others] == [
        (ToolError, "broke"),
        (ToolError, "Stream closed"),
    ]
