"""Commands that go on while the conversation does: their output files, and how the model hears of them."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from typing import Any

from forge.core.amount import human_duration
from forge.core.job import Job, JobEnd, background_allowed
from forge.core.shell.execute import Running
from forge.core.shell.output import shown_text
from forge.core.tool import ToolContext, ToolError, ToolOutput
from forge.foundation.paths import slug
from forge.foundation.system.locks import DEFAULT_TEMP

DEFAULT_LIMIT, LEFT_LIMIT, MAX_LIMIT = 600_000, 1_800_000, 7_200_000
# Seconds after which a command in the foreground is worth telling.
_LONG = 3
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_READ_IT = "To check interim output, use Read on that file path."
_NO_OUTPUT = (
    "No output had been read from it when it was moved. A program that buffers its output, or a pipe into "
    "one such as tail, can keep the output file empty until the command finishes. "
)
_CHANGES_DIRECTORY = re.compile(r"(?:^|[\n;&|]|(?<!\$)\()\s*(?:cd|pushd|popd)(?=[\s;&|)]|$)")
_NOTE = (
    "If what you are doing still needs this command, start it once more in the background with a longer "
    "timeout, unless it had the longest one there is. Tell the user in any case that it was stopped."
)


class Attended:
    """A command that a call waits for; hosts hear of it once it takes long, and may end the waiting."""

    def __init__(self, command: str, description: str, ctx: ToolContext) -> None:
        self.task_id = new_task_id()
        self._what = command, description or command
        self._ctx = ctx
        self._seconds = 0
        self._end: asyncio.Future[JobEnd] | None = None
        self.running: Running | None = None
        self.wanted = ""

    def _let(self, wanted: str) -> None:
        self.wanted = wanted
        if self.running is not None:
            self.running.hurry()

    def second(self, recent: str) -> None:
        """Another second has passed; `recent` is the end of the output."""
        self._ctx.progress(recent)
        self._seconds += 1
        if self._seconds == _LONG and is_allowed(self._ctx):
            end: asyncio.Future[JobEnd] = asyncio.get_running_loop().create_future()
            self._end = end
            command, description = self._what

            async def run() -> JobEnd:
                return await end

            job = Job(
                self.task_id,
                "local_bash",
                description,
                run,
                command=command,
                backgrounded=False,
                leave=lambda: self._let("left"),
                kill=lambda: self._let("killed"),
            )
            self._ctx.begin(job)

    async def over(self, status: str) -> None:
        """The call has its answer; hosts hear that first."""
        if self._end is not None and not self._end.done():
            self._end.set_result(JobEnd(status, self._what[1], quiet=True))
            await asyncio.sleep(0)


def is_allowed(ctx: ToolContext) -> bool:
    """Whether commands may go on in the background at all."""
    return background_allowed(ctx.env)


def may_outlast(text: str, ctx: ToolContext) -> bool:
    """Whether a command whose time is up goes on in the background instead of being killed."""
    # Waiting is nothing to go on with.
    return is_allowed(ctx) and re.match(r"\s*sleep\b", text) is None


def new_task_id() -> str:
    """`b` and eight digits of base 36."""
    return "b" + "".join(_DIGITS[byte % 36] for byte in os.urandom(8))


def output_file(task_id: str, ctx: ToolContext) -> str:
    """Where a command in the background writes; the directory is made for this user alone."""
    temp = ctx.env.get("CLAUDE_CODE_TMPDIR") or ctx.env.get("TMPDIR") or DEFAULT_TEMP
    mine = os.path.join(temp, f"claude-{os.getuid()}")
    tasks = os.path.join(mine, slug(os.path.realpath(ctx.start_dir)), ctx.session_id, "tasks")
    try:
        os.makedirs(mine, mode=0o700, exist_ok=True)
        found = os.lstat(mine)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            hint = "Set CLAUDE_CODE_TMPDIR to a directory of your own."
            raise ToolError(f"{mine} is not a directory of this user. {hint}")
        os.makedirs(tasks, mode=0o700, exist_ok=True)
    except OSError as error:
        raise ToolError(f"The output file of the command cannot be made: {error}") from None
    return os.path.join(tasks, f"{task_id}.output")


def time_limit(wanted: float | None) -> float:
    """How many milliseconds a command may go on in the background."""
    return min(wanted, MAX_LIMIT) if wanted is not None and wanted > 0 else DEFAULT_LIMIT


def in_background(task_id: str, path: str) -> ToolOutput:
    """The result of a call whose command was started in the background."""
    text = (
        f"Command running in background with ID: {task_id}. Output is being written to: {path}. "
        f"You will be notified when it completes. {_READ_IT}"
    )
    return ToolOutput(text, _record("", backgroundTaskId=task_id), is_error=False)


def staying(output: ToolOutput, command: str, cwd: str) -> ToolOutput:
    """The result of a command in the background; one that changes its directory changes it for itself."""
    if _CHANGES_DIRECTORY.search(command) is None:
        return output
    hint = (
        f"Session cwd remains {cwd}; directory changes made by the backgrounded command do not apply to "
        "subsequent commands."
    )
    return ToolOutput(f"{output.content}\n{hint}", {**output.data, "backgroundCwdHint": hint}, is_error=False)


def moved(running: Running, task: tuple[str, str], limit: float, most: int) -> ToolOutput:
    """The result of a call whose command took too long and goes on in the background."""
    task_id, path = task
    shown = shown_text(running.keep_output(path), most)
    quiet = "" if shown else _NO_OUTPUT
    text = (
        f"Command did not complete within its {short_duration(limit)} timeout and was moved to the "
        f"background (ID: {task_id}). Output is being written to: {path}. You will be notified when it "
        f"completes. If it is still running after {short_duration(DEFAULT_LIMIT)} in the background, it will "
        "be stopped and you will be notified. It is running now: do not start a second copy while it runs. "
        f"If it is no longer needed, stop it with TaskStop. {quiet}{_READ_IT}"
    )
    data = _record(shown, backgroundTaskId=task_id, timedOutAfterMs=round(limit))
    return ToolOutput(f"{shown}\n{text}" if shown else text, data, is_error=False)


def left_alone(running: Running, task: tuple[str, str]) -> ToolOutput:
    """The result of a call whose command the user has sent into the background."""
    task_id, path = task
    running.keep_output(path)
    text = (
        f"Command was manually backgrounded by user with ID: {task_id}. Output is being written to: {path}. "
        f"If it is still running after {short_duration(LEFT_LIMIT)} in the background, it will be stopped and"
        " you will be notified."
    )
    data = _record("", backgroundTaskId=task_id, backgroundedByUser=True)
    return ToolOutput(text, data, is_error=False)


def shell_job(running: Running, task: tuple[str, str], what: tuple[str, str], limit: float) -> Job:
    """The job of a command that goes on; `what` is its text and its description."""
    command, description = what
    name = f'Background command "{description or command}"'

    async def run() -> JobEnd:
        if not await running.ended(limit / 1000):
            await running.killed()
            summary = f"{name} was stopped after reaching its background time limit"
            return JobEnd("stopped", summary, facts={"note": _NOTE})
        code = (await running.outcome()).exit_code
        if code:
            return JobEnd("failed", f"{name} failed with exit code {code}")
        return JobEnd("completed", f"{name} completed (exit code 0)")

    return Job(task[0], "local_bash", description or command, run, output_path=task[1], command=command)


def short_duration(milliseconds: float) -> str:
    """`20s`, `10m`, `1h 30m`: without the parts that are zero."""
    parts = human_duration(milliseconds).split(" ")
    return " ".join(part for part in parts if part[0] != "0" or len(parts) == 1)


def _record(stdout: str, **more: Any) -> dict[str, Any]:
    return {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
        **more,
    }
