from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from forge.core.components.listing import View, find_skill, typable
from forge.core.components.nested import NOTHING, announcement, touched, variants
from unit.core.components.trees import Tree, command, skill


class Walk:
    """Touches files one after the other, as a session would."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.catalog = tree.load()
        self.view = View()
        self.last = NOTHING
        self.remove: Callable[[], None] = lambda: None

    def touch(self, file: str) -> str:
        cwd = str(self.tree.cwd)
        found = touched(self.catalog, self.view, cwd, f"{cwd}/{file}", self.last)
        if found is None:
            return ""
        self.remove()
        self.remove = self.catalog.add(found.contribution)
        self.view = msgspec.structs.replace(self.view, active=self.view.active | found.active)
        self.last = found
        return announcement(self.catalog, self.view, found)


def test_skills_on_the_way_to_a_file_become_available(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.home / ".claude", "deploy", "user deploy")
    skill(tree.cwd / "apps/web/.claude", "deploy", "web deploy")
    skill(tree.cwd / "apps/web/.claude", "webonly", "web only", "name: shown\n")
    command(tree.cwd / "apps/web/.claude", "cmd", "never loaded")
    walk = Walk(tree)
    assert walk.touch("page.ts") == ""
    assert walk.touch("apps/web/page.ts") == (
        "New skills discovered in apps/web/.claude/skills, now available via the Skill tool:\n"
        "- apps/web:deploy\n"
        "- webonly\n"
        "\n"
        "The following skills are available for use with the Skill tool:\n"
        "\n"
        "- apps/web:deploy: web deploy (scoped to apps/web/ — use this instead of the unscoped "
        '"deploy" skill when the files being changed are under apps/web/)\n'
        "- webonly (shown): web only (from apps/web/.claude/skills — applies when working on files under"
        " apps/web/)"
    )
    assert walk.touch("apps/web/other.ts") == ""
    assert typable(walk.catalog, walk.view) == ["deploy", "apps/web:deploy", "webonly"]
    assert variants(walk.catalog, "deploy") == [("apps/web:deploy", "apps/web")]


def test_two_nested_skills_of_one_name_both_get_their_directory(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.cwd / "src/.claude", "nn", "outer")
    skill(tree.cwd / "src/pk/.claude", "nn", "inner")
    skill(tree.cwd / "src/pk/.claude", "ww", "w", "when_to_use: wtu\n")
    skill(tree.cwd / "src/pk/.claude", "people", "p", "disable-model-invocation: true\n")
    walk = Walk(tree)
    assert "\n- nn: outer (from src/.claude/skills" in walk.touch("src/a.ts")
    assert walk.touch("src/pk/b.ts") == (
        "New skills discovered in src/pk/.claude/skills, now available via the Skill tool:\n"
        "- src/pk:nn\n"
        "- ww\n"
        "\n"
        "The following skills are available for use with the Skill tool:\n"
        "\n"
        "- src:nn: outer (from src/.claude/skills — applies when working on files under src/)\n"
        "- src/pk:nn: inner (from src/pk/.claude/skills — applies when working on files under src/pk/)\n"
        "- ww: w (from src/pk/.claude/skills — applies when working on files under src/pk/) - wtu"
    )
    assert find_skill(walk.catalog, walk.view, "nn") is None
    assert variants(walk.catalog, "nn") == [("src:nn", "src"), ("src/pk:nn", "src/pk")]


def test_a_matching_file_activates_skills_with_paths(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    skill(tree.home / ".claude", "onuser", "user", "paths: /src/*.ts\n")
    skill(tree.cwd / ".claude", "onts", "ts only", "paths: '*.ts'\n")
    skill(tree.repository / ".claude", "far", "far", "paths: src/**\n")
    skill(tree.repository / ".claude", "never", "x", "paths: sub/src/**\n")
    walk = Walk(tree)
    assert walk.touch("src/a.ts") == (
        "The following skills are available for use with the Skill tool:\n"
        "\n"
        "- far: far\n"
        "- onts: ts only\n"
        "- onuser: user"
    )
    assert walk.touch("src/b.ts") == ""
    assert typable(walk.catalog, walk.view) == ["onuser", "onts", "far"]


def test_nested_skills_do_not_wait_for_their_patterns(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.cwd / "src/.claude", "waits", "w", "paths: /b.ts\n")
    walk = Walk(tree)
    assert "- waits: w (from" in walk.touch("src/a.ts")
    assert typable(walk.catalog, walk.view) == ["waits"]


def test_directories_that_appear_together_are_told_one_by_one(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.cwd / "a/.claude", "x", "outer")
    skill(tree.cwd / "a/b/.claude", "y", "inner")
    assert (
        Walk(tree)
        .touch("a/b/f.ts")
        .startswith(
            "New skills discovered in a/b/.claude/skills, now available via the Skill tool:\n- y\n\n"
            "New skills discovered in a/.claude/skills, now available via the Skill tool:\n- x\n\n"
            "The following skills"
        )
    )


def test_files_outside_bring_nothing(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    skill(tree.repository / "other/.claude", "x", "d")
    assert Walk(tree).touch("../other/file") == ""


def test_of_the_dialects_in_one_directory_the_last_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for dialect in (".agents", ".claude", ".forge"):
        skill(tree.cwd / "src" / dialect, "same", dialect)
    walk = Walk(tree)
    walk.touch("src/a")
    assert [c.value.description for c in walk.catalog.skills.find("same")] == [".forge"]
