"""What the commands of one process share: rules, sandbox, environment, history, what the user has allowed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from forge.core.shell.analysis.decide import Decision, Memory
from forge.core.shell.analysis.policy import Policy
from forge.core.shell.analysis.record import Verdict
from forge.core.shell.history.record import History, default_path
from forge.core.shell.isolation import Filtered, filter_environment, quiet_variables, safe_path, snapshot
from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import Places, Profile, cache_variables, sockets_of
from forge.core.shell.trash import Trash
from forge.foundation.errors import ForgeError
from forge.foundation.homes import forge_home, home_dir
from forge.foundation.lenient import read_as
from forge.foundation.system.keeping import Keeper
from forge.foundation.system.liveness import process_start
from forge.hosts.forgecmd.judging import Past, assess, place
from forge.hosts.forgecmd.policies import load_policy

# Without a kernel sandbox everything is asked one step earlier.
_CONFINED = 3
_LONGEST_SESSION = 3 * 86_400


def history_path(env: Mapping[str, str]) -> str:
    """The history, which Forge's own commands are in as well."""
    return default_path(forge_home(env))


def trash_dir(env: Mapping[str, str]) -> str:
    """Where copies of what is destroyed are kept."""
    return os.path.join(forge_home(env), "trash")


def session_of(env: Mapping[str, str]) -> str:
    """The session a command belongs to: the agent's, else the terminal's."""
    named = env.get("FORGE_SESSION_ID") or env.get("CLAUDE_CODE_SESSION_ID")
    leader = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return named or f"terminal-{leader}-{process_start(leader)}"


class Remembered(msgspec.Struct, frozen=True):
    """What was allowed for a session."""

    keys: list[str] = []


class Ground:
    """The shared things. Whoever has it must call `close`."""

    def __init__(self, env: Mapping[str, str], policy: Policy, facts: Facts, keeper: Keeper) -> None:
        self.env = env
        self.policy = policy
        self.facts = facts
        self.keeper = keeper
        self.agent = ""
        self.session_id = session_of(env)
        self.filtered: Filtered = filter_environment(env)
        self.snapshot = snapshot(self.filtered.env)
        self.trash = Trash(trash_dir(env))
        self.history, self.history_problem = _open_history(env, self.filtered.secrets)
        self.temp = tempfile.mkdtemp(prefix="forgecmd-")
        self.memory = Memory(self._remembered().keys)
        self._past = Past(self.memory)

    def assess(self, text: str, cwd: str) -> tuple[Verdict, Decision]:
        """The judgement of a command, and the decision as far as no person is needed."""
        # Rules may change while a server runs.
        self.policy = load_policy(self.env, cwd)
        around = place(cwd, self.env, self.policy)
        verdict, decision = assess(text, around, self.policy, past=self._past)
        if decision.verdict == "allow_session" and self.facts.layer > _CONFINED:
            decision.verdict = "ask"
            decision.trace.append("no sandbox on this machine: asked one step earlier")
        elif decision.verdict == "allow_session" and self.history is None and verdict.risk > 4:
            decision.verdict = "ask"
            decision.trace.append("the history cannot be written: asked one step earlier")
        return verdict, decision

    def places(self, cwd: str) -> Places:
        """What the sandbox needs to know of this session."""
        around = place(cwd, self.env, self.policy)
        hide = (trash_dir(self.env), *sockets_of(self.env))
        return Places(around.workspace, home_dir(self.env), self.temp, around.extra, hide)

    def variables(
        self, cwd: str, profile: Profile, *, terminal: bool, exports: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """The environment of a command; `exports` are what the one before it has left."""
        quiet = quiet_variables(terminal=terminal)
        variables = {**self.filtered.env, **quiet, **(exports or {}), "TERM": quiet["TERM"], "PWD": cwd}
        variables["PATH"] = safe_path(variables.get("PATH", os.defpath), self.places(cwd).workspace)
        if profile is not Profile.FULL:
            variables["TMPDIR"] = self.temp
        if profile is Profile.READ:
            variables |= cache_variables(os.path.join(self.temp, "cache"))
        return variables

    def remember(self) -> None:
        """Keeps what was allowed for this session for its next command."""
        path = self._memory_file()
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _forget_old(os.path.dirname(path))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(msgspec.json.encode(Remembered(self.memory.keys())))

    def close(self) -> None:
        """Ends everything that was started, and removes what was temporary."""
        self.keeper.close()
        if self.history is not None:
            self.history.close()
        shutil.rmtree(self.temp, ignore_errors=True)

    def _memory_file(self) -> str:
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in self.session_id)
        return os.path.join(forge_home(self.env), "run", "sessions", f"{name[:100]}.json")

    def _remembered(self) -> Remembered:
        return read_as(self._memory_file(), Remembered) or Remembered()


def _forget_old(folder: str) -> None:
    """Sessions of which nothing was heard for days are over."""
    for entry in os.scandir(folder):
        if entry.stat(follow_symlinks=False).st_mtime < time.time() - _LONGEST_SESSION:
            with suppress(OSError):
                os.unlink(entry.path)


async def open_ground(env: Mapping[str, str], cwd: str) -> Ground:
    """Everything for commands in a directory; ConfigError if the rules cannot be read."""
    policy = load_policy(env, cwd)
    keeper = Keeper()
    return Ground(env, policy, await probe(keeper), keeper)


def _open_history(env: Mapping[str, str], secrets: tuple[str, ...]) -> tuple[History | None, str]:
    try:
        return History(history_path(env), secrets=secrets), ""
    except ForgeError as error:
        return None, str(error)
