"""Recorded traffic between an Agent SDK and the reference: plays the SDK's side and collects the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from fakemodel import serve
from forge.foundation.system.process import descendants
from forge_run import environment

Row = dict[str, Any]


def bash(command: str) -> list[Row]:
    return [{"tool": "Bash", "input": {"command": command}}]


# What the model said while the traffic was recorded.
TURNS: dict[str, list[Any]] = {
    "sdk-py-query": [[{"text": "Hello from model"}]],
    "sdk-py-client": [[{"text": "first"}], [{"text": "second"}]],
    "sdk-py-can-use-tool": [bash("touch allowed.txt"), bash("touch denied.txt"), [{"text": "ok"}]],
    "sdk-py-interrupt": [bash("sleep 20"), [{"text": "x"}]],
    "sdk-ts-query": [[{"text": "Hello"}]],
    "sdk-ts-can-use-tool": [bash("touch allowed.txt"), bash("npm denied")],
    "sdk-ts-control-methods": [
        [{"tool": "Write", "input": {"file_path": "{cwd}/new.txt", "content": "x"}}],
        [{"text": "ok"}],
    ],
}


# What the process need not say, with the reason.
SILENT = {"commands_changed": "Forge has no commands that could change yet"}


def _command_runs(pid: int) -> None:
    """Waits until the process runs a command: before that, an interrupt would meet the model's answer."""
    pause, end = threading.Event(), time.monotonic() + 10
    while not descendants(pid) and time.monotonic() < end:
        pause.wait(0.01)


class Replay:
    """One recording against one process. Tokens such as `<uuid-5>` become what the process really said."""

    def __init__(self, rows: list[Row], name: str, place: Path) -> None:
        self.rows = [row for row in rows if row.get("msg", {}).get("subtype") not in SILENT]
        self.cwd, self.home = place / "project", place / "home"
        self.cwd.mkdir()
        self.home.mkdir()
        (self.cwd / "README.md").write_text("hello\n")
        self.turns = json.loads(json.dumps(TURNS[name]).replace("{cwd}", str(self.cwd)))
        self.known: dict[str, str] = {}
        self.got: list[Row] = []
        self.code = -1

    def run(self) -> None:
        """Sends what the SDK sent, each time after everything the process said before in the recording."""
        spawn = self.rows[0]
        with serve(self.turns) as server:
            env = environment(self.home, server.url, **spawn["env"])
            child = subprocess.Popen(
                [sys.executable, "-m", "forge", *spawn["argv"][1:]],
                cwd=self.cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert child.stdin is not None and child.stdout is not None
            # A record that never comes must end the replay, not hold it up.
            watch = threading.Timer(10, child.kill)
            watch.start()
            with child, child.stdin, child.stdout:
                for row in self.rows[1:]:
                    if row["dir"] == "out":
                        self._hear(row["msg"], child.stdout.readline())
                    elif row["dir"] == "in":
                        if row["msg"].get("request", {}).get("subtype") == "interrupt":
                            _command_runs(child.pid)
                        child.stdin.write(self._filled(row["msg"]) + b"\n")
                        child.stdin.flush()
                    elif row["dir"] == "in_eof":
                        child.stdin.close()
                self.got += [json.loads(line) for line in child.stdout]
            watch.cancel()
            self.code = child.returncode

    def _hear(self, recorded: Row, line: bytes) -> None:
        if not line:
            return
        said = json.loads(line)
        self.got.append(said)
        for key in ("request_id", "uuid"):
            if key in recorded and key in said:
                self.known[recorded[key]] = said[key]
        if said["type"] == recorded["type"] == "control_request":
            self.known[recorded["request"]["tool_use_id"]] = said["request"]["tool_use_id"]

    def _filled(self, message: Row) -> bytes:
        text = json.dumps(message).replace("<cwd>", str(self.cwd))
        for token, value in self.known.items():
            text = text.replace(f'"{token}"', f'"{value}"')
        return os.fsencode(text.replace('"<num>"', "0"))
