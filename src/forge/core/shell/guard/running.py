"""Where guarded commands run: a keeper, what the machine can enforce, a filtered environment, programs."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from typing import Any

from forge.core.shell.isolation import carry_exports, filter_environment, quiet_variables, safe_path
from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import (
    NoSandbox,
    Places,
    Profile,
    cache_variables,
    confinement,
    cut_off,
    sockets_of,
)
from forge.core.shell.session.programs import Programs
from forge.core.shell.trash import Kept, Trash
from forge.core.tool import ToolContext, ToolError
from forge.foundation.system.keeping import Confinement, Keeper
from forge.foundation.system.locks import DEFAULT_TEMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.guard.guard import Guard

# A sandbox from here on confines files as well.
_ENFORCING = 3


class Workplace:
    """One for a session; `lock` lets one command after the other use the shared shell."""

    def __init__(self, guard: Guard) -> None:
        self.keeper = Keeper()
        self.programs = Programs(self.keeper)
        self.lock = asyncio.Lock()
        self._exported: dict[str, str] = {}
        self._unset: set[str] = set()
        self.calls: dict[str, str] = {}
        self._guard = guard
        self._facts: Facts | None = None
        self._temp = ""

    async def facts(self) -> Facts:
        """What this machine can enforce; found out once."""
        if self._facts is None:
            self._facts = await probe(self.keeper)
        return self._facts

    async def enforces(self) -> bool:
        """Whether any profile but the full one can be had here."""
        return (await self.facts()).layer <= _ENFORCING

    async def sandbox(self, profile: str, ctx: ToolContext) -> Confinement | None:
        """The sandbox of a profile, None for the full one or for none; ToolError if it cannot be had.

        Behind an air gap every command has one, as it has no network.
        """
        gap = ctx.setting("airGap", False) is True
        if not profile and not gap:
            return None
        try:
            found = confinement(Profile(profile or Profile.FULL), self._places(ctx), await self.facts())
            return cut_off(found, await self.facts()) if gap else found
        except NoSandbox as error:
            raise ToolError(f"{error} Nothing was run.") from None

    def environment(self, ctx: ToolContext, profile: str = "", *, terminal: bool = False) -> dict[str, str]:
        """What a guarded command gets to know: nothing secret, nothing that loads code."""
        kept = filter_environment(ctx.env, allow=self._trusted("environment")).env
        trusted = _paths(self._trusted("path"), ctx)
        kept["PATH"] = safe_path(kept.get("PATH", os.defpath), ctx.start_dir, trusted=trusted)
        quiet = quiet_variables(terminal=terminal)
        own = {"TMPDIR": self.temp(ctx)} if profile not in ("", Profile.FULL) else {}
        if profile == Profile.READ:
            own |= cache_variables(os.path.join(self.temp(ctx), "cache"))
        left = {name: value for name, value in kept.items() if name not in self._unset}
        return {**left, **self._exported, **quiet, **own}

    def carry(self, given: Mapping[str, str], exports: Mapping[str, str] | None) -> None:
        """Takes over what a command has changed of the environment it was given, for the next ones."""
        if exports is None:
            return
        changed = {name: value for name, value in exports.items() if given.get(name) != value}
        self._exported |= carry_exports({}, changed)
        self._unset = (self._unset | (given.keys() - exports.keys())) - exports.keys()
        for name in self._unset:
            self._exported.pop(name, None)

    def _trusted(self, key: str) -> list[str]:
        """A list of the settings, without what a project adds that is not trusted."""
        found = [source.data.get(key) for source in self._guard.setup.sources if source.trusted]
        return [name for names in found if isinstance(names, list) for name in names if isinstance(name, str)]

    def temp(self, ctx: ToolContext) -> str:
        """The temporary directory of the session's commands, made for this user alone."""
        if not self._temp:
            root = os.path.join(ctx.env.get("TMPDIR") or DEFAULT_TEMP, f"forge-{os.getuid()}")
            os.makedirs(root, mode=0o700, exist_ok=True)
            self._temp = os.path.join(root, os.urandom(6).hex())
            os.mkdir(self._temp, 0o700)
        return self._temp

    async def keep_safe(self, call_id: str, ctx: ToolContext) -> Kept | None:
        """Copies what a dangerous command is about to change, if there is a place for copies."""
        grant = self._guard.grant_of(call_id)
        if grant is None or not self._guard.setup.trash or not (grant.precious or grant.repository):
            return None
        trash = Trash(self._guard.setup.trash)
        kept = await asyncio.to_thread(trash.keep, grant.precious, grant.command)
        if grant.repository:
            kept = await trash.keep_repository(kept, ctx.cwd, self.environment(ctx), self.keeper)
        self._guard.kept[call_id] = kept.id
        return kept

    async def close(self) -> None:
        """Ends everything that runs here."""
        await self.programs.close()
        self.keeper.close()
        if self._temp:
            shutil.rmtree(self._temp, ignore_errors=True)

    def _places(self, ctx: ToolContext) -> Places:
        sandbox = ctx.setting("sandbox", None)
        files = sandbox.get("filesystem") if isinstance(sandbox, dict) else None
        files = files if isinstance(files, dict) else {}
        extra: Any = self._guard.judging().policy.extra
        # What comes with a project must not open anything in full mode.
        opened = files.get("allowWrite") if self._guard.mode != "full" else ()
        writable = [*ctx.directories[1:], *_paths(opened, ctx), *_paths(extra, ctx)]
        hidden = (*_paths(files.get("denyRead"), ctx), *sockets_of(ctx.env), self._guard.setup.trash)
        hidden = tuple(path for path in hidden if path)
        home = ctx.env.get("HOME") or os.path.expanduser("~")
        return Places(ctx.start_dir, home, self.temp(ctx), tuple(writable), hidden)


def _paths(texts: Any, ctx: ToolContext) -> list[str]:
    named = [text for text in texts if isinstance(text, str)] if isinstance(texts, list | tuple) else []
    # Two slashes in front are how permission rules write a path from the root.
    plain = [text[1:] if text.startswith("//") else os.path.expanduser(text) for text in named]
    return [os.path.normpath(os.path.join(ctx.start_dir, text)) for text in plain]
