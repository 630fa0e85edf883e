"""The real CLI as a model of Forge, both ways of using it, against a scripted server on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.test_reference import REFERENCE
from fakemodel import serve
from fakemodel.server import Server
from forge_run import Run, environment, forge

MODES = ("model", "agent")
NAMES = {"model": "mcp__forge__Bash", "agent": "Bash"}


def quiet(home: Path, url: str) -> dict[str, str]:
    more = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1"}
    return environment(home, url, **more)


def flags(mode: str, *more: str, **options: Any) -> tuple[str, ...]:
    row = {"enabled": True, "program": REFERENCE, "options": {"mode": mode, **options}}
    settings = json.dumps({"providers": {"claude-code": row}})
    stream = ("--output-format", "stream-json", "--verbose")
    return ("--model", "claude-code/sonnet", "--settings", settings, *stream, *more)


def bash(mode: str, command: str) -> dict[str, Any]:
    return {"tool": NAMES[mode], "input": {"command": command, "description": "try"}}


def results(run: Run) -> list[tuple[str, bool]]:
    blocks = [block for event in run.of("user") for block in event["message"]["content"]]
    return [(b["content"], bool(b.get("is_error"))) for b in blocks if b["type"] == "tool_result"]


def ended(run: Run) -> tuple[Any, ...]:
    (result,) = run.of("result")
    return result["subtype"], result["is_error"], result.get("result")


def said(body: dict[str, Any]) -> list[tuple[str, Any]]:
    """A request without what the CLI adds to it itself."""
    told: list[tuple[str, Any]] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            text = block.get("text") or block.get("content") or block.get("input") or block["type"]
            if message["role"] != "system" and "<system-reminder>" not in str(text):
                told.append((message["role"], text))
    return told


def running(folder: Path) -> list[int]:
    """Processes that work in a folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                if os.readlink(f"/proc/{entry}/cwd") == str(folder):
                    found.append(int(entry))
            except OSError:
                continue
    return found


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "project"
    place.mkdir()
    yield place
    assert running(place) == []


def test_text_cost_and_tokens_come_through(mode: str, home: Path, project: Path) -> None:
    with serve([[{"text": "hello there"}]]) as server:
        run = forge("-p", "hi", *flags(mode), cwd=project, env=quiet(home, server.url))
    assert ended(run) == ("success", False, "hello there")
    result = run.of("result")[0]
    assert (result["total_cost_usd"] > 0, result["usage"]["input_tokens"]) == (True, 10)
    assert result["modelUsage"]["sonnet"]["contextWindow"] == 1_000_000


def test_parallel_calls_are_all_run_and_answered(mode: str, home: Path, project: Path) -> None:
    turns = [[{"text": "both"}, bash(mode, "echo one"), bash(mode, "echo two; exit 3")], [{"text": "fine"}]]
    with serve(turns) as server:
        run = forge(
            "-p", "go", *flags(mode, "--allowedTools", "Bash"), cwd=project, env=quiet(home, server.url)
        )
    found = sorted(results(run))
    assert [("one" in text or "two" in text, error) for text, error in found] == [(True, True), (True, False)]
    assert ended(run) == ("success", False, "fine")
    assert [b["type"] for e in run.of("assistant") for b in e["message"]["content"]] == [
        *("text", "tool_use", "tool_use"),
        "text",
    ]


def test_a_denied_call_is_not_run_and_its_refusal_reaches_the_model(
    mode: str, home: Path, project: Path
) -> None:
    with serve([[bash(mode, "touch made")], [{"text": "pity"}]]) as server:
        run = forge("-p", "go", *flags(mode), cwd=project, env=quiet(home, server.url))
    ((text, error),) = results(run)
    assert (error, (project / "made").exists(), ended(run)) == (True, False, ("success", False, "pity"))
    assert run.of("result")[0]["permission_denials"][0]["tool_name"] == "Bash"
    assert text in json.dumps(server.bodies[-1], ensure_ascii=False)


def test_a_rule_of_forge_holds_for_what_the_cli_would_allow(mode: str, home: Path, project: Path) -> None:
    (project / "secret.txt").write_text("hidden words")
    name = NAMES[mode].replace("Bash", "Read")
    read = {"tool": name, "input": {"file_path": str(project / "secret.txt")}}
    with serve([[read], [{"text": "no"}]]) as server:
        wish = flags(mode, "--disallowedTools", "Read(./secret.txt)")
        run = forge("-p", "go", *wish, cwd=project, env=quiet(home, server.url))
    assert [error for _, error in results(run)] == [True]
    assert "hidden words" not in json.dumps(server.bodies)


def test_a_session_goes_on_in_another_process_with_its_whole_history(
    mode: str, home: Path, project: Path
) -> None:
    turns = [[bash(mode, "echo one")], [{"text": "first"}], [{"text": "second"}]]
    with serve(turns) as server:
        env = quiet(home, server.url)
        run = forge("-p", "alpha", *flags(mode, "--allowedTools", "Bash"), cwd=project, env=env)
        session = run.of("result")[0]["session_id"]
        run = forge("-p", "beta /x @y", *flags(mode, "--resume", session), cwd=project, env=env)
    assert ended(run) == ("success", False, "second")
    told = said(server.bodies[-1])
    assert [role for role, _ in told] == ["user", "assistant", "user", "assistant", "user"]
    assert [text for _, text in told if isinstance(text, str)] == ["alpha", "one", "first", "beta /x @y"]


def follow(
    mode: str, home: Path, project: Path, server: Server, until: str, *more: str
) -> subprocess.Popen[str]:
    """Starts forge and reads its output up to the line that contains `until`."""
    argv = [sys.executable, "-m", "forge", "-p", "go", *flags(mode, "--include-partial-messages", *more)]
    child = subprocess.Popen(
        argv,
        cwd=project,
        env=quiet(home, server.url),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if until in line:
            return child
    raise AssertionError(child.communicate())


@pytest.mark.parametrize("phase", ["before", "streaming", "tool"])
def test_an_interrupt_ends_the_cli_in_every_phase(mode: str, phase: str, home: Path, project: Path) -> None:
    reply: dict[str, Any] = {"blocks": [{"text": "a b c", "pieces": 3}]}
    if phase == "tool":
        os.mkfifo(project / "begun")
        reply = {"blocks": [bash(mode, "echo x > begun; sleep 600")]}
    else:
        reply["errors"] = [{"hang": 4}] * 3
    until = {"before": '"init"', "streaming": "text_delta", "tool": '"name":"Bash"'}[phase]
    with serve([reply]) as server:
        child = follow(mode, home, project, server, until, "--allowedTools", "Bash")
        if phase == "tool":
            (project / "begun").read_text()
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
    assert running(project) == []
    assert '"error_during_execution"' in out or phase == "before"


@pytest.mark.parametrize("phase", ["streaming", "tool"])
def test_a_cli_that_is_killed_is_an_error_with_its_signal(
    phase: str, mode: str, home: Path, project: Path
) -> None:
    reply: dict[str, Any] = {"blocks": [{"text": "a b c", "pieces": 3}], "errors": [{"hang": 4}] * 3}
    if phase == "tool":
        os.mkfifo(project / "begun")
        reply = {"blocks": [bash(mode, "echo x > begun; sleep 600")]}
    with serve([reply]) as server:
        until = "text_delta" if phase == "streaming" else '"name":"Bash"'
        child = follow(mode, home, project, server, until, "--allowedTools", "Bash")
        if phase == "tool":
            (project / "begun").read_text()
        for pid in running(project):
            if Path(f"/proc/{pid}/cmdline").read_text().startswith(REFERENCE):
                os.kill(pid, signal.SIGKILL)
        if (phase, mode) == ("tool", "model"):
            # The command is Forge's own and goes on; its next step finds another process.
            child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
    (result,) = [line for line in map(json.loads, out.splitlines()) if line["type"] == "result"]
    words = "error_during_execution" if (phase, mode) == ("tool", "model") else "SIGKILL"
    assert (result["is_error"], words in json.dumps(result)) == (True, True)


def test_a_refused_key_ends_the_run_instead_of_minutes_of_retries(
    mode: str, home: Path, project: Path
) -> None:
    refused = {"status": 401, "error": {"type": "authentication_error", "message": "no"}}
    with serve([{"blocks": [{"text": "x"}], "errors": [refused] * 12}]) as server:
        run = forge("-p", "hi", *flags(mode), cwd=project, env=quiet(home, server.url))
    assert (run.code, len(server.bodies) <= 3) == (1, True)
    assert "not logged in" in run.of("result")[0]["result"]


def test_a_reply_that_breaks_off_is_replaced_by_the_next_one(mode: str, home: Path, project: Path) -> None:
    broken = {"blocks": [{"text": "a b c", "pieces": 3}], "errors": [{"cut": 4}]}
    with serve([broken]) as server:
        run = forge("-p", "hi", *flags(mode), cwd=project, env=quiet(home, server.url))
    assert ended(run) == ("success", False, "a b c")
    assert [b["text"] for e in run.of("assistant") for b in e["message"]["content"]] == ["a b c"]


def test_an_error_of_the_server_is_told_in_its_words(mode: str, home: Path, project: Path) -> None:
    wrong = {"status": 400, "error": {"type": "invalid_request_error", "message": "no such thing"}}
    with serve([{"blocks": [{"text": "x"}], "errors": [wrong] * 12}]) as server:
        run = forge("-p", "hi", *flags(mode), cwd=project, env=quiet(home, server.url))
    assert (run.code, "no such thing" in run.of("result")[0]["result"]) == (1, True)


def test_a_silent_server_is_a_stall(mode: str, home: Path, project: Path) -> None:
    with serve([{"blocks": [{"text": "a b c", "pieces": 3}], "errors": [{"hang": 4}] * 3}]) as server:
        run = forge("-p", "hi", *flags(mode, idleSeconds=1.5), cwd=project, env=quiet(home, server.url))
    assert "printed nothing for 1.5 seconds" in run.of("result")[0]["result"]


def test_thinking_images_and_the_system_prompt_go_both_ways(mode: str, home: Path, project: Path) -> None:
    pixel = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    prompt = [{"type": "text", "text": "look"}, {"type": "image", "source": pixel}]
    line = json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n"
    thought = [{"thinking": "hm", "signature": "c2ln"}, {"text": "seen"}]
    with serve([thought]) as server:
        wish = flags(mode, "--input-format", "stream-json", "--system-prompt", "You are small.")
        run = forge("-p", *wish, cwd=project, env=quiet(home, server.url), stdin=line)
    blocks = [b["type"] for e in run.of("assistant") for b in e["message"]["content"]]
    assert (ended(run), blocks) == (("success", False, "seen"), ["thinking", "text"])
    body = server.bodies[0]
    assert "You are small." in json.dumps(body["system"])
    assert PIXEL in json.dumps(body["messages"])


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_value_that_was_handed_over_is_checked_by_forge(mode: str, home: Path, project: Path) -> None:
    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    name = NAMES[mode].replace("Bash", "StructuredOutput")
    with serve([[{"tool": name, "input": {"n": "x"}}], [{"tool": name, "input": {"n": 4}}]]) as server:
        wish = flags(mode, "--json-schema", schema)
        run = forge("-p", "count", *wish, cwd=project, env=quiet(home, server.url))
    result = run.of("result")[0]
    assert (result["structured_output"], result["total_cost_usd"] > 0) == ({"n": 4}, True)
    assert [error for _, error in results(run)] == [True, False]


def test_a_reply_that_was_cut_off_is_continued_by_forge(home: Path, project: Path) -> None:
    turns = [{"blocks": [{"text": "one"}], "stop": "max_tokens"}, [{"text": "two"}]]
    with serve(turns) as server:
        run = forge("-p", "go", *flags("model"), cwd=project, env=quiet(home, server.url))
    assert ended(run) == ("success", False, "two")
    assert [text for role, text in said(server.bodies[-1]) if role == "assistant"] == ["one"]


def test_in_agent_mode_its_sub_agents_ask_forge_too(home: Path, project: Path) -> None:
    wish = {"description": "look", "prompt": "SUBTASK", "subagent_type": "general-purpose"}
    turns = [[{"tool": "Agent", "input": wish}], [{"text": "end"}]]
    with serve(turns) as server:
        touch = {**bash("agent", "touch made"), "id": "toolu_inner"}
        server.branch("SUBTASK", [[touch], [{"text": "could not"}]])
        run = forge("-p", "go", *flags("agent"), cwd=project, env=quiet(home, server.url))
    assert ((project / "made").exists(), ended(run)) == (False, ("success", False, "end"))
    assert [error for _, error in results(run)] == [False]


def prompt(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def test_after_an_interrupt_the_conversation_goes_on(mode: str, home: Path, project: Path) -> None:
    hang = {"blocks": [{"text": "a b c", "pieces": 3}], "errors": [{"hang": 4}]}
    argv = ("-p", "--input-format", "stream-json", *flags(mode, "--include-partial-messages"))
    with (
        serve([hang, [{"text": "second"}]]) as server,
        subprocess.Popen(
            [sys.executable, "-m", "forge", *argv],
            cwd=project,
            env=quiet(home, server.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(prompt("alpha"))
        child.stdin.flush()
        next(line for line in child.stdout if "text_delta" in line)
        stop = {"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}}
        child.stdin.write(json.dumps(stop) + "\n")
        child.stdin.flush()
        next(line for line in child.stdout if '"error_during_execution"' in line)
        child.stdin.write(prompt("beta"))
        child.stdin.close()
        last = [line for line in map(json.loads, child.stdout) if line["type"] == "result"]
    assert [(line["subtype"], line["result"]) for line in last] == [("success", "second")]
    told = said(server.bodies[-1])
    assert (told[0], told[-1], told[1][0]) == (("user", "alpha"), ("user", "beta"), "assistant")


def test_a_limit_of_turns_ends_the_agent_too(mode: str, home: Path, project: Path) -> None:
    with serve([[bash(mode, f"echo {n}")] for n in range(9)]) as server:
        wish = flags(mode, "--max-turns", "2", "--allowedTools", "Bash")
        run = forge("-p", "go", *wish, cwd=project, env=quiet(home, server.url))
    assert (run.of("result")[0]["subtype"], len(results(run))) == ("error_max_turns", 2)


def test_a_call_with_input_that_is_no_json_reaches_forge(home: Path, project: Path) -> None:
    broken = {"tool": "mcp__forge__Bash", "arguments": '{"command": "ls'}
    with serve([[broken], [{"text": "sorry"}]]) as server:
        run = forge("-p", "go", *flags("model"), cwd=project, env=quiet(home, server.url))
    assert (ended(run)[:2], [error for _, error in results(run)]) == (("success", False), [True])


def test_a_question_reaches_the_host_and_its_answer_counts(mode: str, home: Path, project: Path) -> None:
    commands = ["touch yes", "touch no"]
    wish = flags(mode, "--input-format", "stream-json", "--permission-prompt-tool", "stdio")
    with (
        serve([*([bash(mode, command)] for command in commands), [{"text": "done"}]]) as server,
        subprocess.Popen(
            [sys.executable, "-m", "forge", "-p", *wish],
            cwd=project,
            env=quiet(home, server.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(prompt("go"))
        child.stdin.flush()
        asked = []
        for line in map(json.loads, child.stdout):
            if line["type"] == "control_request":
                asked.append(line["request"]["input"]["command"])
                answer: dict[str, Any] = {"behavior": "deny", "message": "rather not"}
                if asked[-1] == "touch yes":
                    answer = {"behavior": "allow", "updatedInput": line["request"]["input"]}
                told = {"subtype": "success", "request_id": line["request_id"], "response": answer}
                child.stdin.write(json.dumps({"type": "control_response", "response": told}) + "\n")
                child.stdin.flush()
            elif line["type"] == "result":
                child.stdin.close()
                break
        child.wait(timeout=20)
    assert (asked, sorted(p.name for p in project.iterdir())) == (commands, ["yes"])
    assert "rather not" in json.dumps(server.bodies[-1])
