from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.core.job import Job, JobEnd
from forge.core.shell.bash import ACTION
from forge.core.shell.detached import (
    Attended,
    left_alone,
    may_outlast,
    output_file,
    short_duration,
    staying,
    time_limit,
)
from forge.core.shell.execute import Outcome
from forge.core.shell.launch import started as launched
from forge.core.tool import ToolError, ToolOutput
from forge.foundation.paths import slug
from unit.core.shell.processes import is_gone
from unit.core.tools.context import RecordingContext, calling, failure


@pytest.fixture
def ctx(tmp_path: Path) -> RecordingContext:
    project = tmp_path / "project"
    project.mkdir()
    return RecordingContext(project, {"TMPDIR": str(tmp_path)})


def started(ctx: RecordingContext, then: Callable[[ToolOutput, Job], Awaitable[Any]], **given: Any) -> Any:
    """Starts a command in the background and does something with its result and its job."""

    async def scenario() -> Any:
        output = await calling(ACTION, ctx, **given)
        return await then(output, ctx.begun[-1])

    return asyncio.run(scenario())


async def to_the_end(output: ToolOutput, job: Job) -> tuple[ToolOutput, Job, JobEnd]:
    return output, job, await job.run()


def record(stdout: str, **more: Any) -> dict[str, Any]:
    return {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
        **more,
    }


def test_a_background_command_writes_to_a_file_of_this_user_alone(
    ctx: RecordingContext, tmp_path: Path
) -> None:
    output, job, end = started(ctx, to_the_end, command="echo bg; echo err >&2", run_in_background=True)
    mine = tmp_path / f"claude-{os.getuid()}"
    path = str(mine / slug(ctx.start_dir) / "session-1" / "tasks" / f"{job.id}.output")
    assert re.fullmatch("b[0-9a-z]{8}", job.id)
    assert output.content == (
        f"Command running in background with ID: {job.id}. Output is being written to: {path}. "
        "You will be notified when it completes. To check interim output, use Read on that file path."
    )
    assert (output.data, output.is_error) == (record("", backgroundTaskId=job.id), False)
    assert (job.kind, job.description, job.output_path, job.holds) == (
        "local_bash",
        "echo bg; echo err >&2",
        path,
        False,
    )
    assert end == JobEnd("completed", 'Background command "echo bg; echo err >&2" completed (exit code 0)')
    assert Path(path).read_text() == "bg\nerr\n\n[exited with code 0]\n"
    assert [d.stat().st_mode & 0o777 for d in (mine, Path(path).parent)] == [0o700, 0o700]


def test_a_failed_background_command_names_its_exit_code(ctx: RecordingContext) -> None:
    _, _, end = started(ctx, to_the_end, command="exit 3", description="try it", run_in_background=True)
    assert end == JobEnd("failed", 'Background command "try it" failed with exit code 3')


def test_a_background_command_is_stopped_when_its_time_is_up(ctx: RecordingContext, tmp_path: Path) -> None:
    command = f"echo $$ > {tmp_path}/pid; echo waiting; sleep 30"
    _, job, end = started(ctx, to_the_end, command=command, timeout=300, run_in_background=True)
    summary = f'Background command "{command}" was stopped after reaching its background time limit'
    assert (end.status, end.summary, list(end.facts)) == ("stopped", summary, ["note"])
    assert Path(job.output_path).read_text() == "waiting\n\n[killed]\n"
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_stopped_background_command_leaves_no_process(ctx: RecordingContext, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")

    async def stop(output: ToolOutput, job: Job) -> list[int]:
        task = asyncio.ensure_future(job.run())
        pids = await asyncio.to_thread((tmp_path / "ready").read_text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [int(pid) for pid in pids.split()]

    command = f"sleep 60 & setsid sleep 60 & echo $$ $! > {tmp_path}/ready; wait"
    pids = started(ctx, stop, command=command, run_in_background=True)
    assert [is_gone(pid) for pid in pids] == [True, True]


def test_a_command_that_takes_too_long_goes_on_in_the_background(
    ctx: RecordingContext, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "go")

    async def let_go(output: ToolOutput, job: Job) -> tuple[ToolOutput, Job, JobEnd]:
        task = asyncio.ensure_future(job.run())
        await asyncio.to_thread((tmp_path / "go").write_text, "now")
        return output, job, await task

    command = f"echo before; read x < {tmp_path}/go; echo after"
    output, job, end = started(ctx, let_go, command=command, timeout=500)
    assert output.content == (
        "before\nCommand did not complete within its 1s timeout and was moved to the background "
        f"(ID: {job.id}). Output is being written to: {job.output_path}. You will be notified when it "
        "completes. If it is still running after 10m in the background, it will be stopped and you will be "
        "notified. It is running now: do not start a second copy while it runs. If it is no longer needed, "
        "stop it with TaskStop. To check interim output, use Read on that file path."
    )
    assert output.data == record("before", backgroundTaskId=job.id, timedOutAfterMs=500)
    assert end == JobEnd("completed", f'Background command "{command}" completed (exit code 0)')
    assert Path(job.output_path).read_text() == "before\nafter\n\n[exited with code 0]\n"


def test_hosts_hear_of_a_command_that_takes_long_while_a_call_waits_for_it(ctx: RecordingContext) -> None:
    async def scenario() -> tuple[list[int], JobEnd]:
        attended = Attended("make", "build it", ctx)
        begun = []
        for _ in range(4):
            attended.second("compiling")
            begun.append(len(ctx.begun))
        ended = asyncio.ensure_future(ctx.begun[0].run())
        await asyncio.sleep(0)
        await attended.over("completed")
        return begun, ended.result()

    begun, end = asyncio.run(scenario())
    job = ctx.begun[0]
    assert (begun, ctx.reports) == ([0, 0, 1, 1], ["compiling"] * 4)
    assert (job.kind, job.description, job.command, job.backgrounded) == (
        "local_bash",
        "build it",
        "make",
        False,
    )
    assert end == JobEnd("completed", "build it", quiet=True)


@pytest.mark.parametrize(("order", "wanted"), [("leave", "left"), ("kill", "killed")])
def test_whoever_waits_for_a_command_can_be_told_not_to(
    ctx: RecordingContext, order: str, wanted: str
) -> None:
    async def scenario() -> tuple[bool, str, ToolOutput, Outcome]:
        attended = Attended("sleep 60", "", ctx)
        attended.running = running = await launched("echo before; sleep 60", ctx.cwd, ctx)
        for _ in range(3):
            attended.second("")
        waiting = asyncio.ensure_future(running.ended(60))
        await asyncio.sleep(0)
        getattr(ctx.begun[0], order)()
        ended = await waiting
        output = left_alone(running, ("b1", output_file("b1", ctx)))
        return ended, attended.wanted, output, await running.killed()

    ended, meant, output, outcome = asyncio.run(scenario())
    assert (ended, meant, outcome.timed_out) == (False, wanted, True)
    assert output.data == record("", backgroundTaskId="b1", backgroundedByUser=True)
    assert "If it is still running after 30m in the background" in str(output.content)


def test_long_output_of_a_moved_command_is_complete(ctx: RecordingContext) -> None:
    command = "yes 12345678 | head -c 2000000; sleep 0.6; echo end"
    output, job, _ = started(ctx, to_the_end, command=command, timeout=400)
    written = Path(job.output_path).read_text()
    assert (len(written), written[-28:]) == (2_000_026, "12end\n\n[exited with code 0]\n")
    assert len(str(output.content)) < 31_000


@pytest.mark.parametrize(
    ("text", "env", "expected"),
    [
        ("make", {}, True),
        ("for i in 1 2; do make; done", {}, True),
        ("digit-counter", {}, True),
        ("sleep 20; make", {}, False),
        ("cd x && git fetch", {}, True),
        ("make", {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}, False),
    ],
)
def test_some_commands_are_killed_instead(
    tmp_path: Path, text: str, env: dict[str, str], expected: bool
) -> None:
    assert may_outlast(text, RecordingContext(tmp_path, env)) is expected


def test_without_background_tasks_there_is_no_such_parameter(ctx: RecordingContext) -> None:
    ctx.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    words = (
        "InputValidationError: Bash failed due to the following issue:\n"
        "An unexpected parameter `run_in_background` was provided"
    )
    assert failure(ACTION, ctx, command="true", run_in_background=True) == ("refused", words)


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_directory_somebody_else_has_prepared_is_not_used(
    ctx: RecordingContext, tmp_path: Path, kind: str
) -> None:
    trap = tmp_path / f"claude-{os.getuid()}"
    trap.symlink_to(tmp_path / "project") if kind == "link" else trap.write_text("")
    with pytest.raises(ToolError):
        output_file("b00000000", ctx)


@pytest.mark.parametrize(
    ("wanted", "expected"), [(None, 600_000), (0, 600_000), (5000, 5000), (9e9, 7_200_000)]
)
def test_background_commands_have_limits_of_their_own(wanted: float | None, expected: float) -> None:
    assert time_limit(wanted) == expected


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0, "0s"), (1000, "1s"), (125_000, "2m 5s"), (600_000, "10m"), (7_200_000, "2h"), (3_630_000, "1h 30s")],
)
def test_short_durations_leave_out_what_is_zero(milliseconds: int, words: str) -> None:
    assert short_duration(milliseconds) == words


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("cd sub && make", True),
        ("ls;cd", True),
        ("(pushd sub)", True),
        ("make\n cd ..", True),
        ("echo cd", False),
        ("if true; then cd sub; fi", False),
        ("echo $(cd sub)", False),
        ("cdrecord x", False),
    ],
)
def test_a_directory_changed_in_the_background_is_not_the_sessions(command: str, changes: bool) -> None:
    hint = (
        "Session cwd remains /p; directory changes made by the backgrounded command do not apply to "
        "subsequent commands."
    )
    plain = ToolOutput("started", {"stdout": ""}, is_error=False)
    told = ToolOutput(f"started\n{hint}", {"stdout": "", "backgroundCwdHint": hint}, is_error=False)
    assert staying(plain, command, "/p") == (told if changes else plain)
