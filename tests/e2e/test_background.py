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
    """The processes that work in the directories of the test and are not about to end."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if (entry / "cwd").resolve() == place / "project":
                    found[int(entry.name)] = (entry / "cmdline").read_text()
            except OSError:
                continue
    return [command for pid, command in found.items() if not is_gone(pid)]


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


@pytest.mark.parametrize(
    ("args", "number", "code"),
    [
        (("go",), signal.SIGTERM, 143),
        (("go",), signal.SIGINT, 0),
        (STREAM_INPUT, signal.SIGTERM, 143),
        (STREAM_INPUT, signal.SIGINT, 143),
    ],
)
def test_a_signal_ends_the_wait_and_leaves_no_background_process(
    place: Path, args: tuple[str, ...], number: int, code: int
) -> None:
    command = "echo $$ > pid; sleep 60 & setsid sleep 60 & wait"
    background = {"command": command, "run_in_background": True}
    waiting = {"command": "until [ -s pid ]; do sleep 0.02; done"}
    with running(place, turns(background, waiting), *args) as process:
        if process.stdin is not None:
            process.stdin.write(PROMPT)
            process.stdin.flush()
        until_result(process)
        process.send_signal(number)
        assert process.wait(10) == code
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


def told(request: Any) -> str:
    """The texts of the last message the model was sent; news may stand in the result of a call."""
    content = request.body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(str(b.get("text") or b.get("content", "")) for b in content)


def test_every_line_of_a_watched_command_is_news_and_nothing_stays(place: Path) -> None:
    command = "echo one; mkfifo gate; read line < gate; echo two"
    watch = {"description": "lines", "timeout_ms": 60_000, "command": command}
    opened = {"tool": "Bash", "input": {"command": "until [ -p gate ]; do sleep 0.05; done; echo go > gate"}}
    scenario = [[{"tool": "Monitor", "input": watch}], [{"text": "watching"}], [opened]]
    with serve([*scenario, [{"text": "opened"}], [{"text": "over"}]]) as server:
        env = run_env(place, server.url)
        allowed = ("--allowedTools", "Bash", "Monitor")
        run = forge("-p", "go", *STREAM, *allowed, cwd=place / "project", env=env)
        news = [told(request) for request in server.requests]
    notes = [text.partition("<task-notification>")[2] for text in news if "<task-notification>" in text]
    task = run.of("system", "task_started")[0]["task_id"]
    event = f'\n<task-id>{task}</task-id>\n<summary>Monitor event: "lines"</summary>\n<event>one</event>\n'
    assert notes[0].startswith(event)
    assert '<summary>Monitor "lines" stream ended</summary>' in notes[-1]
    assert "<event>two</event>" in "".join(notes[1:])
    assert (run.code, left_over(place)) == (0, [])


def test_a_watched_command_ends_when_it_is_stopped(place: Path) -> None:
    watch = {"description": "lines", "timeout_ms": 60_000, "command": "echo $$ > pid; echo one; sleep 60"}

    def act(body: dict[str, Any]) -> dict[str, Any]:
        said = json.dumps(body["messages"])
        task = said.partition("Monitor started (task ")[2].partition(",")[0]
        if not task:
            return {"blocks": [{"tool": "Monitor", "input": watch}]}
        if "<event>one</event>" not in said:
            return {"blocks": [{"text": "watching"}]}
        if "Successfully stopped" in said:
            return {"blocks": [{"text": "stopped"}]}
        return {"blocks": [{"tool": "TaskStop", "input": {"task_id": task}}]}

    with serve([]) as server:
        server.decide = act
        env = run_env(place, server.url)
        run = forge("-p", "go", *STREAM, "--allowedTools", "Monitor", cwd=place / "project", env=env)
    assert [r["status"] for r in run.of("system", "task_notification")] == ["stopped"]
    assert (run.code, run.of("result")[-1]["result"], left_over(place)) == (0, "stopped", [])


def test_output_in_one_document_has_the_last_result_and_text_has_all(place: Path) -> None:
    given = {"command": "sleep 0.1", "run_in_background": True}
    shown = {}
    for output in ("json", "text"):
        with serve(turns(given)) as server:
            env = run_env(place, server.url)
            args = ("--output-format", output, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash")
            shown[output] = forge("-p", "go", *args, cwd=place / "project", env=env).out
    assert json.loads(shown["json"])["result"] == "heard"
    assert shown["text"] == "started\n\nheard\n"


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_the_result_comes_also_when_an_agent_takes_longer_than_anybody_waits(
    place: Path, output: str
) -> None:
    started = {"description": "look", "prompt": "SUBTASK", "subagent_type": "general-purpose"}
    with serve([[{"tool": "Agent", "input": started}], [{"text": "started"}]]) as server:
        server.branch("SUBTASK", turns({"command": "sleep 24; true"}))
        env = {**run_env(place, server.url), "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "100"}
        verbose = ("--verbose",) if output == "stream-json" else ()
        args = ("--output-format", output, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash", *verbose)
        run = forge("-p", "go", *args, cwd=place / "project", env=env)
    said = run.out if output == "text" else f"{json.loads(run.out.splitlines()[-1])['result']}\n"
    assert (said, run.code, left_over(place)) == ("started\n", 0, [])
