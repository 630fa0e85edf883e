"""What the MCP tools do: commands one after the other, and programs in terminals side by side."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from forge.core.shell.history.look import Reader
from forge.core.shell.isolation import carry_exports, next_directory
from forge.core.shell.session.programs import NoProgram
from forge.foundation.errors import ForgeError
from forge.hosts.forgecmd.judging import only_waits
from forge.hosts.guarded import mcp_arguments as given
from forge.hosts.guarded.ground import Ground, history_path
from forge.hosts.guarded.mcp_sessions import Sessions, ToolFailure
from forge.hosts.guarded.perform import Job, Outcome, note_refusal, perform
from forge.hosts.guarded.permission import Asking, permit

__all__ = ["Shell", "ToolFailure"]

Answer = tuple[str, bool]
_USE_START = "Programs that want somebody at the keyboard belong in `start`."


class Shell:
    """The tools of one client. `ask` puts questions to its user, None where it cannot."""

    def __init__(self, ground: Ground, cwd: str) -> None:
        self.ground = ground
        self.cwd = cwd
        self.ask: Asking | None = None
        self._exports: dict[str, str] | None = None
        self._turn = asyncio.Lock()
        self._sessions = Sessions(ground)
        self._tools: dict[str, tuple[type[msgspec.Struct], Callable[[Any], Awaitable[Answer]]]] = {
            "run": (given.Run, self._run),
            "start": (given.StartSession, self._start),
            "send": (given.Send, self._send),
            "screen": (given.Session, self._screen),
            "wait": (given.Wait, self._wait),
            "resize": (given.Resize, self._resize),
            "stop": (given.Session, self._stop),
            "output": (given.StoredOutput, self._output),
            "history": (given.Look, self._history),
        }

    async def call(self, name: str, arguments: Any) -> Answer:
        """The text of a tool's answer, and whether it is an error; ToolFailure says why nothing was done."""
        kind, action = self._tools[name]
        try:
            args = msgspec.convert(arguments, kind)
        except msgspec.ValidationError as error:
            raise ToolFailure(f"The arguments of {name} are wrong: {error}.") from None
        try:
            return await action(args)
        except NoProgram as error:
            raise ToolFailure(str(error)) from None
        except ForgeError as error:
            raise ToolFailure(str(error)) from None

    async def close(self) -> None:
        """Ends all programs."""
        await self._sessions.close()

    async def _run(self, args: given.Run) -> Answer:
        async with self._turn:
            cwd = self._directory(args.cwd)
            verdict, decision = self.ground.assess(args.command, cwd)
            permission = await permit(self.ground, verdict, decision, self.ask)
            job = Job(
                args.command,
                cwd,
                verdict,
                decision,
                permission,
                timeout=args.timeout,
                terminal=args.terminal,
                verbatim=args.verbatim,
                exports=self._exports,
            )
            if not permission.granted:
                note_refusal(self.ground, job)
                hint = f"\n{_USE_START}" if only_waits(verdict) else ""
                raise ToolFailure(permission.reason + hint)
            outcome = await perform(self.ground, job)
            return self._told(outcome, cwd), bool(outcome.exit_code)

    def _told(self, outcome: Outcome, cwd: str) -> str:
        ended = outcome.ended
        places = self.ground.places(cwd)
        roots = [places.workspace, *places.write, places.temp]
        self.cwd, moved = next_directory(ended.cwd, cwd, roots)
        if ended.exports is not None:
            self._exports = carry_exports({}, ended.exports)
        facts = [f"exit code {outcome.exit_code}", f"history id {outcome.id}", f"profile {outcome.profile}"]
        if ended.timed_out:
            facts[0] = "its time was over"
        if ended.survivors:
            facts.append(f"still running: {', '.join(map(str, ended.survivors))}")
        report = outcome.report
        if report.steps:
            facts.append(
                f"{report.before} bytes of output shown as {report.after} ({', '.join(report.steps)})"
            )
        lines = [report.text.rstrip("\n"), moved, *outcome.notes, f"[{'; '.join(facts)}]"]
        return "\n".join(line for line in lines if line)

    def _directory(self, wanted: str) -> str:
        path = os.path.normpath(os.path.join(self.cwd, wanted))
        if not os.path.isdir(path):
            raise ToolFailure(f"{path} is no directory.")
        return path

    async def _start(self, args: given.StartSession) -> Answer:
        cwd = self._directory(args.cwd)
        return await self._sessions.start(args, cwd, self.ask), False

    async def _send(self, args: given.Send) -> Answer:
        return await self._sessions.send(args.id, args.keys, self.ask), False

    async def _screen(self, args: given.Session) -> Answer:
        return await self._sessions.screen(args.id), False

    async def _wait(self, args: given.Wait) -> Answer:
        try:
            return await self._sessions.wait(args.id, args.until, args.timeout), False
        except re.error as error:
            wrong = f"until: {args.until!r} is not a regular expression ({error})."
            raise ToolFailure(wrong) from None

    async def _resize(self, args: given.Resize) -> Answer:
        return await self._sessions.resize(args.id, args.rows, args.columns), False

    async def _stop(self, args: given.Session) -> Answer:
        return await self._sessions.stop(args.id), False

    async def _output(self, args: given.StoredOutput) -> Answer:
        reader = self._reader()
        try:
            if reader.find(args.id) is None:
                raise ToolFailure(f"The history has no command {args.id}.")
            found = reader.output(args.id, offset=args.offset, limit=args.limit, pattern=args.regex)
        except re.error as error:
            wrong = f"regex: {args.regex!r} is not a regular expression ({error})."
            raise ToolFailure(wrong) from None
        finally:
            reader.close()
        lines = [f"{number}\t{line}" for number, line in found.lines]
        return "\n".join([*lines, f"[{len(lines)} of {found.total} lines]"]), False

    async def _history(self, args: given.Look) -> Answer:
        reader = self._reader()
        try:
            limit = args.limit
            found = reader.search(args.query, limit=limit) if args.query else reader.recent(limit=limit)
        finally:
            reader.close()
        lines = [f"{entry.id}\t{entry.status}\t{entry.exit_code}\t{entry.command}" for entry in found]
        return "\n".join(["id\tstatus\texit code\tcommand", *lines] if lines else ["Nothing found."]), False

    def _reader(self) -> Reader:
        path = history_path(self.ground.env)
        if not os.path.exists(path):
            raise ToolFailure("There is no history yet.")
        return Reader(path)
