from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.event import Event, TurnEnded, TurnStarted
from forge.core.message import Usage
from forge.hosts.wire import Wire, WireFacts


def told(record: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("type", "command_uuid", "state", "wakeup_source", "scheduled_for")
    return tuple(record[key] for key in keys if key in record)


@pytest.mark.parametrize(
    ("record", "cause"),
    [
        ({"wakeupSource": "schedule_wakeup"}, ("schedule_wakeup",)),
        ({"wakeupSource": "loop_wakeup", "scheduledFor": "60000"}, ("loop_wakeup", 60000)),
    ],
)
def test_hosts_hear_of_a_prompt_that_is_due_and_of_its_end(
    record: dict[str, Any], cause: tuple[Any, ...]
) -> None:
    ids = count()
    s = session(ScriptedModel([]), RecordingHost(), [])
    wire = Wire(s, WireFacts("none", ""), lambda: float(next(ids)))
    ended = TurnEnded("success", "completed", False, 1, "end_turn", Usage(), prompt_uuids=["p"])
    events: list[Event] = [TurnStarted("p", record), ended, TurnStarted("q"), ended]
    assert [told(r) for event in events for r in wire.records(event)] == [
        ("command_lifecycle", "p", "started", *cause),
        ("system",),
        ("result",),
        ("command_lifecycle", "p", "completed"),
        ("system",),
        ("result",),
    ]
