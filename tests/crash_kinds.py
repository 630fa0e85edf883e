"""Kills sessions while they compact, run sub-agents or background tasks, and checks what they leave behind.

The model is the obedient one of the marathon, over HTTP; every content of a file is known from the plan.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import crash
from fakemodel import Server
from forge.foundation.history.checkpoints import history_dir, read_history
from forge_run import MODEL, environment
from marathon import Runner
from marathon_plan import Actor, Json, Step, asks_summary, call

States = dict[str, set[str]]

_BESIDE = re.compile(r"\.tmp\.\d+\.[0-9a-f]{12}$|^\.(?=.*\.forge-rewind$)|\.forge-rewind$")
BIG = 100_000
TURNS = 8


class Kill(NamedTuple):
    """When the process dies: so many milliseconds after its start, or after the request of that number."""

    after_ms: float | None = None
    at_request: int = 0


NEVER = Kill()


def compaction() -> dict[str, Step]:
    """A compaction of some kind before nearly every turn."""
    ways = ("", "auto", "overflow", "manual")
    return {str(n): Step(changes(f"file{n % 3}.txt", n), ways[n % 4]) for n in range(1, TURNS + 1)}


def agents() -> dict[str, Step]:
    """Sub-agents that change files of their own, waited for or not."""
    steps: dict[str, Step] = {}
    for turn in range(1, TURNS // 2 + 1):
        calls = changes("main.txt", turn)
        for n in range(4):
            mark = f"agent{turn}.{n}"
            work = [*changes(f"part{n}.txt", turn * 4 + n), call("Bash", command="echo part")]
            steps[mark] = Step(work)
            given = {"description": mark, "prompt": f"[[{mark}]] Go.", "run_in_background": n % 2 == 0}
            calls.append(call("Agent", subagent_type="general-purpose", **given))
        steps[str(turn)] = Step(calls)
    return steps


def background() -> dict[str, Step]:
    """Commands in the background, beside changes of files."""
    quick, slow = ("echo now", "sleep 0.1; echo later")
    tasks = [call("Bash", command=command, run_in_background=True) for command in (quick, slow, slow)]
    return {str(n): Step([*tasks, *changes(f"file{n % 3}.txt", n)]) for n in range(1, TURNS + 1)}


KINDS = {"compaction": compaction, "agents": agents, "background": background}


def changes(name: str, number: int) -> list[Json]:
    """A write and an edit of a whole file."""
    path, old = f"{{cwd}}/{name}", chr(ord("a") + number % 26)
    edit = {"old_string": old * 10, "new_string": old.upper() * 10, "replace_all": True}
    return [call("Write", file_path=path, content=old * BIG), call("Edit", file_path=path, **edit)]


def states(steps: dict[str, Step]) -> States:
    """Every content a file may have."""
    found: States = {}
    for step in steps.values():
        for name, content in contents([step]).items():
            found.setdefault(name, set()).update({content, content.lower()})
    return found


def contents(steps: list[Step]) -> dict[str, str]:
    """What the files are after these steps."""
    writes = [b["input"] for step in steps for b in step.blocks if b["tool"] == "Write"]
    return {os.path.basename(w["file_path"]): w["content"].upper() for w in writes}


class Watch:
    """What the server knows of a session: what each request was for, and when to kill it."""

    def __init__(self, steps: dict[str, Step], work: Path, kill: Kill = NEVER) -> None:
        self.actor = Actor({**steps, "resumed": Step([call("Bash", command="echo back")])}, str(work))
        self.history = ["start"]
        self.pid = 0
        self._kill = kill

    @property
    def doing(self) -> str:
        return self.history[-1]

    def decide(self, body: Json) -> Json:
        first = json.dumps(body["messages"][0])
        self.history.append("compaction" if asks_summary(body) else "agent" if "[[agent" in first else "turn")
        turn = self.actor.decide(body)
        if self.actor.requests == self._kill.at_request:
            self._strike(self._kill.after_ms or 0)
        return turn

    def _strike(self, after_ms: float) -> None:
        if after_ms:
            threading.Timer(after_ms / 1000, self._strike, [0]).start()
        elif self.pid:
            os.kill(self.pid, signal.SIGKILL)


def run_and_kill(work: Path, server: Server, steps: dict[str, Step], kill: Kill = NEVER) -> Watch:
    """Runs a session until it is killed (or done)."""
    watch = Watch(steps, work / "project", kill)
    server.decide = watch.decide
    runner = Runner(work, server.url)
    watch.pid = runner.child.pid
    timed = kill.after_ms is not None and not kill.at_request
    timer = threading.Timer((kill.after_ms or 0) / 1000 if timed else 60, runner.child.kill)
    timer.start()
    try:
        with suppress(BrokenPipeError):
            _play(runner, steps)
    finally:
        timer.cancel()
        # The pid may soon be that of another process.
        watch.pid = 0
        runner.close()
    return watch


def _play(runner: Runner, steps: dict[str, Step]) -> None:
    for mark, step in steps.items():
        if not mark.isdecimal():
            continue
        if step.compaction == "manual":
            runner.say("/compact")
            if not runner.until(""):
                return
        runner.say(f"[[{mark}]] Go on.")
        if not runner.until(f"done {mark}"):
            return


def damage(work: Path, allowed: States) -> list[str]:
    """What is wrong with the files, transcripts and checkpoints a killed session left."""
    found = [f"{path.name} was never like this" for path in _strange(work / "project", allowed)]
    found += crash.damaged_records(work)
    for meta in (work / "home").rglob("*.meta.json"):
        if not _is_json(meta):
            found.append(f"broken {meta.name}")
    return found + _bad_copies(work, allowed)


def _strange(project: Path, allowed: States) -> list[Path]:
    """Files with a content they never had; what was about to take the place of one must be whole, too."""
    return [p for p in project.iterdir() if p.read_text() not in allowed.get(_BESIDE.sub("", p.name), ())]


def _bad_copies(work: Path, allowed: States) -> list[str]:
    """Checkpoints whose copy is gone or was never the file."""
    found = []
    for transcript in (work / "home").glob(".claude/projects/*/*.jsonl"):
        folder = history_dir(str(work / "home" / ".claude"), transcript.stem)
        for snapshot in read_history(str(transcript), str(work / "project")):
            for path, backup in snapshot.files.items():
                if backup.backup_file_name is None:
                    continue
                copy = Path(folder, backup.backup_file_name)
                if not copy.exists() or copy.read_text() not in allowed[os.path.basename(path)]:
                    found.append(f"the copy of {path} is gone or was never the file")
    return found


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True


def resumes(work: Path, server: Server) -> list[str]:
    """What goes wrong when the killed session is gone on with."""
    if not crash.has_conversation(work):
        return []
    watch = Watch({}, work / "project")
    server.decide = watch.decide
    command = [sys.executable, "-m", "forge", "-p", "[[resumed]] Go on.", "--continue", "--model", MODEL]
    command += ["--permission-mode", "bypassPermissions"]
    env = environment(work / "home", server.url)
    done = subprocess.run(command, cwd=work / "project", env=env, capture_output=True, timeout=60)
    faults = list(watch.actor.faults)
    if done.returncode or done.stdout != b"done resumed\n":
        faults.append(f"does not resume: {done.returncode} {done.stdout[-200:]!r} {done.stderr[-300:]!r}")
    return faults
