from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge_run import environment, forge


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.requirement("S0-26")
def test_a_skill_shows_its_file_its_scope_and_what_it_hides(home: Path, tmp_path: Path) -> None:
    for place in (home, tmp_path):
        write(place / ".claude/skills/note/SKILL.md", f"---\ndescription: from {place.name}\n---\nx\n")
    run = forge("skill", "info", "note", "--json", cwd=tmp_path, env=environment(home))
    assert json.loads(run.out) == {
        "name": "note",
        "path": str(home / ".claude/skills/note/SKILL.md"),
        "root": str(home / ".claude/skills/note"),
        "description": f"from {home.name}",
        "described": True,
        "scope": "user",
        "shadows": [str(tmp_path / ".claude/skills/note/SKILL.md")],
    }


@pytest.mark.parametrize(
    ("command", "scope", "file"),
    [
        ("skill", "project", "project/.forge/skills/fresh/SKILL.md"),
        ("skill", "user", "home/.forge/skills/fresh/SKILL.md"),
        ("agent", "project", "project/.forge/agents/fresh.md"),
        ("agent", "user", "home/.forge/agents/fresh.md"),
    ],
)
def test_a_new_component_is_listed_at_once(
    command: str, scope: str, file: str, home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    env = environment(home)
    made = forge(command, "new", "fresh", "--scope", scope, "--description", "is new", cwd=project, env=env)
    assert made.code == 0, made.err
    listed = json.loads(forge(command, "list", "--json", cwd=project, env=env).out)
    (row,) = [row for row in listed if row["name"] == "fresh"]
    expected = {"home": home, "project": project}[file.split("/")[0]] / file.partition("/")[2]
    assert (row["kind"], row["scope"], row["path"]) == (command, scope, str(expected))
    again = forge(command, "new", "fresh", "--scope", scope, cwd=project, env=env)
    assert (again.code, "exists already" in again.err) == (1, True)


def test_a_mistyped_name_gets_a_suggestion(home: Path, tmp_path: Path) -> None:
    run = forge("agent", "info", "Explorer", cwd=tmp_path, env=environment(home))
    assert run.code == 1
    assert "Did you mean Explore?" in run.err


def test_the_doctor_shows_components_what_they_hide_and_what_is_wrong(home: Path, tmp_path: Path) -> None:
    for place in (home, tmp_path):
        write(place / ".claude/skills/note/SKILL.md", "---\ndescription: d\n---\nx\n")
    write(tmp_path / ".claude/agents/bad.md", "---\nname: 5\n---\nx\n")
    env = environment(home, ANTHROPIC_API_KEY="dummy")
    report = json.loads(forge("doctor", "--json", cwd=tmp_path, env=env).out)
    rows = {(row["kind"], row["name"]): row for row in report["components"]}
    assert rows["skill", "note"] == {
        "kind": "skill",
        "name": "note",
        "scope": "user",
        "path": str(home / ".claude/skills/note/SKILL.md"),
        "plugin": "",
        "description": "d",
        "shadows": [str(tmp_path / ".claude/skills/note/SKILL.md")],
    }
    assert ("agent", "Explore") in rows
    texts = [problem["text"] for problem in report["problems"]]
    assert any(
        f"{tmp_path}/.claude/agents/bad.md" in text and "its name is not text" in text for text in texts
    )
    shown = forge("doctor", "--no-color", cwd=tmp_path, env={**env, "COLUMNS": "200"}).out
    assert "skill note: user" in shown
    assert "hides" in shown
