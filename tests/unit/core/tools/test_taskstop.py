from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.job import Job, JobEnd
from forge.core.tools.taskstop import ACTION
from unit.core.tools.context import RecordingContext, call, failure


async def never() -> JobEnd:
    raise AssertionError("nobody runs it")


@pytest.fixture
def ctx(tmp_path: Path) -> RecordingContext:
    context = RecordingContext(tmp_path)
    context.begin(Job("b12345678", "local_bash", "a server", never, command="serve"))
    return context


@pytest.mark.parametrize("name", ["task_id", "shell_id"])
def test_a_running_task_is_stopped(ctx: RecordingContext, name: str) -> None:
    output = call(ACTION, ctx, **{name: "b12345678"})
    assert ctx.begun == []
    assert output.data == {
        "message": "Successfully stopped task: b12345678 (serve)",
        "task_id": "b12345678",
        "task_type": "local_bash",
        "command": "serve",
    }
    assert output.content == (
        '{"message":"Successfully stopped task: b12345678 (serve)","task_id":"b12345678",'
        '"task_type":"local_bash","command":"serve"}'
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"task_id": "nope"}, "No task found with ID: nope"),
        ({}, "Missing required parameter: task_id"),
    ],
)
def test_what_is_not_running_cannot_be_stopped(
    ctx: RecordingContext, given: dict[str, str], words: str
) -> None:
    assert failure(ACTION, ctx, **given) == ("refused", words)
