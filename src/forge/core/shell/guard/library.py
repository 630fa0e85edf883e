"""The guarded shell for programs that are no agents: one object, three errors, one result."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from forge.core.shell.analysis.decide import ASK, DENY
from forge.core.shell.guard.judging import Assessed, Judging, Where
from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.guard.setup import Source
from forge.core.shell.history.kinds import Begun, Finished
from forge.core.shell.history.writer import Writer
from forge.core.shell.isolation import carry_exports, filter_environment, next_directory
from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import Places, confinement
from forge.core.shell.session.command import Command, Ended, run
from forge.foundation.system.keeping import Keeper


class Permission(msgspec.Struct, frozen=True):
    """Something that commands need; `risk` is what it counts before a command is known."""

    name: str
    risk: int
    category: str = "execute"
    confirm: bool = True


# The score of a command decides; these are the defaults of the three ways to run one.
PERMISSIONS = (
    Permission("forgecmd.execute", 7),
    Permission("forgecmd.interactive", 8),
    Permission("forgecmd.dangerous", 10),
)


class ShellConfig(msgspec.Struct, frozen=True):
    """`auto_approve` skips questions, never refusals; `history` and `temp` are paths, "" for none."""

    workspace: str
    home: str
    env: Mapping[str, str]
    temp: str
    sources: tuple[Source, ...] = ()
    auto_approve: bool = False
    timeout: float = 120.0
    history: str = ""
    session_id: str = "library"
    sandboxed: bool = True


class CommandResult(msgspec.Struct, frozen=True):
    """How a command ended; `output` is standard output and standard error together."""

    exit_code: int
    output: str
    cwd: str
    category: str
    risk: int
    timed_out: bool = False


class DangerousCommand(Exception):
    """The command is refused; the text says what it would do and what to do instead."""


class PermissionDenied(Exception):
    """Somebody, or a rule, said no."""


class NeedsApproval(Exception):
    """Somebody must be asked; `action` names what for."""

    def __init__(self, text: str, action: str) -> None:
        super().__init__(text)
        self.action = action


class CommandShell:
    """Runs commands one after the other, with directory and variables carried over. Must be closed."""

    def __init__(self, config: ShellConfig) -> None:
        self.cwd = config.workspace
        self._config = config
        self._judging = Judging(config.sources)
        self._keeper = Keeper()
        self._lock = asyncio.Lock()
        self._env: Mapping[str, str] = filter_environment(config.env).env
        self._facts: Facts | None = None
        secrets = filter_environment(config.env).secrets
        self._writer = (
            Writer(config.history, secrets=secrets, direct=True, clock=time.time) if config.history else None
        )

    async def execute(
        self, text: str, *, approve: Callable[[NeedsApproval], Awaitable[bool]] | None = None
    ) -> CommandResult:
        """Runs a command; DangerousCommand, PermissionDenied, or NeedsApproval if nobody can be asked."""
        async with self._lock:
            assessed = self._assessed(text)
            call_id = os.urandom(8).hex()
            try:
                status = await self._permitted(assessed, approve)
            except (DangerousCommand, PermissionDenied, NeedsApproval):
                self._begin(assessed, "denied", call_id)
                raise
            self._begin(assessed, status, call_id)
            ended = await self._run(text, assessed)
            self._finish(ended, call_id)
            self.cwd = next_directory(ended.cwd, self.cwd, [self._config.workspace])[0]
            self._env = carry_exports(self._env, ended.exports)
            verdict = assessed.verdict
            output = ended.output.text()
            return CommandResult(
                ended.exit_code, output, self.cwd, verdict.category, verdict.risk, ended.timed_out
            )

    async def close(self) -> None:
        """Ends everything the commands have left."""
        self._keeper.close()
        if self._writer is not None:
            self._writer.close()

    def _assessed(self, text: str) -> Assessed:
        config = self._config
        where = Where(self.cwd, config.home, [config.workspace], config.env)
        return self._judging.assess(text, where, {})

    async def _permitted(
        self, assessed: Assessed, approve: Callable[[NeedsApproval], Awaitable[bool]] | None
    ) -> str:
        decision, verdict = assessed.decision, assessed.verdict
        if decision.verdict == DENY:
            words = self._judging.refused(assessed)
            raise PermissionDenied(words) if decision.rule is not None else DangerousCommand(words)
        if decision.verdict != ASK or self._config.auto_approve:
            return "auto_approved"
        action = "forgecmd.interactive" if verdict.interactive else "forgecmd.execute"
        question = NeedsApproval(assessed.text, action)
        if approve is None:
            raise question
        if not await approve(question):
            raise PermissionDenied(assessed.text)
        return "granted"

    async def _run(self, text: str, assessed: Assessed) -> Ended:
        config = self._config
        sandbox = None
        if config.sandboxed:
            self._facts = self._facts or await probe(self._keeper)
            places = Places(config.workspace, config.home, config.temp)
            sandbox = confinement(profile_for(assessed.verdict), places, self._facts)
        env = {**self._env, "PWD": self.cwd}
        return await run(Command(text, self.cwd, env, timeout=config.timeout, sandbox=sandbox), self._keeper)

    def _begin(self, assessed: Assessed, status: str, call_id: str) -> None:
        if self._writer is not None:
            grant = assessed.grant()
            self._writer.begin(
                Begun(
                    self._config.session_id,
                    grant.command,
                    self.cwd,
                    grant.risk,
                    permission_status=status,
                    category=grant.category,
                    decision=grant.decision,
                    reasons=grant.reasons,
                    profile=grant.profile,
                    call_id=call_id,
                )
            )

    def _finish(self, ended: Ended, call_id: str) -> None:
        if self._writer is not None:
            status = "timeout" if ended.timed_out else "error" if ended.exit_code else "success"
            kept = ended.output.head + ended.output.tail
            done = Finished(ended.exit_code, status, stdout=kept, stdout_bytes=ended.output.size)
            self._writer.finish(self._config.session_id, call_id, done)
