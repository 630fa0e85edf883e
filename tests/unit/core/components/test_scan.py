from __future__ import annotations

from pathlib import Path

from forge.core.components.scan import scan_agents, scan_commands, scan_skills, scan_styles
from forge.core.registry import Component
from forge.foundation.origin import Origin, Scope, Severity
from unit.core.components.trees import agent, command, skill, write


def test_a_skill_is_a_folder_one_level_deep_with_a_skill_file(tmp_path: Path) -> None:
    skill(tmp_path, "b", "d")
    skill(tmp_path, ".dot", "d")
    skill(tmp_path, "With Blank.é", "d")
    skill(tmp_path / "skills" / "group", "deep", "d")
    write(tmp_path / "skills" / "flat.md", "flat")
    write(tmp_path / "skills" / "lower" / "skill.md", "lower")
    found, notes = scan_skills(str(tmp_path / "skills"), Scope.USER)
    assert ([c.name for c in found], notes) == ([".dot", "With Blank.é", "b"], [])
    assert [c.origin for c in found][2] == Origin(Scope.USER, str(tmp_path / "skills/b/SKILL.md"))
    assert found[2].value.root == str(tmp_path / "skills" / "b")


def test_the_reserved_name_is_skipped_with_a_warning(tmp_path: Path) -> None:
    skill(tmp_path, "Synced", "d")
    found, notes = scan_skills(str(tmp_path / "skills"), Scope.USER)
    assert (found, [(n.severity, n.message) for n in notes]) == (
        [],
        [(Severity.WARNING, "the name Synced is reserved")],
    )


def test_a_skill_file_that_is_a_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "skills" / "odd" / "SKILL.md").mkdir(parents=True)
    found, notes = scan_skills(str(tmp_path / "skills"), Scope.USER)
    assert (found, [n.severity for n in notes]) == ([], [Severity.ERROR])


def test_folders_become_part_of_the_names_of_commands(tmp_path: Path) -> None:
    for name in ("plain", "ops/restart", "README", ".dot"):
        command(tmp_path, name, "d")
    write(tmp_path / "commands" / "UPPER.MD", "x")
    write(tmp_path / "commands" / "note.txt", "x")
    found, _ = scan_commands(str(tmp_path / "commands"), Scope.PROJECT)
    assert sorted(c.name for c in found) == [".dot", "README", "ops:restart", "plain"]
    assert all(c.value.is_command for c in found)


def test_a_skill_file_among_the_commands_stands_for_its_folder(tmp_path: Path) -> None:
    base = tmp_path / "commands" / "dd"
    write(base / "SKILL.md", "---\nname: other\ndescription: whole\n---\nx")
    write(base / "beside.md", "ignored")
    write(base / "sub" / "third.md", "third")
    found, _ = scan_commands(str(tmp_path / "commands"), Scope.PROJECT)
    rows = [(c.name, c.value.is_command, c.value.root, c.value.display) for c in found]
    assert rows == [("dd", True, str(base), ""), ("dd:sub:third", True, "", "")]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    command(tmp_path, "a/x", "d")
    (tmp_path / "commands" / "a" / "back").symlink_to(tmp_path / "commands")
    skill(tmp_path / "elsewhere", "s", "d")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "elsewhere" / "skills" / "s")
    names = [c.name for c in scan_commands(str(tmp_path / "commands"), Scope.PROJECT)[0]]
    assert names == ["a:x"]
    assert [c.name for c in scan_skills(str(tmp_path / "skills"), Scope.USER)[0]] == ["linked"]


def test_folders_do_not_show_in_the_names_of_agents(tmp_path: Path) -> None:
    agent(tmp_path, "inner", "d", "deep/folder/file")
    write(tmp_path / "agents" / "none.md", "just text")
    found, notes = scan_agents(str(tmp_path / "agents"), Scope.USER)
    assert [(c.name, c.value.prompt) for c in found] == [("inner", "x")]
    assert [n.message for n in notes] == ["is not an agent: it has no name"]


def test_styles_are_files_directly_in_their_directory(tmp_path: Path) -> None:
    write(tmp_path / "output-styles" / "terse.md", "Short.")
    write(tmp_path / "output-styles" / "sub" / "deep.md", "x")
    found, _ = scan_styles(str(tmp_path / "output-styles"), Scope.USER)
    assert [c.name for c in found] == ["terse"]


def test_missing_directories_hold_nothing(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    nothing: tuple[list[Component[object]], list[object]] = ([], [])
    for scan in (scan_skills, scan_commands, scan_agents, scan_styles):
        assert scan(missing, Scope.USER) == nothing
