from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from forge.core.components.catalog import Catalog
from forge.core.components.listing import View, typable
from forge.foundation.origin import Scope
from unit.core.components.trees import Tree, agent, command, skill, write

# From the strongest to the weakest.
SKILL_PLACES = (
    "etc/forge",
    "etc/forgecode",
    "etc/claude-code/.claude",
    "home/.forge",
    "home/forge",
    "home/.forgecode",
    "home/.claude",
    "home/.agents",
    "repo/sub/.forge",
    "repo/sub/.forgecode",
    "repo/sub/.claude",
    "repo/sub/.agents",
    "repo/.forge",
    "repo/.claude",
    "repo/.agents",
)
AGENT_PLACES = (
    "etc/forge",
    "etc/claude-code/.claude",
    "repo/sub/.forge",
    "repo/sub/.claude",
    "repo/.claude",
    "extra/.claude",
    "home/.forge",
    "home/.claude",
)


def descriptions(catalog: Catalog, name: str) -> list[str]:
    return [c.value.description for c in catalog.skills.find(name)]


@pytest.mark.requirement("S0-27")
@pytest.mark.requirement("S0-28")
@pytest.mark.parametrize(("strong", "weak"), list(itertools.combinations(SKILL_PLACES, 2)))
def test_of_two_places_the_stronger_one_wins_and_the_other_stays_visible(
    strong: str, weak: str, tmp_path: Path
) -> None:
    tree = Tree(tmp_path, "sub")
    for place in (strong, weak):
        skill(tmp_path / place, "same", place)
    assert descriptions(tree.load(), "same") == [strong, weak]


@pytest.mark.parametrize(("strong", "weak"), list(itertools.combinations(AGENT_PLACES, 2)))
def test_agents_of_the_project_win_over_those_of_the_user(strong: str, weak: str, tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    for place in (strong, weak):
        agent(tmp_path / place, "same", place)
    found = tree.load(added=True).agents.find("same")
    assert [c.value.description for c in found] == [strong, weak]


def test_skills_of_any_scope_win_over_commands_of_any_scope(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    user, near, far = tree.home / ".claude", tree.cwd / ".claude", tree.repository / ".claude"
    command(user, "a", "user command")
    skill(near, "a", "project skill")
    skill(user, "b", "user skill")
    command(near, "b", "project command")
    command(user, "c", "user command")
    command(near, "c", "near command")
    command(far, "c", "far command")
    skill(far, "d", "far skill")
    command(near, "d", "near command")
    catalog = tree.load()
    assert {name: descriptions(catalog, name) for name in "abcd"} == {
        "a": ["project skill", "user command"],
        "b": ["user skill", "project command"],
        "c": ["user command", "near command", "far command"],
        "d": ["far skill", "near command"],
    }


def test_order_is_user_then_project_from_near_to_far_then_commands(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    skill(tree.home / ".claude", "zuser", "d")
    skill(tree.cwd / ".claude", "near2", "d")
    skill(tree.cwd / ".forge", "Near1", "d")
    skill(tree.repository / ".claude", "afar", "d")
    skill(tree.beside / ".claude", "added", "d")
    command(tree.home / ".claude", "ucmd", "d")
    command(tree.cwd / ".claude", "cmd", "d")
    assert typable(tree.load(added=True), View()) == [
        "zuser",
        "Near1",
        "near2",
        "afar",
        "added",
        "cmd",
        "ucmd",
    ]


def test_a_taken_name_in_an_added_directory_gets_that_of_the_directory(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.cwd / ".claude", "lev", "project")
    command(tree.home / ".claude", "mix", "user command")
    for name in ("lev", "mix", "free"):
        skill(tree.beside / ".claude", name, "added")
    catalog = tree.load(added=True)
    assert typable(catalog, View()) == ["lev", "free", "mix", "extra:lev"]
    assert catalog.skills["extra:lev"].note == (
        '(scoped to extra/ — use this instead of the unscoped "lev" skill when the files being changed are'
        " under extra/)"
    )


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (frozenset({"user"}), ["managed", "user"]),
        (frozenset({"project"}), ["managed", "project", "added"]),
        (frozenset({"local"}), ["managed"]),
    ],
)
def test_sources_limit_where_is_looked(sources: frozenset[str], names: list[str], tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.managed / "claude-code" / ".claude", "managed", "d")
    skill(tree.home / ".claude", "user", "d")
    skill(tree.cwd / ".claude", "project", "d")
    skill(tree.beside / ".claude", "added", "d")
    assert typable(tree.load(added=True, sources=sources), View()) == names


@pytest.mark.requirement("S0-51")
@pytest.mark.requirement("S0-52")
@pytest.mark.requirement("S1-21", "S0-02")
def test_every_kind_of_file_loads_with_its_origin(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    base = tree.cwd / ".claude"
    skill(base, "s", "d")
    command(base, "c", "d")
    agent(base, "a", "d")
    write(base / "output-styles" / "o.md", "x")
    skill(tree.cwd / ".forgecode", "f", "d")
    skill(tree.cwd / ".forge", "g", "d")
    skill(tree.cwd / ".agents", "shared", "d")
    agent(tree.cwd / ".agents", "no", "d")
    catalog = tree.load()
    components = [*catalog.skills, *catalog.agents, *catalog.styles]
    assert {c.name: c.origin.scope for c in components} == dict.fromkeys("aocsfg", Scope.PROJECT) | {
        "shared": Scope.PROJECT
    }
    assert all(c.origin.path.startswith(str(tree.cwd)) for c in components)


def test_the_home_directory_as_a_project_is_read_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.cwd = tree.home
    skill(tree.home / ".claude", "s", "d")
    assert [c.origin.scope for c in tree.load().skills.find("s")] == [Scope.USER]


def test_without_a_repository_only_the_start_directory_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "sub")
    (tree.repository / ".git").rmdir()
    skill(tree.repository / ".claude", "far", "d")
    skill(tree.cwd / ".claude", "near", "d")
    assert typable(tree.load(), View()) == ["near"]


def test_a_contribution_can_be_taken_out_again(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.home / ".claude", "s", "user")
    skill(tree.cwd / ".claude", "s", "project")
    catalog = tree.load()
    later = Tree(tmp_path / "more")
    skill(later.home / ".claude", "s", "later")
    remove = catalog.add(later.load().contributions[-2])
    assert descriptions(catalog, "s") == ["later", "user", "project"]
    remove()
    assert descriptions(catalog, "s") == ["user", "project"]
