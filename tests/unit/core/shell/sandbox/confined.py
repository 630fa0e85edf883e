"""A workspace, a home and a world outside of them, and commands confined to the first."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import Places, Profile, confinement
from forge.core.shell.session.command import Command, Ended, run
from forge.foundation.system.keeping import Confinement, Keeper
from unit.core.shell.session.places import stopped_when_ready

SOCKET = "outside.sock"


class World:
    """Directories below one root; the keeper serves all tests of a module."""

    def __init__(self, root: Path, keeper: Keeper, facts: Facts) -> None:
        self.keeper, self.facts = keeper, facts
        self.root = root
        self.workspace, self.home = root / "workspace", root / "home"
        self.outside, self.temp = root / "outside", root / "temp"
        for directory in (self.workspace / ".git/hooks", self.home / ".ssh", self.outside, self.temp):
            directory.mkdir(parents=True)
        (self.workspace / ".git/config").write_text("[core]\n")
        (self.workspace / "file").write_text("inside\n")
        (self.home / ".ssh/id_rsa").write_text("secret key\n")
        (self.home / "notes").write_text("notes\n")
        (self.outside / "file").write_text("outside\n")

    def places(self) -> Places:
        hide = (str(self.outside / SOCKET),)
        return Places(str(self.workspace), str(self.home), str(self.temp), hide=hide)

    def sandbox(self, layer: int, profile: Profile = Profile.WORKSPACE) -> Confinement | None:
        facts = self.facts if layer == 1 else msgspec.structs.replace(self.facts, namespaces=False)
        return confinement(profile, self.places(), facts)

    def run(self, text: str, sandbox: Confinement | None, **more: str) -> Ended:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            "OUT": str(self.outside),
            "PYTHON": sys.executable,
            **more,
        }
        command = Command(
            text,
            str(self.workspace),
            env,
            timeout=8.0,
            grace=0.1,
            sandbox=sandbox,
            terminal="TERMINAL" in more,
        )
        play = stopped_when_ready if "STOP" in more else run
        return asyncio.run(play(command, self.keeper))


def known_facts(keeper: Keeper) -> Facts:
    return asyncio.run(probe(keeper))
