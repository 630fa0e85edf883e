"""Kills a rewind of files and conversation at some moment, and checks that doing it again finishes it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import crash_kinds
from crash_kinds import States, changes
from fakemodel import Server
from forge.foundation.history.transcript import read_records
from forge_run import environment
from marathon import Runner
from marathon_plan import Step

FILES = 8
PROMPTS = 4


def steps() -> dict[str, Step]:
    """Each prompt changes all files."""
    return {
        str(n): Step([c for f in range(FILES) for c in changes(f"file{f}.txt", n * FILES + f)])
        for n in range(1, PROMPTS + 1)
    }


class Scene:
    """A finished session that is put back to its end before each rewind."""

    def __init__(self, base: Path, server: Server) -> None:
        self.work, self._kept, self._server = base / "scene", base / "kept", server
        crash_kinds.run_and_kill(self.work, server, steps())
        shutil.copytree(self.work, self._kept)
        (path,) = (self.work / "home").glob(".claude/projects/*/*.jsonl")
        self.session = path.stem
        records = list(read_records(str(path)))
        prompts = [r for r in records if r["type"] == "user" and "permissionMode" in r]
        self.prompts = [r["uuid"] for r in prompts]
        self.allowed: States = crash_kinds.states(steps())

    def restore(self) -> None:
        shutil.rmtree(self.work)
        shutil.copytree(self._kept, self.work)

    def command(self, prompt: int) -> list[str]:
        given = ["sessions", "rewind", self.session, "--to", self.prompts[prompt], "--both"]
        return [sys.executable, "-m", "forge", *given]

    def rewind(self, prompt: int, after_ms: float | None = None) -> float:
        """Rewinds by the command, killed after some milliseconds; returns how long it took."""
        env = environment(self.work / "home")
        began = time.monotonic()
        child = subprocess.Popen(
            self.command(prompt), cwd=self.work / "project", env=env, stdout=subprocess.DEVNULL
        )
        _kill_in_time(child, after_ms)
        return (time.monotonic() - began) * 1000

    def rewind_alive(self, prompt: int, after_ms: float | None = None) -> float:
        """The same by a request to a living session, killed so long after the request."""
        runner = Runner(self.work, self._server.url, "--resume", self.session)
        try:
            runner.send(_request("initialize"))
            assert runner.child.stdout is not None
            runner.child.stdout.readline()
            began = time.monotonic()
            with suppress(BrokenPipeError):
                runner.send(_request("rewind_files", user_message_id=self.prompts[prompt]))
            timer = threading.Timer((10_000 if after_ms is None else after_ms) / 1000, runner.child.kill)
            timer.start()
            runner.child.stdout.readline()
            if after_ms is not None:
                timer.join()
            timer.cancel()
            return (time.monotonic() - began) * 1000
        finally:
            runner.close()

    def faults(self, prompt: int) -> list[str]:
        """What is wrong after a kill, after rewinding once more, and after going on."""
        found = crash_kinds.damage(self.work, self.allowed)
        self.rewind(prompt)
        found += self._unlike(prompt)
        found += crash_kinds.damage(self.work, self.allowed)
        return found + crash_kinds.resumes(self.work, self._server)

    def _unlike(self, prompt: int) -> list[str]:
        """Files that are not what they were when the prompt was given."""
        before = crash_kinds.contents(list(steps().values())[:prompt])
        project = self.work / "project"
        present = {p.name: p.read_text() for p in project.iterdir()}
        return [f"{n} is not as it was" for n in {*before, *present} if before.get(n) != present.get(n)]


def _request(subtype: str, **fields: str) -> dict[str, object]:
    return {"type": "control_request", "request_id": subtype, "request": {"subtype": subtype, **fields}}


def _kill_in_time(child: subprocess.Popen[bytes], after_ms: float | None) -> None:
    try:
        child.wait(None if after_ms is None else after_ms / 1000)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait(10)
