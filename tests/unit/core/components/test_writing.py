from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.components.agent_file import read_agent
from forge.core.components.skill_file import read_skill, skill_body
from forge.core.components.writing import change_text, create_agent, create_skill, write_component
from forge.foundation.errors import UsageError
from forge.foundation.origin import Origin, Scope

SKILL = """---
# about this file
name: a
description: "one: two"   # kept
x-own:
  - 1
allowed-tools: Read
---

# Body

text
"""


@pytest.mark.requirement("S0-06")
def test_only_what_was_asked_for_changes(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(SKILL)
    assert write_component(str(file), {"allowed-tools": "Read, Grep"})
    assert file.read_text() == SKILL.replace("allowed-tools: Read", 'allowed-tools: "Read, Grep"')
    assert not write_component(str(file), {"name": "a"})


@pytest.mark.parametrize(
    ("text", "body", "changed"),
    [
        (SKILL, "new\n", SKILL.replace("# Body\n\ntext\n", "new\n")),
        ("---\r\na: 1\r\n---\r\n\r\nold\r\n", "new\r\n", "---\r\na: 1\r\n---\r\n\r\nnew\r\n"),
        ("old", "new", "new"),
        ("---\na: 1\n---\n", "new", "---\na: 1\n---\nnew"),
    ],
)
def test_a_new_body_leaves_the_front_matter_alone(text: str, body: str, changed: str) -> None:
    assert change_text(text, {}, body) == changed


def test_a_new_skill_and_a_new_agent_load_again(tmp_path: Path) -> None:
    path = create_skill(str(tmp_path / "skills"), "my-skill", "Does: x # y")
    skill, notes = read_skill(path, "my-skill", str(tmp_path), Origin(Scope.PROJECT))
    assert skill is not None
    assert (skill.display, skill.description, notes) == ("my-skill", "Does: x # y", [])
    assert skill_body(skill).startswith("# My skill\n")
    path = create_agent(str(tmp_path / "agents"), "helper", "Helps", ["Read", "Bash(git:*)"])
    kind, notes = read_agent(path, "", Origin(Scope.PROJECT))
    assert kind is not None
    assert (kind.name, kind.description, kind.tools, notes) == (
        "helper",
        "Helps",
        ["Read", "Bash(git:*)"],
        [],
    )


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    create_skill(str(tmp_path), "one", "d")
    with pytest.raises(UsageError, match="exists already"):
        create_skill(str(tmp_path), "one", "d")


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a--b", "-a", "x" * 65])
def test_new_names_are_plain(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        create_skill(str(tmp_path), name, "d")
