"""The example plugins at work in real runs."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import Run, environment, forge

PLUGINS = Path(__file__).parents[1] / "fixtures" / "plugins"
DONE = [{"text": "done"}]


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "Bash", "input": {"command": command}}]


def play(top: Path, turns: list[Any], *plugins: Path | str, prompt: str = "go") -> tuple[Run, list[Any]]:
    """A run in `top`/project with example plugins (by name or path), and the messages it has sent."""
    project, home = top / "project", top / "home"
    project.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    flags = [word for p in plugins for word in ("--plugin-dir", str(PLUGINS / p))]
    options = ("--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
    with serve(turns) as server:
        ended = forge("-p", prompt, *options, *flags, cwd=project, env=environment(home, server.url))
    return ended, [body["messages"] for body in server.bodies]


def results(messages: list[Any]) -> list[tuple[bool, str]]:
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    return [(b.get("is_error", False), b["content"]) for b in blocks if b["type"] == "tool_result"]


@pytest.mark.requirement("S1-135")
def test_the_formatter_runs_after_writing_and_editing_only(tmp_path: Path) -> None:
    file = str(tmp_path / "project" / "x.js")
    turns = [
        [{"tool": "Write", "input": {"file_path": file, "content": "a\n"}}],
        [{"tool": "Read", "input": {"file_path": file}}],
        [{"tool": "Edit", "input": {"file_path": file, "old_string": "a\n", "new_string": "b\n"}}],
        bash("cat x.js"),
        DONE,
    ]
    _, asked = play(tmp_path, turns, "prettier-format")
    assert (tmp_path / "project" / "formatted.log").read_text().splitlines() == [file, file]
    assert results(asked[-1])[-1] == (False, "b\n// formatted\n// formatted")


@pytest.mark.requirement("S1-136", "S1-137", "S1-144", "S1-42", "S1-34")
def test_a_logger_and_a_guard_share_one_event(tmp_path: Path) -> None:
    # The logger is not waited for, so the last command waits for it.
    last = "for i in $(seq 200); do grep -q harmless commands.log && break; sleep 0.02; done"
    turns = [bash("echo harmless"), bash("rm -rf / --no-preserve-root"), bash(last), DONE]
    _, asked = play(tmp_path, turns, "bash-logger", "dangerous-guard")
    command = f'"{PLUGINS / "dangerous-guard"}"/guard.sh'
    assert results(asked[-1])[:2] == [
        (False, "harmless"),
        (
            True,
            f"PreToolUse:Bash hook error: [{command}]: rm -rf / is never a good idea"
            "\n\nThis hook comes from the dangerous-guard@inline plugin.",
        ),
    ]
    log = (tmp_path / "project" / "commands.log").read_text().splitlines()
    assert json.loads(log[0])["tool_input"]["command"] == "echo harmless"


@pytest.mark.requirement("S1-139", "S1-20")
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [("/command-provider:greet Ada", "Greet Ada warmly."), ("/command-provider:status", "State: all-well")],
)
def test_both_commands_run(tmp_path: Path, prompt: str, expected: str) -> None:
    _, asked = play(tmp_path, [DONE], "command-provider", prompt=prompt)
    assert expected in json.dumps(asked[0])


@pytest.mark.requirement("S1-140")
def test_the_agent_can_be_used(tmp_path: Path) -> None:
    wish = {
        "description": "review",
        "prompt": "look at it",
        "subagent_type": "agent-provider:security-reviewer",
        "run_in_background": False,
    }
    ended, _ = play(tmp_path, [[{"tool": "Agent", "input": wish}], DONE, DONE], "agent-provider")
    (started,) = ended.of("system", "task_started")
    assert (started["subagent_type"], ended.of("result")[-1]["is_error"]) == (
        "agent-provider:security-reviewer",
        False,
    )


@pytest.mark.requirement("S1-37", "S1-144")
@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": f"{sys.executable} -c 'if ('"},
        {"type": "command", "command": "sleep 5", "timeout": 0.05},
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/no-such-program"},
    ],
    ids=["a syntax error", "a timeout", "a missing program"],
)
def test_a_hook_that_does_not_work_does_not_stop_the_call(tmp_path: Path, handler: dict[str, Any]) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(PLUGINS / "bash-logger", broken)
    hooks = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}
    (broken / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    ended, asked = play(tmp_path, [bash("echo still here"), DONE], broken)
    assert (results(asked[-1]), ended.of("result")[-1]["is_error"]) == ([(False, "still here")], False)
