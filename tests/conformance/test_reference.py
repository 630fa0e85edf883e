"""Against the real reference CLI (`make conformance`): shared sessions, and the same runs side by side."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import MODEL, STREAM, environment, forge
from golden import Tokens, differences

REFERENCE = os.environ.get("REFERENCE_CLI", "")


def reference(*args: str, cwd: Path, env: dict[str, str]) -> str:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1"}
    clean = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [REFERENCE, *args],
        cwd=cwd,
        env={**clean, **quiet},
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout


def bash(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command}}


def said(body: dict[str, Any]) -> list[str]:
    """The conversation of a request without reminders."""
    texts = []
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            text = str(block.get("text") or block.get("content") or block.get("input"))
            if not text.startswith("<system-reminder>"):
                texts.append(f"{message['role']} {text.partition(chr(10))[0]}")
    return texts


def test_both_programs_go_on_with_each_others_session(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    turns = [
        [{"text": "let me"}, bash("echo a"), bash("echo b")],
        [{"text": "first"}],
        [{"text": "second"}],
        [bash("echo c")],
        [{"text": "third"}],
        [{"text": "fourth"}],
    ]
    with serve(turns) as server:
        env = environment(home, server.url)
        one = forge("-p", "one", "--model", MODEL, "--output-format", "json", cwd=project, env=env).records[0]
        resume = ("--resume", one["session_id"], "--model", MODEL)
        assert reference("-p", "two", *resume, cwd=project, env=env) == "second\n"
        assert forge("-p", "three", *resume, cwd=project, env=env).out == "third\n"
        assert reference("-p", "four", *resume, cwd=project, env=env) == "fourth\n"
    told = said(server.bodies[-1])
    told[4:6] = sorted(told[4:6])  # results of parallel calls stand in the order they came
    assert told == [
        "user one",
        "assistant let me",
        "assistant {'command': 'echo a'}",
        "assistant {'command': 'echo b'}",
        "user a",
        "user b",
        "assistant first",
        "user two",
        "assistant second",
        "user three",
        "assistant {'command': 'echo c'}",
        "user c",
        "assistant third",
        "user four",
    ]


RUNS: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "text": ([[{"text": "Hello"}]], ()),
    "bash": ([[bash("echo hi; exit 3")], [{"text": "ok"}]], ("--allowedTools", "Bash")),
    "denied": ([[bash("mkdir x")], [{"text": "ok"}]], ()),
    "rule": ([[bash("git push")], [{"text": "ok"}]], ("--disallowedTools", "Bash(git push *)")),
    "partial": ([[{"text": "a b c"}, bash("true")], [{"text": "d"}]], ("--include-partial-messages",)),
    "budget": ([[bash("echo 1")], [{"text": "x"}]], ("--max-budget-usd", "0.00001")),
}


# Differences on purpose: the reference forgets what a run used that its budget stopped.
KNOWN = {"budget": (".usage",)}


@pytest.mark.parametrize("name", RUNS)
def test_the_same_run_prints_the_same_records(name: str, home: Path, tmp_path: Path) -> None:
    turns, args = RUNS[name]
    project = tmp_path / "project"
    project.mkdir()
    command = ("-p", "go", *STREAM, *args)
    with serve(turns) as server:
        want = reference(*command, cwd=project, env=environment(home, server.url))
    with serve(turns) as server:
        got = forge(*command, cwd=project, env=environment(home, server.url)).out
    tokens = Tokens(str(project), str(home))
    wanted, printed = ([tokens.of(json.loads(line)) for line in text.splitlines()] for text in (want, got))
    assert [(r["type"], r.get("subtype")) for r in printed] == [(r["type"], r.get("subtype")) for r in wanted]
    found = [d for w, g in zip(wanted, printed, strict=True) for d in differences(w, g)]
    assert [d for d in found if not d.startswith(KNOWN.get(name, ("-",)))] == []


@pytest.mark.parametrize("model", [MODEL, "claude-opus-5"], ids=["as reminders", "in messages of their own"])
def test_what_hooks_said_is_sent_alike_by_both_after_a_change_of_programs(
    model: str, home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
    settings.write_text(json.dumps({"hooks": {event: [_saying(event)] for event in events}}))
    turns = [[bash("echo a"), bash("echo b")], [{"text": "x"}], [{"text": "y"}], [bash("echo c")]]
    with serve([*turns, [{"text": "z"}], [{"text": "end"}]]) as server:
        env = environment(home, server.url)
        one = forge("-p", "one", "--model", model, "--output-format", "json", cwd=project, env=env).records[0]
        resume = ("--resume", one["session_id"], "--model", model)
        reference("-p", "two", *resume, cwd=project, env=env)
        forge("-p", "three", *resume, cwd=project, env=env)
        reference("-p", "four", *resume, cwd=project, env=env)
    answered = [body for body in server.bodies if _hook_texts(body)]
    by_forge, by_reference = answered[-2], answered[-1]
    before = _hook_texts(by_forge)
    assert _hook_texts(by_reference)[: len(before)] == before
    for event in events:
        assert any(f"CTX {event}" in text for _, text in before)


def _saying(event: str) -> dict[str, Any]:
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": f"CTX {event}"}}
    return {"hooks": [{"type": "command", "command": f"echo '{json.dumps(answer)}'"}]}


def _hook_texts(body: dict[str, Any]) -> list[tuple[str, str]]:
    """What hooks told the model, text by text, with the role of the message it stands in."""
    told = []
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"text": content}]:
            text = str(block.get("text") or block.get("content"))
            told += [(message["role"], part.strip()) for part in text.split("\n\n") if "CTX " in part]
    return told
