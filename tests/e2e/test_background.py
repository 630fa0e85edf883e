from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge

STREAM_INPUT = ("--input-format", "stream-json")
PROMPT = '{"type":"user","message":{"role":"user","content":"go"}}\n'


def turns(*calls: dict[str, Any], words: tuple[str, ...] = ("started", "heard")) -> list[Any]:
    return [[{"tool": "Bash", "input": call} for call in calls], *([{"text": w}] for w in words)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home", "project", "temp"):
        (tmp_path / name).mkdir()
    return tmp_path


def run_env(place: Path, url: str) -> dict[str, str]:
    return environment(place / "home", url, TMPDIR=str(place / "temp"))


@contextmanager
def running(place: Path, scenario: list[Any], *args: str) -> Iterator[subprocess.Popen[str]]:
    """A run of forge that is still going on."""
    with serve(scenario) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "forge", "-p", *args, *STREAM, "--permission-mode", "bypassPermissions"],
            cwd=place / "project",
            env=run_env(place, server.url),
            stdin=subprocess.PIPE if args == STREAM_INPUT else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()


def until_result(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    assert process.stdout is not None
    records = []
    for line in process.stdout:
        records.append(json.loads(line))
        if records[-1]["type"] == "result":
            break
    return records


def is_gone(pid: int) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)


def left_over(place: Path) -> list[str]:
    """The processes that still work in the directories of the test."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if (entry / "cwd").resolve() == place / "project":
                    found.append((entry / "cmdline").read_text())
            except OSError:
                continue
    return found


def test_the_end_of_a_background_command_wakes_the_model(place: Path) -> None:
    with serve(turns({"command": "sleep 0.1; echo '<bg>'", "run_in_background": True})) as server:
        env = run_env(place, server.url)
        run = forge("-p", "go", *STREAM, "--allowedTools", "Bash", cwd=place / "project", env=env)
        last = server.requests[-1].body["messages"][-1]["content"]
    notification = run.of("system", "task_notification")[0]
    started = run.of("system", "task_started")[0]
    assert Path(notification["output_file"]).read_text() == "<bg>\n\n[exited with code 0]\n"
    told = last if isinstance(last, str) else last[-1]["text"]
    assert told.startswith("<system-reminder>\n")
    assert told.endswith(
        "<task-notification>\n"
        f"<task-id>{started['task_id']}</task-id>\n"
        f"<tool-use-id>{started['tool_use_id']}</tool-use-id>\n"
        f"<output-file>{notification['output_file']}</output-file>\n"
        "<status>completed</status>\n"
        "<summary>Background command \"sleep 0.1; echo '&lt;bg&gt;'\" completed (exit code 0)</summary>\n"
        "</task-notification>\n</system-reminder>"
    )
    results = [(r["result"], r["result_index"], r.get("origin")) for r in run.of("result")]
    origin = {"kind": "task-notification", "producer": "session-task", "runId": started["run_id"]}
    assert results == [("started", 0, None), ("heard", 1, origin)]
    assert run.code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("args", [("go",), STREAM_INPUT])
def test_a_signal_leaves_no_background_process(place: Path, args: tuple[str, ...], number: int) -> None:
    command = "echo $$ > pid; sleep 60 & setsid sleep 60 & wait"
    with running(place, turns({"command": command, "run_in_background": True}), *args) as process:
        if process.stdin is not None:
            process.stdin.write(PROMPT)
            process.stdin.flush()
        until_result(process)
        process.send_signal(number)
        assert process.wait(10) != 0
        assert is_gone(int((place / "project" / "pid").read_text()))
        assert left_over(place) == []


def test_the_end_of_input_waits_for_the_news_of_a_background_command(place: Path) -> None:
    scenario = turns({"command": "sleep 0.2", "run_in_background": True})
    with running(place, scenario, *STREAM_INPUT) as process:
        out, _ = process.communicate(PROMPT, timeout=20)
    results = [r for r in map(json.loads, out.splitlines()) if r["type"] == "result"]
    assert ([r["result"] for r in results], process.returncode) == (["started", "heard"], 0)
    assert left_over(place) == []


def test_an_open_connection_hears_of_a_background_command(place: Path) -> None:
    scenario = turns({"command": "sleep 0.2", "run_in_background": True})
    with running(place, scenario, *STREAM_INPUT) as process:
        assert process.stdin is not None
        process.stdin.write(PROMPT)
        process.stdin.flush()
        assert until_result(process)[-1]["result"] == "started"
        assert until_result(process)[-1]["result"] == "heard"
        process.stdin.close()
        assert process.wait(10) == 0


def test_a_hundred_background_commands_leave_nothing(place: Path) -> None:
    calls = [{"command": f"echo {n}", "run_in_background": True} for n in range(100)]
    with serve(turns(*calls)) as server:
        env = run_env(place, server.url)
        run = forge("-p", "go", *STREAM, "--allowedTools", "Bash", cwd=place / "project", env=env)
    ended = run.of("system", "task_notification")
    assert sorted(int(Path(e["output_file"]).read_text().split()[0]) for e in ended) == list(range(100))
    assert (run.code, left_over(place)) == (0, [])
