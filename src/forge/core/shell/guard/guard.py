"""The one object of a session that knows how its commands are guarded. Its parts are loaded when needed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any

import msgspec

from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.setup import Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.guard.judging import Assessed, Judging
    from forge.core.shell.guard.running import Workplace
    from forge.core.shell.history.kinds import Finished
    from forge.core.shell.history.writer import Writer

# Names that say that the value is a secret; other secrets are known by their shape.
_SECRET = ("KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "AUTH")


class Guard:
    """How commands are judged, run and recorded. Whoever ends the session must `close` it.

    What is known about calls is kept by their ids; `never` says why one must not run whatever is answered.

    Ports for hosts: `ask_secret` gets the line that asks for a password and answers what the user typed, None
    if nobody could; `focus` is called with a program that the user may want to watch and take over.
    """

    def __init__(self, setup: Setup | None = None) -> None:
        self.setup = setup or Setup()
        self.grants: dict[str, Grant] = {}
        self.wider: dict[str, Callable[[str, str], Awaitable[bool]]] = {}
        self.ask_secret: Callable[[str], Awaitable[str | None]] | None = None
        self.focus: Callable[[str, Any], None] | None = None
        self.said: set[str] = set()
        self.assessed: dict[str, Assessed] = {}
        self.kept: dict[str, str] = {}
        self.never: dict[str, str] = {}
        self._judging: Judging | None = None
        self._workplace: Workplace | None = None
        self._writer: Writer | None = None
        self._begun: dict[str, str] = {}

    @property
    def mode(self) -> str:
        return self.setup.mode

    def judging(self) -> Judging:
        """The judge; ConfigError if a settings file cannot be used."""
        if self._judging is None:
            found: Any = import_module("forge.core.shell.guard.judging")
            self._judging = found.Judging(self.setup.sources)
        return self._judging

    def workplace(self) -> Workplace:
        """The place where guarded commands run."""
        if self._workplace is None:
            found: Any = import_module("forge.core.shell.guard.running")
            self._workplace = found.Workplace(self)
        return self._workplace

    def follow(self, setup: Setup) -> None:
        """Takes over changed settings; what the user has said in this session stays. Raises ConfigError."""
        if setup == self.setup:
            return
        if self._judging is not None:
            found: Any = import_module("forge.core.shell.guard.judging")
            memory, self._judging = self._judging.memory, found.Judging(setup.sources)
            self._judging.memory = memory
        self.setup = setup

    @property
    def unrecorded(self) -> str:
        """Why the last commands could not be recorded; "" if they could."""
        return self._writer.failure if self._writer is not None else ""

    def grant_of(self, call_id: str) -> Grant | None:
        return self.grants.get(call_id)

    def begin(
        self,
        call_id: str,
        cwd: str,
        session_id: str,
        env: Mapping[str, str],
        command: str = "",
        *,
        pty: str | None = None,
    ) -> None:
        """Notes that the command of a call starts, or that it was denied."""
        grant = self.grants.get(call_id) or Grant(command)
        writer = self._recording(env)
        if writer is None:
            return
        kinds: Any = import_module("forge.core.shell.history.kinds")
        self._begun[call_id] = session_id
        writer.begin(
            kinds.Begun(
                session_id,
                command or grant.command,
                cwd,
                grant.risk,
                permission_status=grant.status,
                permission_scope=grant.scope,
                pty_session_id=pty,
                category=grant.category,
                decision=grant.decision,
                reasons=grant.reasons,
                profile=grant.profile,
                agent="forge",
                call_id=call_id,
                env_snapshot=self._snapshot(env),
            )
        )

    def finish(self, call_id: str, **facts: Any) -> None:
        """Notes how the command of a call ended: the fields of `Finished`."""
        session_id = self._begun.pop(call_id, "")
        if session_id and self._writer is not None:
            kinds: Any = import_module("forge.core.shell.history.kinds")
            done: Finished = kinds.Finished(**facts)
            self._writer.finish(session_id, call_id, done)

    async def row(self, call_id: str) -> int:
        """The number of a call's row in the history; 0 if it has none."""
        return await self._writer.number(call_id) if self._writer is not None else 0

    async def recorded(self) -> None:
        """Returns when everything so far is in the history."""
        if self._writer is not None:
            await self._writer.written()

    async def history_failure(self, env: Mapping[str, str]) -> str:
        """Why nothing can be recorded; "" if it can, or if that is not wanted."""
        writer = self._recording(env)
        return "" if writer is None else await writer.problem()

    def mark(self, call_id: str, **changes: Any) -> None:
        """Changes what is known about a call."""
        if grant := self.grants.get(call_id):
            self.grants[call_id] = msgspec.structs.replace(grant, **changes)

    async def close(self) -> None:
        """Ends all programs and commands, and writes what is left to write."""
        if self._workplace is not None:
            await self._workplace.close()
            self._workplace = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _recording(self, env: Mapping[str, str]) -> Writer | None:
        if not self.setup.history:
            return None
        if self._writer is None:
            secrets = [value for name, value in env.items() if any(word in name.upper() for word in _SECRET)]
            found: Any = import_module("forge.core.shell.history.writer")
            self._writer = found.new_writer(self.setup.history, secrets, direct=self.setup.mode == "full")
        return self._writer

    def _snapshot(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Names and hashes of what a filtered environment holds; without a filter it says nothing."""
        if self.setup.mode != "full":
            return {}
        snapshot: Mapping[str, str] = import_module("forge.core.shell.isolation").snapshot(env)
        return snapshot
