from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.context import CallContext
from forge.agent.hooks.engine import Engine
from forge.agent.memory import Memory
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.worktrees.tools import ENTER, EXIT
from forge.agent.worktrees.worktree import Visit
from forge.core.memory.sources import MemoryRequest
from forge.core.message import Aside
from forge.core.tool import ToolError, ToolOutput
from unit.agent.hooks.making import engine, one
from unit.agent.repositories import ENV, branches, git, repository

THERE = (
    "The session is now working in the worktree. Use ExitWorktree to leave mid-session, or exit the session"
    " to be prompted."
)


def at(cwd: Path, hooks: Engine | None = None) -> Session:
    s = session(ScriptedModel([]), RecordingHost(), [], cwd=str(cwd), hooks=hooks, results_dir=str(cwd))
    s.parts = msgspec.structs.replace(s.parts, env=ENV)
    if hooks is not None:
        hooks.session = s
    return s


def use(s: Session, action: Any, /, **arguments: Any) -> ToolOutput:
    context = CallContext(s, call("Tool"))

    async def used() -> ToolOutput:
        args = msgspec.convert(arguments, action.args)
        await action.check(args, context)
        output: ToolOutput = await action.run(args, context)
        return output

    return asyncio.run(used())


def problem(s: Session, action: Any, /, **arguments: Any) -> str:
    with pytest.raises(ToolError) as raised:
        use(s, action, **arguments)
    return raised.value.message


@pytest.mark.requirement("S1-114")
def test_the_session_works_in_the_worktree_and_comes_back(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    s = at(root)
    s.situation = s.situation.changed(directories=[str(root), "/extra"], cwd=str(root / ".git"))
    path = str(root / ".claude/worktrees/w")
    entered = use(s, ENTER, name="w")
    words = f"Created worktree at “{path}” on branch “worktree-w”. {THERE}"
    assert entered == ToolOutput(
        words, {"worktreePath": path, "worktreeBranch": "worktree-w", "message": words}
    )
    here = s.situation
    assert (here.cwd, here.start_dir, here.directories) == (path, path, [path, "/extra"])
    left = use(s, EXIT, action="remove")
    words = f"Exited and removed worktree at “{path}”. Session is now back in “{root}”."
    assert left.data == {
        "action": "remove",
        "originalCwd": str(root),
        "worktreePath": path,
        "worktreeBranch": "worktree-w",
        "discardedFiles": 0,
        "discardedCommits": 0,
        "restoredCwd": str(root),
        "originalCwdMissing": False,
        "message": words,
    }
    here = s.situation
    assert (here.cwd, here.start_dir, here.directories) == (str(root), str(root), [str(root), "/extra"])
    assert (branches(root), os.path.exists(path)) == (["main"], False)


def test_the_model_hears_of_the_move_and_of_other_instructions(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    (root / "CLAUDE.md").write_text("committed")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "instructions")
    (root / "CLAUDE.md").write_text("only here")
    s = at(root)
    memory = s.keep(Memory)
    memory.request = MemoryRequest(str(root), str(tmp_path), worktree=str(root), repository=str(root))
    reloads: list[str] = []

    def reload() -> str:
        reloads.append(s.situation.cwd)
        return ""

    s.keep(Ecosystem).reload = reload
    use(s, ENTER, name="w")
    told = [block.text for block in s.turn.asides if isinstance(block, Aside)]
    path = str(root / ".claude/worktrees/w")
    assert (len(told), path in told[0], "committed" in told[1]) == (2, True, True)
    assert [f.path for f in memory.start.files] == [f"{path}/CLAUDE.md"]
    assert reloads == [path]


@pytest.mark.requirement("S1-115")
@pytest.mark.parametrize(
    ("files", "commits", "lost", "discarded"),
    [
        (1, 0, "1 uncommitted file", "1 uncommitted file"),
        (2, 0, "2 uncommitted files", "2 uncommitted files"),
        (0, 1, "1 commit on “worktree-w”", "1 commit"),
        (1, 2, "1 uncommitted file and 2 commits on “worktree-w”", "2 commits and 1 uncommitted file"),
    ],
)
def test_work_is_never_thrown_away_unasked(
    tmp_path: Path, files: int, commits: int, lost: str, discarded: str
) -> None:
    root = repository(tmp_path / "p")
    s = at(root)
    use(s, ENTER, name="w")
    path = Path(s.situation.cwd)
    for number in range(commits):
        (path / "c").write_text(str(number))
        git(path, "add", "-A")
        git(path, "commit", "-qm", "own")
    for number in range(files):
        (path / f"f{number}").write_text("x")
    refusal = problem(s, EXIT, action="remove")
    assert refusal == (
        f"Worktree has {lost}. Removing will discard this work permanently. Confirm with the user, then"
        ' re-invoke with discard_changes: true — or use action: "keep" to preserve the worktree.'
    )
    assert path.is_dir()
    left = use(s, EXIT, action="remove", discard_changes=True)
    assert f"“{path}”. Discarded {discarded}. Session" in str(left.content)
    assert not path.exists()


def test_a_kept_worktree_is_resumed_by_its_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    s = at(root)
    use(s, ENTER, name="w")
    path = s.situation.cwd
    Path(path, "x").write_text("x")
    kept = use(s, EXIT, action="keep")
    assert kept.content == (
        f"Exited worktree. Your work is preserved at “{path}” on branch “worktree-w”."
        f" Session is now back in “{root}”."
    )
    assert "locked" not in git(root, "worktree", "list", "--porcelain")
    assert str(use(s, ENTER, name="w").content).startswith(f"Resumed worktree at “{path}”")
    assert problem(s, EXIT, action="remove").startswith("Worktree has 1 uncommitted file.")


def test_another_worktree_is_entered_by_its_path_and_never_removed(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    other = tmp_path / "other"
    git(root, "worktree", "add", "-q", str(other))
    s = at(root)
    use(s, ENTER, name="w")
    assert problem(s, ENTER, name="x").startswith("Already in a worktree session.")
    entered = use(s, ENTER, path=str(other))
    assert str(entered.content).startswith(f"Entered worktree at “{other}” on branch “other”.")
    assert "locked" not in git(root, "worktree", "list", "--porcelain")
    assert problem(s, EXIT, action="remove", discard_changes=True).startswith("This session is not the owner")
    use(s, EXIT, action="keep")
    assert (s.situation.cwd, other.is_dir(), s.keep(Visit).tree) == (str(root), True, None)


def test_outside_of_a_worktree_there_is_nothing_to_leave(tmp_path: Path) -> None:
    assert problem(at(tmp_path), EXIT, action="keep").startswith("No-op: there is no active EnterWorktree")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "a", "path": "b"}, "Provide at most one of `name` or `path`, not both."),
        ({"name": "a b"}, 'Invalid worktree name \\"a b\\"'),
    ],
)
def test_wrong_input_is_told_like_any_other(tmp_path: Path, arguments: Any, words: str) -> None:
    told = problem(at(tmp_path), ENTER, **arguments)
    assert told.startswith('InputValidationError: [\n  {\n    "code": "custom",') and words in told


@pytest.mark.requirement("S1-112", "S1-113")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mkdir -p wt; echo noise; echo $PWD/wt", ""),
        (
            'mkdir -p wt; printf \'{"hookSpecificOutput": {"hookEventName": "WorktreeCreate",'
            ' "worktreePath": "%s"}}\' $PWD/wt',
            "",
        ),
        ("true", "WorktreeCreate hook failed: hook succeeded but returned no worktree path"),
        ("echo /nowhere/at/all", 'Path "/nowhere/at/all" does not exist'),
        ("echo bad >&2; exit 1", "WorktreeCreate hook failed: echo bad >&2; exit 1: bad"),
        ("echo bad >&2; exit 2", "WorktreeCreate hook failed: echo bad >&2; exit 2: bad"),
        (
            'echo \'{"decision": "block", "reason": "not now"}\'',
            'WorktreeCreate hook failed: echo \'{"decision": "block", "reason": "not now"}\': not now',
        ),
    ],
)
def test_a_hook_makes_the_worktree_instead_of_git(tmp_path: Path, command: str, expected: str) -> None:
    root = repository(tmp_path / "p")
    s = at(root, engine(one("WorktreeCreate", command)))
    if expected:
        assert problem(s, ENTER, name="w").startswith(expected)
        assert s.situation.cwd == str(root)
    else:
        words = f"Created worktree at “{root / 'wt'}”. {THERE}"
        assert use(s, ENTER, name="w").data == {"worktreePath": str(root / "wt"), "message": words}
    assert not (root / ".claude").exists()


@pytest.mark.requirement("S1-113")
@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (["sleep 0.1; mkdir w1; echo $PWD/w1", "mkdir w2; echo $PWD/w2"], "w1"),
        (["echo bad >&2; exit 2", "mkdir w2; echo $PWD/w2"], "w2"),
        (["true", "mkdir w2; echo $PWD/w2"], "w2"),
        (["sleep 0.1; echo 1 >&2; exit 1", "echo 2 >&2; exit 1"], ""),
    ],
)
def test_of_several_hooks_the_first_that_names_a_directory_counts(
    tmp_path: Path, commands: list[str], expected: str
) -> None:
    handlers = [{"type": "command", "command": command} for command in commands]
    s = at(tmp_path, engine({"WorktreeCreate": [{"hooks": handlers}]}))
    if expected:
        use(s, ENTER, name="w")
        assert s.situation.cwd == str(tmp_path / expected)
    else:
        failures = "sleep 0.1; echo 1 >&2; exit 1: 1; echo 2 >&2; exit 1: 2"
        assert problem(s, ENTER, name="w") == f"WorktreeCreate hook failed: {failures}"


@pytest.mark.requirement("S1-115")
def test_what_a_hook_has_made_a_hook_removes(tmp_path: Path) -> None:
    events = {**one("WorktreeCreate", "mkdir wt; echo $PWD/wt"), **one("WorktreeRemove", "cat > gone.json")}
    s = at(tmp_path, engine(events))
    use(s, ENTER, name="w")
    assert problem(s, EXIT, action="remove").startswith(f"Could not verify worktree state at “{tmp_path}/wt”")
    use(s, EXIT, action="remove", discard_changes=True)
    payload = msgspec.json.decode((tmp_path / "wt" / "gone.json").read_bytes())
    assert (payload["worktree_path"], payload["cwd"]) == (f"{tmp_path}/wt", f"{tmp_path}/wt")
    assert s.situation.cwd == str(tmp_path)


def test_outside_of_git_only_hooks_can_make_one(tmp_path: Path) -> None:
    told = problem(at(tmp_path), ENTER, name="w")
    assert told.startswith("Cannot create a worktree: not in a git repository and no WorktreeCreate hooks")
