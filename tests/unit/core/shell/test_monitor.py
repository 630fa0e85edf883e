from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forge.core.job import Job, JobEnd
from forge.core.shell.builtin import shell_tools
from forge.core.shell.monitor import ACTION, Events
from forge.core.tool import ToolOutput
from unit.core.shell.processes import is_gone
from unit.core.tools.context import RecordingContext, calling, failure


@pytest.fixture
def ctx(tmp_path: Path) -> RecordingContext:
    return RecordingContext(tmp_path, {"TMPDIR": str(tmp_path)})


def watch(ctx: RecordingContext, command: str, timeout_ms: int = 5000) -> tuple[list[str], JobEnd, Job]:
    """What a watch tells until its end."""
    told: list[str] = []

    async def scenario() -> tuple[JobEnd, Job]:
        await calling(ACTION, ctx, description="it", timeout_ms=timeout_ms, command=command)
        job = ctx.begun[-1]
        assert job.listen is not None
        job.listen(told.append)
        return await job.run(), job

    end, job = asyncio.run(scenario())
    return told, end, job


def test_the_start_of_a_watch_is_told(ctx: RecordingContext) -> None:
    async def scenario() -> ToolOutput:
        output = await calling(ACTION, ctx, description="it", timeout_ms=2_000_000, command="true")
        await ctx.begun[-1].run()
        return output

    output = asyncio.run(scenario())
    task = ctx.begun[-1].id
    assert output.data == {"taskId": task, "timeoutMs": 1_800_000, "persistent": False}
    assert str(output.content).startswith(f"Monitor started (task {task}, expires in 30m unless the source ")


@pytest.mark.parametrize(
    ("command", "told", "end"),
    [
        ("echo hi", [], JobEnd("completed", 'Monitor "it" stream ended', facts={"event": "hi"})),
        ("true", [], JobEnd("completed", 'Monitor "it" ended without producing output (exit 0)')),
        (
            "echo 1; echo 2; sleep 0.4; echo no >&2; printf 3; exit 4",
            ["1\n2"],
            JobEnd("failed", 'Monitor "it" script failed (exit 4)', facts={"event": "3"}),
        ),
    ],
)
def test_lines_are_events_and_the_exit_is_the_end(
    ctx: RecordingContext, command: str, told: list[str], end: JobEnd
) -> None:
    assert watch(ctx, command)[:2] == (told, end)


def test_the_output_file_has_everything(ctx: RecordingContext) -> None:
    _, _, job = watch(ctx, "echo 1; echo 2 >&2; echo 3")
    *lines, blank, end = Path(job.output_path).read_text().splitlines()
    assert (sorted(lines), blank, end) == (["1", "2", "3"], "", "[exited with code 0]")


def test_a_watch_ends_when_its_time_is_up(ctx: RecordingContext, tmp_path: Path) -> None:
    told, end, _ = watch(ctx, f"echo $$ > {tmp_path}/pid; echo tick; sleep 30", timeout_ms=400)
    notice = "[Monitor expired after 0s with 1 event delivered. Re-arm it if you still need the watch.]"
    assert (told, end) == (["tick", notice], JobEnd("stopped", "it", quiet=True))
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_stopped_watch_leaves_no_process(ctx: RecordingContext, tmp_path: Path) -> None:
    async def scenario() -> None:
        heard = asyncio.Event()
        command = f"echo $$ > {tmp_path}/pid; echo go; sleep 30"
        await calling(ACTION, ctx, description="it", timeout_ms=5000, command=command)
        job = ctx.begun[-1]
        assert job.listen is not None
        job.listen(lambda words: heard.set())
        task = asyncio.ensure_future(job.run())
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_flood_of_lines_is_one_bounded_event() -> None:
    async def scenario() -> str:
        events = Events()
        for _ in range(100):
            events.hear(b"line\n" * 10_000 + b"rest")
        return events.last()

    words = asyncio.run(scenario())
    assert words.endswith("\n[5000401 bytes in all; the output file has the rest]") and len(words) < 4_100


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "exactly one of command or ws"),
        ({"command": "x", "ws": {"url": "ws://a"}}, "exactly one of command or ws"),
        ({"ws": {"url": "ws://a"}}, "WebSocket is not available"),
    ],
)
def test_what_cannot_be_watched_is_refused(ctx: RecordingContext, given: dict[str, Any], words: str) -> None:
    kind, text = failure(ACTION, ctx, description="it", timeout_ms=1000, **given)
    assert (kind, words in text) == ("refused", True)


def test_without_background_tasks_nothing_is_watched(ctx: RecordingContext) -> None:
    ctx.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    words = "Background tasks are switched off (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS)."
    assert failure(ACTION, ctx, description="it", timeout_ms=1000, command="true") == ("refused", words)


def test_the_tool_has_its_code_and_its_schema() -> None:
    tool = next(tool for tool in shell_tools() if tool.name == "Monitor")
    assert (tool.name, tool.deferred, tool.load()) == ("Monitor", True, ACTION)
    assert {name: p["type"] for name, p in tool.schema["properties"].items()} == {
        "description": "string",
        "timeout_ms": "number",
        "command": "string",
        "ws": "object",
    }
