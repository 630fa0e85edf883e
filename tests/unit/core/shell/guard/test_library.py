from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.guard.library import (
    PERMISSIONS,
    CommandResult,
    CommandShell,
    DangerousCommand,
    NeedsApproval,
    PermissionDenied,
    ShellConfig,
)
from forge.core.shell.guard.setup import Source
from forge.core.shell.history.look import Reader


def config(tmp_path: Path, **changes: Any) -> ShellConfig:
    home, temp = tmp_path / "home", tmp_path / "temp"
    workspace = home / "project"
    workspace.mkdir(parents=True)
    temp.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "API_TOKEN": "very-secret-token"}
    given = {"history": str(tmp_path / "state/history.db"), "sandboxed": False, **changes}
    return ShellConfig(str(workspace), str(home), env, str(temp), **given)


def played(settings: ShellConfig, play: Callable[[CommandShell], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        shell = CommandShell(settings)
        try:
            return await play(shell)
        finally:
            await shell.close()

    return asyncio.run(main())


@pytest.mark.requirement("S2-28")
def test_there_are_three_permissions_with_their_default_risk() -> None:
    assert [(p.name, p.risk, p.category, p.confirm) for p in PERMISSIONS] == [
        ("forgecmd.execute", 7, "execute", True),
        ("forgecmd.interactive", 8, "execute", True),
        ("forgecmd.dangerous", 10, "execute", True),
    ]


@pytest.mark.requirement("S2-45")
def test_a_program_runs_commands_and_gets_results(tmp_path: Path) -> None:
    settings = config(tmp_path)

    async def play(shell: CommandShell) -> list[CommandResult]:
        commands = ["mkdir sub && cd sub && export X=1", "echo $X [$API_TOKEN]", "exit 3"]
        return [await shell.execute(command) for command in commands]

    sub = f"{settings.workspace}/sub"
    assert played(settings, play) == [
        CommandResult(0, "", sub, "safe_write", 4),
        CommandResult(0, "1 []\n", sub, "read_only", 0),
        CommandResult(3, "", sub, "read_only", 0),
    ]
    with closing(Reader(settings.history)) as reader:
        assert [e.exit_code for e in reversed(reader.recent())] == [0, 0, 3]


@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("rm -rf src", DangerousCommand),
        ("rm -rf /", DangerousCommand),
        ("terraform apply", PermissionDenied),
        ("git push", NeedsApproval),
        ("vim a", NeedsApproval),
    ],
)
def test_three_errors_say_why_a_command_does_not_run(
    tmp_path: Path, command: str, error: type[Exception]
) -> None:
    rules = {"rules": {"deny": [{"pattern": "terraform *"}]}}
    settings = config(tmp_path, sources=(Source("settings.json", rules),))
    with pytest.raises(error):
        played(settings, lambda shell: shell.execute(command))
    with closing(Reader(settings.history)) as reader:
        assert [(e.command, e.status) for e in reader.recent()] == [(command, "denied")]


@pytest.mark.requirement("S2-29", "S2-31")
@pytest.mark.parametrize("yes", [True, False])
def test_a_question_carries_what_it_is_about(tmp_path: Path, yes: bool) -> None:
    questions: list[str] = []

    async def approve(question: NeedsApproval) -> bool:
        questions.append(question.action)
        return yes

    def play(shell: CommandShell) -> Awaitable[Any]:
        return shell.execute("rm notes.txt", approve=approve)

    settings = config(tmp_path)
    if yes:
        assert played(settings, play).exit_code == 1
    else:
        with pytest.raises(PermissionDenied):
            played(settings, play)
    assert questions == ["forgecmd.execute"]


@pytest.mark.requirement("S2-42")
def test_automatic_approval_skips_questions_and_not_refusals(tmp_path: Path) -> None:
    async def play(shell: CommandShell) -> int:
        with pytest.raises(DangerousCommand):
            await shell.execute("rm -rf /")
        result = await shell.execute("rm notes.txt")
        return result.exit_code

    assert played(config(tmp_path, auto_approve=True), play) == 1
