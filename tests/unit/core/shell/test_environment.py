from __future__ import annotations

import os
from pathlib import Path

from forge.core.shell.bash import ACTION
from forge.core.shell.environment import child_environment, find_shell
from forge.version import COMPATIBLE_WITH, VERSION
from unit.core.tools.context import RecordingContext, call


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return str(path)


def test_the_shell_is_the_users_bash_or_zsh(tmp_path: Path) -> None:
    bash, zsh = program(tmp_path / "bash"), program(tmp_path / "zsh")
    fish = program(tmp_path / "fish")
    chosen = [
        find_shell(env)
        for env in (
            {"SHELL": zsh},
            {"SHELL": bash, "CLAUDE_CODE_SHELL": zsh},
            {"SHELL": bash, "CLAUDE_CODE_SHELL": zsh, "FORGE_SHELL": bash},
            {"SHELL": zsh, "CLAUDE_CODE_SHELL": "/no/such/bash"},
            {"SHELL": fish},
            {},
        )
    ]
    assert chosen == [zsh, zsh, bash, zsh, "/bin/bash", "/bin/bash"]


def test_a_command_knows_that_an_agent_runs_it() -> None:
    env = child_environment({"A": "b", "GIT_EDITOR": "vi"}, session_id="s1", shell="/bin/bash", cwd="/w")
    assert env == {
        "A": "b",
        "CLAUDECODE": "1",
        "FORGECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-cli",
        "CLAUDE_CODE_SESSION_ID": "s1",
        "FORGE_SESSION_ID": "s1",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "FORGE_CHILD_SESSION": "1",
        "CLAUDE_CODE_SESSION_ATTENDED": "0",
        "CLAUDE_PID": str(os.getpid()),
        "FORGE_PID": str(os.getpid()),
        "AI_AGENT": f"claude-code_{COMPATIBLE_WITH.replace('.', '-')}_agent",
        "FORGE_AGENT": f"forge_{VERSION.replace('.', '-')}_agent",
        "GIT_EDITOR": "true",
        "COREPACK_ENABLE_AUTO_PIN": "0",
        "NoDefaultCurrentDirectoryInExePath": "1",
        "SHELL": "/bin/bash",
        "PWD": "/w",
    }


def test_the_host_may_say_how_the_session_was_entered() -> None:
    given = {"CLAUDE_CODE_ENTRYPOINT": "sdk-py", "CLAUDE_CODE_SESSION_ATTENDED": "1"}
    env = child_environment(given, session_id="s", shell="/bin/sh", cwd="/")
    assert {name: env[name] for name in given} == given


def test_commands_get_this_environment_and_nothing_else(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path, {"MINE": "yes"})
    lines = str(call(ACTION, ctx, command="env").content).splitlines()
    names = {line.partition("=")[0] for line in lines}
    expected = set(child_environment(ctx.env, session_id="s", shell="/bin/bash", cwd="/"))
    assert names == expected | {"_", "SHLVL"}
    assert "MINE=yes" in lines and f"CLAUDE_CODE_SESSION_ID={ctx.session_id}" in lines
