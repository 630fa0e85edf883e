from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, call, tool
from forge.agent.event import JobStarted
from forge.agent.session import Session
from forge.core.message import Text, ToolUse
from forge.core.tool import ToolContext, ToolOutput
from unit.agent.casting import Cast, build, play, results, task, words
from unit.agent.repositories import ENV, branches, git, repository


async def _write(args: dict[str, Any], context: ToolContext) -> ToolOutput:
    Path(context.cwd, "made.txt").write_text("x")
    return ToolOutput(context.cwd)


def cast(*turns: Any, **wish: Any) -> Cast:
    MAIN: list[Any] = [[task("SUB do it", isolation="worktree", **wish)], [Text("end")]]
    return Cast(MAIN=MAIN, SUB=[*turns, [Text("report")]])


def run(cwd: Path, model: Cast) -> tuple[Session, str, str]:
    """The session, the result of the call, and the id of the agent."""
    host = RecordingHost()
    s = build(model, host, cwd=str(cwd), tools=[tool("Make", _write)])
    s.parts = msgspec.structs.replace(s.parts, env=ENV)
    s.situation = s.situation.changed(mode="bypassPermissions")
    play(s)
    jobs = host.of(JobStarted)
    return s, words(results(s)["call-1"]), jobs[0].job.id if jobs else ""


def made(root: Path) -> list[str]:
    folder = root / ".claude/worktrees"
    return os.listdir(folder) if folder.is_dir() else []


def test_an_agent_that_changed_nothing_leaves_nothing_behind(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    _, told, _ = run(root, cast([call("Echo", "sub-1", text="x")]))
    assert ("report" in told, "worktreePath" in told, made(root), branches(root)) == (
        True,
        False,
        [],
        ["main"],
    )


def test_the_work_of_an_agent_is_kept_and_its_place_is_told(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    model = cast([call("Make", "sub-1")])
    s, told, agent_id = run(root, model)
    path = root / f".claude/worktrees/agent-{agent_id}"
    assert f"\nworktreePath: {path}\nworktreeBranch: worktree-agent-{agent_id}\n<usage>" in told
    assert ((path / "made.txt").read_text(), (root / "made.txt").exists()) == ("x", False)
    assert "locked" not in git(root, "worktree", "list", "--porcelain")
    heard = [b.text for b in model.requests("SUB")[0].messages[0].blocks if isinstance(b, Text)]
    assert any(f"You work in {path}, a git worktree" in text for text in heard)
    assert s.situation.cwd == str(root)


def test_an_agent_in_the_background_tells_its_place_at_the_end(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    turns: list[Any] = [[task("SUB do it", isolation="worktree", run_in_background=True)], [Text("wait")]]
    model = Cast(MAIN=[*turns, [Text("end")]], SUB=[[call("Make", "sub-1")], [Text("report")]])
    _, _, agent_id = run(root, model)
    (told,) = [
        b.text
        for b in model.requests("MAIN")[-1].messages[-1].blocks
        if isinstance(b, Text) and "<task-notification>" in b.text
    ]
    path = root / f".claude/worktrees/agent-{agent_id}"
    assert f"<worktree><worktreePath>{path}</worktreePath>" in told


def test_an_agent_that_goes_on_gets_its_worktree_again(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    first = task("SUB do it", isolation="worktree")
    model = Cast(MAIN=[[first]], SUB=[[Text("one")], [call("Make", "sub-1")], [Text("two")]])
    host = RecordingHost()

    async def again() -> list[Any]:
        agent_id = host.of(JobStarted)[0].job.id
        return [ToolUse("call-2", "SendMessage", {"to": agent_id, "message": "SUB more"})]

    model.roles["MAIN"].turns += [again, [Text("wait")], [Text("end")]]
    s = build(model, host, cwd=str(root), tools=[tool("Make", _write)])
    s.parts = msgspec.structs.replace(s.parts, env=ENV)
    s.situation = s.situation.changed(mode="bypassPermissions")
    play(s)
    agent_id = host.of(JobStarted)[0].job.id
    assert (root / f".claude/worktrees/agent-{agent_id}" / "made.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("commits", "expected"),
    [(0, "Failed to resolve base branch"), (None, "Cannot create agent worktree: not in a git repository")],
)
def test_where_no_worktree_is_possible_no_agent_is_started(
    tmp_path: Path, commits: int | None, expected: str
) -> None:
    root = tmp_path if commits is None else repository(tmp_path / "p", commits=commits)
    model = cast()
    _, told, agent_id = run(root, model)
    assert (told.startswith(expected), agent_id, model.requests("SUB")) == (True, "", [])


def test_other_kinds_of_isolation_are_as_if_nobody_had_asked(tmp_path: Path) -> None:
    MAIN: list[Any] = [[task("SUB do it", isolation="remote")], [Text("end")]]
    _, told, _ = run(tmp_path, Cast(MAIN=MAIN, SUB=[[Text("report")]]))
    assert "report" in told
