"""`forge` with the installed `claude` as its model; a scripted program stands in for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fake_claude import FakeClaude, Line, call, init, message, result, text, tool_result
from forge_run import Run, environment, forge

STREAM = ("--output-format", "stream-json", "--verbose", "--model", "claude-code/sonnet")
HOOK: Line = {"$": "ask", "request": {"subtype": "hook_callback", "callback_id": "forge-call", "input": {}}}


def env(home: Path, fake: FakeClaude, **more: str) -> dict[str, str]:
    where = environment(home, **more)
    return {**where, "PATH": f"{fake.folder}{os.pathsep}{where['PATH']}"}


def switched_on(home: Path, **options: Any) -> None:
    row = {"enabled": True, "options": options}
    (home / ".forge").mkdir(exist_ok=True)
    (home / ".forge" / "settings.json").write_text(json.dumps({"providers": {"claude-code": row}}))


def provider(home: Path, fake: FakeClaude, *more: str) -> dict[str, Any]:
    listed = json.loads(forge("models", "--json", *more, cwd=home, env=env(home, fake)).out)["providers"]
    (found,) = [row for row in listed if row["name"] == "claude-code"]
    return dict(found)


def shown(run: Run) -> list[Any]:
    """Blocks of the conversation in the order they were shown, then the result."""
    found: list[Any] = []
    for event in run.records:
        if event["type"] in ("assistant", "user"):
            for block in event["message"]["content"]:
                found.append({k: v for k, v in block.items() if k in ("text", "name", "content", "is_error")})
    return [*found, run.of("result")[0]["result"]]


@pytest.mark.requirement("S4-01", "S4-02")
def test_it_is_listed_with_its_state_and_switched_on_once(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path / "bin", [init(), *message([text("hello")]), result()])
    where = env(home, fake)
    found = f"Claude Code 2.1.325 at {fake.path}, model mode"
    assert provider(home, fake)["problem"] == f"off ({found}): forge models enable claude-code"
    said = forge("models", "enable", "claude-code", cwd=home, env=where)
    assert said.out.splitlines()[0] == f"Found {found}."
    assert "It uses the account the program `claude` is logged in with" in said.out
    row = provider(home, fake)
    assert (row["usable"], row["problem"], row["url"]) == (True, "", found)
    assert [model["id"] for model in row["models"]] == ["sonnet", "opus", "haiku", "fable", "default"]
    assert {model["price"] for model in row["models"]} == {None}
    assert shown(forge("-p", "hi", *STREAM, cwd=home, env=where)) == [{"text": "hello"}, "hello"]
    forge("models", "disable", "claude-code", cwd=home, env=where)
    settings = json.loads((home / ".forge" / "settings.json").read_text())
    assert settings["providers"]["claude-code"] == {"enabled": False}


def test_whether_it_is_logged_in_is_asked_on_demand(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path / "bin", logged_in=False)
    switched_on(home)
    assert (
        provider(home, fake)["problem"],
        "not logged in" in provider(home, fake, "--check")["problem"],
    ) == (
        "",
        True,
    )


@pytest.mark.requirement("S4-02", "S4-11")
def test_a_missing_program_is_not_switched_on(home: Path, tmp_path: Path) -> None:
    where = {**environment(home), "PATH": str(tmp_path)}
    said = forge("models", "enable", "claude-code", cwd=home, env=where)
    assert (said.code, said.err.splitlines()[0]) == (1, "The program `claude` was not found on the PATH.")
    assert not (home / ".forge" / "settings.json").exists()
    wrong = forge("models", "enable", "claude-cod", cwd=home, env=where)
    assert wrong.err.splitlines()[0] == "There is no provider 'claude-cod'. Did you mean claude-code?"


def test_a_checkout_nobody_trusts_cannot_switch_it_on(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path / "bin")
    (tmp_path / ".claude").mkdir()
    row = {"enabled": True, "program": str(fake.path)}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"providers": {"claude-code": row}}))
    run = forge("-p", "hi", *STREAM, cwd=tmp_path, env=environment(home))
    assert (run.code, fake.noted("argv")) == (1, [])


@pytest.mark.requirement("S4-18")
def test_in_model_mode_forge_runs_the_calls_it_permits(home: Path, tmp_path: Path) -> None:
    calls = [
        call("mcp__forge__Bash", 1, command="echo made"),
        call("mcp__forge__Bash", 2, command="rm made"),
    ]
    fake = FakeClaude(
        tmp_path / "bin",
        [init(), *message([text("both"), *calls], reason="tool_use"), HOOK, HOOK, result(total_cost_usd=0.5)],
        [init(), *message([text("done")], 2), result(total_cost_usd=0.75)],
    )
    switched_on(home)
    run = forge(
        "-p",
        "go",
        *STREAM,
        "--allowedTools",
        "Bash(echo *)",
        "Bash(cat *)",
        cwd=tmp_path,
        env=env(home, fake),
    )
    found = shown(run)
    assert found[:3] == [{"text": "both"}, {"name": "Bash"}, {"name": "Bash"}]
    answers = {row["tool_use_id"]: row for row in fake.prompts()[1]}
    assert [(row["is_error"], row["content"] == "made") for row in found[3:5]] in (
        [(True, False), (False, True)],
        [(False, True), (True, False)],
    )
    assert (answers["toolu_1"]["content"], answers["toolu_2"]["is_error"]) == ("made", True)
    assert "needs approval" in answers["toolu_2"]["content"]
    assert found[5:] == [{"text": "done"}, "done"]
    (last,) = run.of("result")
    assert (last["total_cost_usd"], last["usage"]["output_tokens"]) == (0.75, 10)
    assert len(fake.noted("argv")) == 1


@pytest.mark.requirement("S4-18", "S4-19")
def test_in_agent_mode_calls_are_shown_and_hooks_and_rules_of_forge_decide(
    home: Path, tmp_path: Path
) -> None:
    def can_use(number: int, command: str) -> Line:
        asked = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": f"toolu_{number}"}
        return {"$": "ask", "request": {**asked, "input": {"command": command}}}

    commands = {1: "echo one", 2: "echo two", 3: "touch three"}
    calls = [call("Bash", number, command=command) for number, command in commands.items()]
    fake = FakeClaude(
        tmp_path / "bin",
        [
            *(init(), *message([text("three"), *calls], reason="tool_use")),
            *(can_use(number, command) for number, command in commands.items()),
            *(
                tool_result(1, "one"),
                tool_result(2, "no", is_error=True),
                tool_result(3, "no", is_error=True),
            ),
            *(*message([text("done")], 2), result(total_cost_usd=0.5)),
        ],
    )
    switched_on(home, mode="agent")
    hook = {"type": "command", "command": "grep -q two && { echo hooked >&2; exit 2; } || true"}
    settings = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    run = forge("-p", "go", *STREAM, "--settings", settings, cwd=tmp_path, env=env(home, fake))
    assert shown(run) == [
        *({"text": "three"}, {"name": "Bash"}, {"name": "Bash"}, {"name": "Bash"}),
        *({"content": "one"}, {"content": "no", "is_error": True}, {"content": "no", "is_error": True}),
        *({"text": "done"}, "done"),
    ]
    answers = [h["response"]["response"] for h in fake.noted("heard") if h["type"] == "control_response"]
    assert answers[0] == {"behavior": "allow", "updatedInput": {"command": "echo one"}}
    assert [(a["behavior"], a["message"].partition(":")[0]) for a in answers[1:2]] == [("deny", "PreToolUse")]
    assert (answers[1]["message"][-8:], "needs approval" in answers[2]["message"]) == (" hooked\n", True)
    assert [d["tool_use_id"] for d in run.of("result")[0]["permission_denials"]] == ["toolu_2", "toolu_3"]
    assert not (tmp_path / "one").exists()


def test_another_run_goes_on_with_the_whole_history(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path / "bin", [init(), *message([text("hello")]), result()])
    switched_on(home)
    first = forge("-p", "alpha", *STREAM, cwd=tmp_path, env=env(home, fake))
    session = first.of("result")[0]["session_id"]
    forge("-p", "beta", *STREAM, "--resume", session, cwd=tmp_path, env=env(home, fake))
    (records,) = fake.noted("history")
    assert [record["message"]["content"][-1]["text"] for record in records] == ["alpha", "hello"]
    assert fake.prompts()[-1][-1] == {"type": "text", "text": "beta"}


@pytest.mark.requirement("S4-06")
@pytest.mark.parametrize("mode", ["model", "agent"])
def test_an_interrupt_ends_the_program_and_its_commands(mode: str, home: Path, tmp_path: Path) -> None:
    begun = [init(), {"$": "child"}, *message([text("some words")])[:3]]
    fake = FakeClaude(tmp_path / "bin", [*begun, {"$": "hang"}])
    switched_on(home, mode=mode)
    argv = [sys.executable, "-m", "forge", "-p", "go", *STREAM, "--include-partial-messages"]
    with subprocess.Popen(
        argv, cwd=tmp_path, env=env(home, fake), stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        next(line for line in child.stdout if "some words" in line)
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
    assert '"error_during_execution"' in rest
    assert fake.noted("signal") == ["interrupt"]
    (sleeper,) = fake.noted("child")
    stat = Path(f"/proc/{sleeper}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.requirement("S4-08")
def test_what_it_says_last_is_part_of_the_error(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path / "bin", [{"$": "say", "text": "error: odd option"}, {"$": "exit", "code": 1}])
    switched_on(home)
    run = forge("-p", "go", *STREAM, cwd=tmp_path, env=env(home, fake))
    assert (run.code, shown(run)[-1]) == (1, "Claude Code failed (exit code 1): error: odd option")
