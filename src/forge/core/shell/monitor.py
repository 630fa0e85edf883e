"""The Monitor tool: a command in the background whose every line of output is an event for the model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from forge.core.job import Job, JobEnd
from forge.core.schema_text import custom_issue
from forge.core.shell.detached import is_allowed, new_task_id, output_file, short_duration
from forge.core.shell.execute import Listener, Running
from forge.core.shell.launch import started
from forge.core.shell.meaning import refuse_hidden
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput

_LONGEST = 1_800_000
# Lines that come within this time are one event.
_BATCH = 0.2
_MAX_TEXT = 4_000
_MAX_EVENTS = 200


class Args(msgspec.Struct, frozen=True):
    description: str
    timeout_ms: float = 300_000
    command: str = ""
    ws: dict[str, Any] | None = None


class Events:
    """Gathers output into lines and lines into events."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = lambda words: None
        self.count = 0
        self.heard = False
        self.flooded = asyncio.Event()
        self._rest = b""
        self._lines: list[str] = []
        self._length = 0
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, block: bytes) -> None:
        """Takes output as it comes; of a flood only the beginning and its length are kept."""
        self.heard = True
        whole, newline, rest = (self._rest + block).rpartition(b"\n")
        self._rest = rest[-_MAX_TEXT:]
        if not newline:
            return
        if self._length < _MAX_TEXT:
            self._lines.append(whole[:_MAX_TEXT].decode("utf-8", "replace"))
        self._length += len(whole) + 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_BATCH, self._flush)

    def last(self) -> str:
        """What has not been told yet, also a line without end."""
        if self._rest:
            self.hear(b"\n")
        if self._timer is not None:
            self._timer.cancel()
        return self._taken()

    def _flush(self) -> None:
        self._timer = None
        self.count += 1
        self.tell(self._taken())
        if self.count >= _MAX_EVENTS:
            self.flooded.set()

    def _taken(self) -> str:
        words, length = "\n".join(self._lines), self._length
        self._lines, self._length = [], 0
        if length <= _MAX_TEXT:
            return words
        return f"{words[:_MAX_TEXT]}\n[{length} bytes in all; the output file has the rest]"


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what cannot be watched."""
    if not is_allowed(ctx):
        raise ToolError("Background tasks are switched off (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS).")
    if bool(args.command) == (args.ws is not None):
        raise ToolError(custom_issue("exactly one of command or ws", []))
    refuse_hidden(args.command)
    if args.ws is not None:
        raise ToolError("Watching a WebSocket is not available in this version. Watch a command instead.")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Starts the watch."""
    limit = min(args.timeout_ms, _LONGEST)
    task_id = new_task_id()
    path = output_file(task_id, ctx)
    events = Events()
    running = await _started(args.command, path, events, ctx)
    run_job = _job(running, events, args.description, limit)

    def listen(tell: Callable[[str], None]) -> None:
        events.tell = tell

    job = Job(task_id, "local_bash", args.description, run_job, output_path=path, command=args.command)
    ctx.begin(msgspec.structs.replace(job, listen=listen))
    text = (
        f"Monitor started (task {task_id}, expires in {short_duration(limit)} unless the source ends first; "
        "you get one notice at expiry — re-arm if you still need the watch). You will be notified on each "
        "event. Keep working — do not poll or sleep. Events may arrive while you are waiting for the user — "
        "an event is not their reply."
    )
    return ToolOutput(text, {"taskId": task_id, "timeoutMs": round(limit), "persistent": False})


async def _started(command: str, path: str, events: Events, ctx: ToolContext) -> Running:
    errors = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        running = await started(command, ctx.cwd, ctx, listener=Listener(events.hear, errors))
    finally:
        os.close(errors)
    running.keep_output(path)
    return running


def _job(running: Running, events: Events, description: str, limit: float) -> Callable[[], Any]:
    async def run() -> JobEnd:
        flood = asyncio.ensure_future(events.flooded.wait())
        ending = asyncio.ensure_future(running.ended(limit / 1000))
        try:
            await asyncio.wait((flood, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            flood.cancel()
            if not ending.done():
                ending.cancel()
                await asyncio.wait((ending,))
        return await _end(running, events, description, limit, ended=_value(ending))

    return run


def _value(ending: asyncio.Future[bool]) -> bool | None:
    """Whether the command ended in time; None if it was stopped."""
    return None if ending.cancelled() else ending.result()


async def _end(
    running: Running, events: Events, description: str, limit: float, *, ended: bool | None
) -> JobEnd:
    if ended:
        code = (await running.outcome()).exit_code
        facts = {"event": last} if (last := events.last()) else {}
        if code:
            return JobEnd("failed", f'Monitor "{description}" script failed (exit {code})', facts=facts)
        ended_how = "stream ended" if events.heard else "ended without producing output (exit 0)"
        return JobEnd("completed", f'Monitor "{description}" {ended_how}', facts=facts)
    if ended is False:
        await running.killed()
    if last := events.last():
        events.count += 1
        events.tell(last)
    if ended is None:
        why = f"stopped because of too many events ({events.count}). Watch for less"
    else:
        times = "1 event" if events.count == 1 else f"{events.count} events"
        why = f"expired after {short_duration(limit)} with {times} delivered. Re-arm it"
    events.tell(f"[Monitor {why} if you still need the watch.]")
    return JobEnd("stopped", description, quiet=True)


ACTION: Action[Args] = Action(Args, run, check)
