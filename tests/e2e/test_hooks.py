from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import Run, environment, forge

LS = {"tool": "Bash", "input": {"command": "touch ran; echo hi"}}
STREAM = ("--output-format", "stream-json", "--verbose", "--allowedTools", "Bash")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path / "project"


def configure(project: Path, **events: str | dict[str, Any]) -> None:
    """One hook per event: a command, or the fields of a handler."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": h} if isinstance(h, str) else h]}]
        for event, h in events.items()
    }
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))


def say(event: str, **fields: Any) -> str:
    value = {"hookSpecificOutput": {"hookEventName": event, **fields}}
    return f"printf '%s' '{json.dumps(value)}'"


def play(turns: list[Any], project: Path, home: Path, *args: str, **env: str) -> tuple[Run, list[Any]]:
    """A run, and the messages of its requests."""
    with serve(turns) as server:
        ended = forge("-p", *args, *STREAM, cwd=project, env=environment(home, server.url, **env))
    return ended, [body["messages"] for body in server.bodies]


def result(ended: Run) -> dict[str, Any]:
    return ended.of("result")[-1]


@pytest.mark.requirement("S0-40", "S0-29")
def test_a_denied_call_is_not_made_and_the_model_hears_why(project: Path, home: Path) -> None:
    configure(project, PreToolUse="echo 'not today' >&2; exit 2")
    ended, asked = play([[LS], [{"text": "done"}]], project, home, "go")
    content = asked[1][-1]["content"][0]
    command = "echo 'not today' >&2; exit 2"
    assert (content["is_error"], content["content"]) == (
        True,
        f"PreToolUse:Bash hook error: [{command}]: not today\n",
    )
    assert [d["tool_name"] for d in result(ended)["permission_denials"]] == ["Bash"]
    assert not (project / "ran").exists()


def test_a_context_is_a_system_message_and_is_there_again_after_a_resume(project: Path, home: Path) -> None:
    configure(project, PostToolUse=say("PostToolUse", additionalContext="look twice"))
    ended, asked = play([[LS], [{"text": "done"}]], project, home, "go")
    told = {"role": "system", "text": "PostToolUse:Bash hook additional context: look twice"}
    assert _last(asked[1]) == told
    _, again = play([[{"text": "x"}]], project, home, "more", "--resume", result(ended)["session_id"])
    assert [m["role"] for m in again[0]] == ["user", "assistant", "user", "system", "assistant", "user"]
    assert {"role": "system", "text": again[0][3]["content"][0]["text"]} == told


def test_older_models_get_the_context_as_a_reminder(project: Path, home: Path) -> None:
    configure(project, UserPromptSubmit="echo be brief")
    _, asked = play([[{"text": "ok"}]], project, home, "go", "--model", "claude-sonnet-4-5")
    texts = [block["text"] for block in asked[0][0]["content"]]
    reminder = "<system-reminder>\nUserPromptSubmit hook success: be brief\n</system-reminder>"
    assert reminder in texts
    assert texts.index(reminder) < texts.index("go")


def test_a_blocked_prompt_never_reaches_the_model_nor_the_history(project: Path, home: Path) -> None:
    configure(project, UserPromptSubmit="[ -e once ] || { touch once; echo no >&2; exit 2; }")
    ended, asked = play([], project, home, "secret")
    assert asked == []
    assert result(ended)["result"].startswith("UserPromptSubmit operation blocked by hook:\n[")
    assert result(ended)["result"].endswith("]: no\n\n\nOriginal prompt: secret")
    assert (ended.code, result(ended)["num_turns"]) == (0, 0)
    session = result(ended)["session_id"]
    _, again = play([[{"text": "x"}]], project, home, "next", "--resume", session)
    assert "secret" not in json.dumps(again)


@pytest.mark.requirement("S1-53")
def test_a_stop_hook_sends_the_model_back_to_work(project: Path, home: Path) -> None:
    configure(project, Stop="cat >> seen; [ -e once ] || { touch once; echo tests fail >&2; exit 2; }")
    ended, asked = play([[{"text": "one"}], [{"text": "two"}]], project, home, "go")
    assert asked[1][-1]["content"][-1]["text"].startswith("Stop hook feedback:\n[cat >> seen;")
    seen = [json.loads(line) for line in (project / "seen").read_text().splitlines()]
    assert [(p["stop_hook_active"], p["last_assistant_message"]) for p in seen] == [
        (False, "one"),
        (True, "two"),
    ]
    assert result(ended)["result"] == "two"


def test_a_stop_hook_that_never_agrees_is_overridden(project: Path, home: Path) -> None:
    configure(project, Stop="echo x >> ran; exit 2")
    turns = [[{"text": str(n)}] for n in range(9)]
    ended, asked = play(turns, project, home, "go", CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="2")
    assert (len(asked), (project / "ran").read_text()) == (3, "x\n" * 3)
    assert (ended.code, result(ended)["result"]) == (0, "")
    told = [r["key"] for r in ended.of("system", "notification")]
    assert told == ["stop-hook-error", "stop-hook-block-cap"]


@pytest.mark.requirement("S1-51")
def test_a_session_may_begin_with_a_prompt_of_a_hook(project: Path, home: Path) -> None:
    configure(project, SessionStart=say("SessionStart", initialUserMessage="first", sessionTitle="mine"))
    ended, _ = play([[{"text": "one"}], [{"text": "two"}]], project, home, "second")
    assert [r["result"] for r in ended.of("result")] == ["one", "two"]
    kinds = [r.get("subtype") for r in ended.of("system")]
    assert kinds == ["hook_started", "hook_response", "session_title_changed", "init", "init"]


@pytest.mark.requirement("S1-62", "S1-61")
@pytest.mark.parametrize("trigger", ["init", "maintenance"])
def test_setup_runs_before_the_session_and_cannot_stop_it(trigger: str, project: Path, home: Path) -> None:
    configure(
        project, Setup="cat >> order; exit 2", SessionStart="cat >> order", SessionEnd="echo bye >&2; exit 2"
    )
    ended, _ = play([[{"text": "ok"}]], project, home, "go", f"--{trigger}")
    told = [json.loads(line) for line in (project / "order").read_text().splitlines()]
    assert [t["hook_event_name"] for t in told] == ["Setup", "SessionStart"]
    assert (told[0]["trigger"], result(ended)["result"]) == (trigger, "ok")
    assert ended.err == "SessionEnd hook [echo bye >&2; exit 2] failed: bye\n"


@pytest.mark.requirement("S1-63", "S1-61")
def test_set_up_alone_asks_no_model(project: Path, home: Path) -> None:
    configure(project, Setup="cat > seen")
    ended, asked = play([], project, home, "--init-only")
    assert (ended.code, asked) == (0, [])
    assert json.loads((project / "seen").read_text())["trigger"] == "init"


def test_a_call_that_was_put_off_is_made_in_a_later_run(project: Path, home: Path) -> None:
    defer, allow = (say("PreToolUse", permissionDecision=d) for d in ("defer", "allow"))
    configure(project, PreToolUse=f"if [ -e once ]; then {allow}; else touch once; {defer}; fi")
    ended, _ = play([[LS]], project, home, "go")
    end = result(ended)
    assert (end["stop_reason"], end["deferred_tool_use"]["name"]) == ("tool_deferred", "Bash")
    assert not (project / "ran").exists()
    again, asked = play([[{"text": "done"}]], project, home, "--resume", end["session_id"])
    assert (result(again)["result"], asked[0][-1]["content"][0]["content"]) == ("done", "hi")
    assert (project / "ran").exists()


def test_a_hook_that_stops_lets_the_call_finish_first(project: Path, home: Path) -> None:
    configure(project, PreToolUse="""printf '{"continue": false, "stopReason": "enough"}'""")
    ended, asked = play([[LS]], project, home, "go")
    assert (len(asked), result(ended)["terminal_reason"], result(ended)["result"]) == (1, "hook_stopped", "")
    assert (project / "ran").exists()


@pytest.mark.requirement("S0-34", "S1-26")
def test_a_prompt_hook_lets_the_model_judge(project: Path, home: Path) -> None:
    judge = {"type": "prompt", "prompt": "Is this safe? $ARGUMENTS", "continueOnBlock": True}
    configure(project, PreToolUse=judge)

    def decide(body: dict[str, Any]) -> dict[str, Any]:
        if "tools" not in body:
            return {"blocks": [{"text": '{"ok": false, "reason": "too bold"}'}]}
        return {"blocks": [LS] if len(body["messages"]) == 1 else [{"text": "done"}]}

    with serve([]) as server:
        server.decide = decide
        ended = forge("-p", "go", *STREAM, cwd=project, env=environment(home, server.url))
    words = "PreToolUse:Bash hook error: [Is this safe? $ARGUMENTS]: too bold"
    assert server.bodies[2]["messages"][2]["content"][0]["content"] == words
    assert result(ended)["result"] == "done"


def test_hooks_of_a_file_with_a_broken_guard_do_not_run(project: Path, home: Path) -> None:
    hooks = {
        "PreToolUse": [{"hooks": [{"type": "zzz"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "touch x"}]}],
    }
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    ended, _ = play([[{"text": "ok"}]], project, home, "go")
    assert (result(ended)["result"], (project / "x").exists()) == ("ok", False)


@pytest.mark.parametrize("args", [("--bare",), ("--safe-mode",), ("--setting-sources", "user")])
def test_hooks_can_be_left_out(args: tuple[str, ...], project: Path, home: Path) -> None:
    configure(project, PreToolUse="exit 2")
    play([[LS], [{"text": "ok"}]], project, home, "go", *args)
    assert (project / "ran").exists()


def _last(messages: list[Any]) -> dict[str, Any]:
    last = messages[-1]
    return {"role": last["role"], "text": last["content"][0]["text"]}
