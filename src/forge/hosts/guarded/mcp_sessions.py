"""Programs in terminals for a model: started when judged, and every line for a shell judged again."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable

import msgspec

from forge.core.shell.analysis.decide import Decision
from forge.core.shell.analysis.record import RANK, UNANALYSABLE, Verdict
from forge.core.shell.history.record import Finished
from forge.core.shell.sandbox.profile import Profile
from forge.core.shell.session.keys import SUBMITTING, parse_keys
from forge.core.shell.session.program import NotSent, Program, Seen
from forge.core.shell.session.programs import NoProgram, Programs, Start
from forge.core.shell.session.prompts import Line, Prompt, UnclearLine
from forge.foundation.errors import ForgeError
from forge.foundation.system.keeping import NotStarted
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.mcp_arguments import StartSession
from forge.hosts.guarded.perform import Job, begin, enclosure, finish, note_refusal, profile_of
from forge.hosts.guarded.permission import Asking, Permission, permit

_FIRST_SCREEN = 5.0
_SETTLING = 2.0
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "su", "sudo", "ssh")
# How a line for an interpreter is written as a command that can be judged.
_CODE = {
    "python": "-c", "python3": "-c", "ipython": "-c", "node": "-e", "ruby": "-e", "irb": "-e", "perl": "-e",
    "php": "-r", "psql": "-c", "mysql": "-e", "mariadb": "-e", "sqlite3": ":memory:", "redis-cli": "",
}  # fmt: skip
_SPOKEN = {"irb": "ruby", "ipython": "python3"}


class ToolFailure(Exception):
    """A tool did nothing; the text tells the model why."""


class Open(msgspec.Struct):
    """A session: its directory, its number in the history, and what was typed since the last line."""

    cwd: str
    number: int
    program: str
    typed: str = ""


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
        if decision.verdict == "ask" and _is_harmless_inside(verdict):
            decision.verdict = "allow"
        permission = await permit(ground, verdict, decision, ask)
        profile = max(profile_of(verdict), Profile.WORKSPACE, key=list(Profile).index)
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
            raise ToolFailure(f"The program was not started: {error}.") from None
        self._open[name] = Open(cwd, number, _program_of(verdict))
        await self._programs.find(name).wait("settled", _FIRST_SCREEN)
        return "\n".join([f"session {name}", *notes, await self.screen(name)])

    async def send(self, name: str, keys: str, ask: Asking | None) -> str:
        """Types keys and returns the screen; ToolFailure if a line must not run."""
        program, session = self._programs.find(name), self._session(name)
        lines = self._unprompted(program, session, keys)
        for line in lines:
            await self._allow(session, line, ask)
        refused: list[Line] = []

        def check(line: Line) -> str:
            refused.append(line)
            return "must be judged first"

        try:
            program.send(keys, check=check)
        except UnclearLine as error:
            raise ToolFailure(str(error)) from None
        except NotSent as error:
            if not refused:
                raise ToolFailure(str(error)) from None
            await self._send_judged(program, session, keys, ask)
        await program.wait("settled", _SETTLING)
        return await self.screen(name)

    async def _send_judged(self, program: Program, session: Open, keys: str, ask: Asking | None) -> None:
        """Sends keys that contain lines for a shell or interpreter, after each has been judged."""
        lines: list[Line] = []

        def collect(line: Line) -> str:
            lines.append(line)
            return ""

        before = len(program.command)  # nothing happens between here and the end: the screen stays the same
        assert before >= 0
        try:
            lines = _lines_of(program, keys)
            for line in lines:
                await self._allow(session, line, ask)
            program.send(keys, check=collect)
        except (NotSent, UnclearLine) as error:
            raise ToolFailure(str(error)) from None

    async def screen(self, name: str) -> str:
        """The screen as text, and what is known of the program."""
        program = self._programs.find(name)
        seen = await program.seen()
        if seen.exit_code is not None:
            self._finish(name, program, seen.exit_code)
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
        program = self._programs.find(name)
        code = await self._programs.stop(name)
        self._finish(name, program, code)
        self._open.pop(name, None)
        return f"[ended with exit code {code}]"

    async def close(self) -> None:
        """Ends all programs."""
        for name in self._programs.names():
            await self.stop(name)
        await self._programs.close()

    def _session(self, name: str) -> Open:
        return self._open[name]

    async def _allow(self, session: Open, line: Line, ask: Asking | None) -> None:
        """ToolFailure unless a line may run."""
        ...

    def _unprompted(self, program: Program, session: Open, keys: str) -> list[Line]: ...

    def _finish(self, name: str, program: Program, code: int) -> None: ...
