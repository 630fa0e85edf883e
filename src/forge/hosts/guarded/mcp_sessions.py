"""Programs in terminals for a model: judged when they start, and every line for a shell judged again."""

from __future__ import annotations

import msgspec

from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.history.record import Finished
from forge.core.shell.sandbox.profile import Profile
from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.program import NotSent, Program, Seen
from forge.core.shell.session.programs import NoProgram, Programs, Start
from forge.core.shell.session.prompts import Line, UnclearLine
from forge.core.shell.session.typed import lines_of
from forge.foundation.system.keeping import NotStarted
from forge.hosts.forgecmd.judging import only_waits
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.mcp_arguments import StartSession
from forge.hosts.guarded.mcp_lines import refusal
from forge.hosts.guarded.perform import Job, begin, enclosure, finish, note_refusal
from forge.hosts.guarded.permission import Asking, permit

_FIRST_SCREENS = 20
_FIRST_LOOK = 0.25
_SETTLING = 2.0


class ToolFailure(Exception):
    """A tool did nothing; the text tells the model why."""


class Open(msgspec.Struct):
    """A session. `number` is its row in the history, 0 when that is complete."""

    program: Program
    number: int
    cwd: str


class Sessions:
    """The programs of one client."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._programs = Programs(ground.keeper)
        self._open: dict[str, Open] = {}

    async def start(self, args: StartSession, cwd: str, ask: Asking | None) -> str:
        """Starts a program and returns its id with the first screen."""
        ground = self._ground
        verdict, decision = ground.assess(args.command, cwd)
        if decision.verdict == "ask" and only_waits(verdict):
            decision.verdict = "allow"
        permission = await permit(ground, verdict, decision, ask)
        profile = profile_for(verdict)
        if profile is Profile.READ or only_waits(verdict):
            profile = Profile.WORKSPACE
        job = Job(args.command, cwd, verdict, decision, permission, profile)
        if not permission.granted:
            note_refusal(ground, job)
            raise ToolFailure(permission.reason)
        used, sandbox, notes = enclosure(ground, job)
        env = ground.variables(cwd, used, terminal=True)
        what = Start(args.command, cwd, env, args.rows, args.columns, sandbox=sandbox)
        number = begin(ground, job, used)
        try:
            name = await self._programs.start(what)
        except (NotStarted, NoProgram) as error:
            finish(ground, number, Finished(None, "error", error=str(error)))
            raise ToolFailure(f"The program was not started: {error}") from None
        program = self._programs.find(name)
        self._open[name] = Open(program, number, cwd)
        await _begun(program)
        return "\n".join([f"session {name}", *notes, await self.screen(name)])

    async def send(self, name: str, keys: str, ask: Asking | None) -> str:
        """Types keys and returns the screen; ToolFailure if a line must not run."""
        program = self._programs.find(name)
        try:
            lines = _lines(program, keys)
            for line in lines:
                if reason := await refusal(self._ground, self._open[name].cwd, program.typing, line, ask):
                    raise ToolFailure(reason)
            if _lines(program, keys) != lines:
                raise ToolFailure("The screen has changed meanwhile: look at it, then send the keys again.")
            program.send(keys)
        except (NotSent, UnclearLine) as error:
            raise ToolFailure(str(error)) from None
        await program.wait("settled", _SETTLING)
        return await self.screen(name)

    async def screen(self, name: str) -> str:
        """The screen as text, and what is known of the program."""
        program = self._programs.find(name)
        seen = await program.seen()
        if seen.exit_code is not None:
            self._finish(self._open[name], seen.exit_code)
        return _shown(seen)

    async def wait(self, name: str, until: str, seconds: float) -> str:
        """The screen when something has happened, or that it has not."""
        happened = await self._programs.find(name).wait(until, seconds)
        shown = await self.screen(name)
        return shown if happened else f"{shown}\n[it did not happen within {seconds:g} s]"

    async def resize(self, name: str, rows: int, columns: int) -> str:
        """The screen in another size."""
        program = self._programs.find(name)
        program.resize(rows, columns)
        await program.wait("settled", _SETTLING)
        return await self.screen(name)

    async def stop(self, name: str) -> str:
        """Ends a program."""
        code = await self._programs.stop(name)
        self._finish(self._open.pop(name), code)
        return f"[ended with exit code {code}]"

    async def close(self) -> None:
        """Ends all programs, and completes the rows of those that ended for want of use."""
        for name in self._programs.names():
            await self.stop(name)
        for session in self._open.values():
            self._finish(session, session.program.held.exit_code)
        await self._programs.close()

    def _finish(self, session: Open, code: int | None) -> None:
        number, session.number = session.number, 0
        if not number:
            return
        ring = session.program.output
        status = "success" if code == 0 else "cancelled" if code is None else "error"
        kept = bytes(ring.head) + ring.tail
        what = Finished(code, status, kept, stdout_bytes=ring.size, output_truncated=bool(ring.omitted))
        finish(self._ground, number, what)


async def _begun(program: Program) -> None:
    """Waits for the first screen; some programs show nothing and wait for input at once."""
    for _ in range(_FIRST_SCREENS):
        if await program.wait("settled", _FIRST_LOOK) or (await program.seen()).waiting:
            return


def _lines(program: Program, keys: str) -> list[Line]:
    parsed = parse_keys(keys, application=program.screen.application_keys)
    return lines_of(parsed, program.screen.view(), program.typing)


def _shown(seen: Seen) -> str:
    row, column = seen.cursor
    facts = [f"cursor in row {row + 1}, column {column + 1}"]
    if seen.title:
        facts.append(f"title {seen.title!r}")
    if seen.alternate:
        facts.append("full screen")
    if seen.password:
        facts.append("asks for a password: only the user may type it")
    elif seen.waiting:
        facts.append("waits for input")
    if seen.exit_code is not None:
        facts = [f"ended with exit code {seen.exit_code}"]
    return f"{seen.text}\n[{'; '.join(facts)}]"
