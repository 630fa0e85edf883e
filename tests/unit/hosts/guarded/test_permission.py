from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from forge.core.shell.sandbox.facts import Facts
from forge.foundation.system.keeping import Keeper
from forge.hosts.forgecmd.policies import load_policy
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.permission import AGAIN, Choice, Permission, Question, permit

CONFINED = Facts(landlock=7, seccomp=True, namespaces=True, fresh_proc=True)


def ground_of(root: Path, facts: Facts = CONFINED, **env: str) -> Ground:
    (root / "proj").mkdir(exist_ok=True)
    around = {"HOME": str(root), "PATH": "/usr/bin:/bin", "FORGE_SESSION_ID": "one", **env}
    return Ground(around, load_policy(around, str(root / "proj")), facts, Keeper())


def permitted(
    root: Path, command: str, choice: Choice | None = None, *, danger: bool = False, **env: str
) -> Permission:
    ground = ground_of(root, CONFINED, **env)

    async def ask(_: Question) -> Choice:
        assert choice is not None
        return choice

    try:
        verdict, decision = ground.assess(command, str(root / "proj"))
        return asyncio.run(permit(ground, verdict, decision, ask if choice else None, danger=danger))
    finally:
        ground.close()


@pytest.mark.requirement("S2-18", "S2-31", "S2-33")
@pytest.mark.parametrize(
    ("choice", "scope", "later", "other"),
    [
        (Choice.ONCE, "once", False, False),
        (Choice.SESSION, "session", True, False),
        (Choice.ALWAYS, "permanent", True, True),
    ],
)
def test_an_answer_holds_as_long_as_it_says(
    choice: Choice, scope: str, later: bool, other: bool, tmp_path: Path
) -> None:
    command = "git push origin main"
    assert permitted(tmp_path, command, choice) == Permission(True, "granted", scope)
    assert permitted(tmp_path, command).granted is later
    assert permitted(tmp_path, command, FORGE_SESSION_ID="two").granted is other


def test_a_session_remembers_effects_not_texts(tmp_path: Path) -> None:
    assert permitted(tmp_path, "rm a.txt", Choice.SESSION).granted
    assert permitted(tmp_path, "rm b.txt").granted
    assert not permitted(tmp_path, "rm -rf src").granted
    assert not permitted(tmp_path, "rm ../x").granted


def test_always_is_a_rule_about_exactly_these_words(tmp_path: Path) -> None:
    permitted(tmp_path, "git push origin main", Choice.ALWAYS)
    written = json.loads((tmp_path / ".forge/settings.json").read_text())
    assert written == {"forgecmd": {"rules": {"allow": [{"argv": ["git", "push", "origin", "main"]}]}}}
    assert not permitted(tmp_path, "git push origin main --tags").granted


@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize(
    ("command", "danger", "granted"),
    [
        ("rm -rf src", True, True),
        ("rm -rf src", False, False),
        ("rm -rf /", True, False),
        ("ls", False, True),
        ("git push", False, True),
    ],
)
def test_danger_needs_somebody_who_may_dare_and_the_forbidden_stays(
    command: str, danger: bool, granted: bool, tmp_path: Path
) -> None:
    assert permitted(tmp_path, command, Choice.ONCE, danger=danger).granted is granted


def test_a_rule_of_the_user_cannot_be_dared_away(tmp_path: Path) -> None:
    (tmp_path / ".forge").mkdir()
    (tmp_path / ".forge/settings.json").write_text('{"permissions": {"deny": ["Bash(git push:*)"]}}')
    assert not permitted(tmp_path, "git push", Choice.ONCE, danger=True).granted


def test_the_second_refusal_of_the_same_kind_says_so(tmp_path: Path) -> None:
    ground = ground_of(tmp_path)
    reasons = []
    for command in ("rm -rf src", "rm -rf lib"):
        verdict, decision = ground.assess(command, str(tmp_path / "proj"))
        reasons.append(asyncio.run(permit(ground, verdict, decision, None)).reason)
    ground.close()
    assert [AGAIN in reason for reason in reasons] == [False, True]


def test_without_a_sandbox_everything_is_asked_one_step_earlier(tmp_path: Path) -> None:
    ground = ground_of(tmp_path, Facts())
    decisions = [ground.assess(text, str(tmp_path / "proj"))[1].verdict for text in ("ls", "touch a")]
    ground.close()
    assert decisions == ["allow", "ask"]
