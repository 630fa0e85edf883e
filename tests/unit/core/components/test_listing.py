from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import PluginRoot, Skill
from forge.core.components.listing import (
    HEADING,
    Limits,
    View,
    announced_skills,
    find_skill,
    listing,
    read_overrides,
    typable,
)
from forge.core.registry import Component
from forge.foundation.origin import BUILTIN, Origin, Scope
from unit.core.components.trees import Tree, command, skill, write


def made(*skills: Skill, scope: Scope = Scope.PROJECT) -> Catalog:
    catalog = Catalog()
    catalog.add(contribution(*skills, scope=scope))
    return catalog


def contribution(*skills: Skill, scope: Scope = Scope.PROJECT) -> Contribution:
    return Contribution(skills=[Component(s.name, s, Origin(scope, s.path or s.name)) for s in skills])


def own(name: str, description: str = "d", **fields: Any) -> Skill:
    return Skill(name, root=f"/{name}", description=description, described=True, **fields)


def of_plugin(plugin: str, name: str, *, root: str = "", described: bool = True, **fields: Any) -> Skill:
    origin = PluginRoot(f"{plugin}@m", plugin, f"/{plugin}", "/d")
    return Skill(f"{plugin}:{name}", root=root, description="d", described=described, plugin=origin, **fields)


def rows(catalog: Catalog, view: View | None = None, budget: int = 8000) -> list[str]:
    return listing(catalog, view or View(), Limits(budget)).split("\n")[2:]


@pytest.mark.parametrize(
    ("skill", "row"),
    [
        (own("a", "one\r\n\n two\tx"), "- a: one  two x"),
        (own("a", "<b> & c"), "- a: &lt;b&gt; & c"),
        (own("a", "d", when_to_use="w"), "- a: d - w"),
        (own("a", "d", display="Shown"), "- a (Shown): d"),
        (own("a", "d", display="a"), "- a: d"),
        (own("a", "d", display="under_score.x-y"), "- a (under_score.x-y): d"),
        (own("a", "d", display="ünï"), "- a (ünï): d"),
        (own("a", "d", display="Two Words"), "- a: d"),
        (own("a", "d", display="x/y"), "- a: d"),
        (own("a", "d", display="x:y"), "- a (x:y): d"),
        (of_plugin("p", "a", root="/a", display="p:x:y"), "- p:a: d"),
        (own("a", "d", display="it's"), "- a: d"),
        (own("a", "d", note="(n)", when_to_use="w"), "- a: d (n) - w"),
        (own("a", "x" * 1536), f"- a: {'x' * 1536}"),
        (own("a", "x" * 1537), f"- a: {'x' * 1535}…"),
        (own("a", "😀" * 800), f"- a: {'😀' * 767}\ufffd…"),
    ],
)
def test_each_skill_is_one_line(skill: Skill, row: str) -> None:
    assert listing(made(skill), View()) == f"{HEADING}\n\n{row}"


def test_without_skills_there_is_no_list() -> None:
    assert listing(Catalog(), View()) == ""


def test_a_shown_name_is_that_of_the_first_skill_that_has_it() -> None:
    catalog = made(own("a", display="same"), own("b", display="same"), own("c", display="a"))
    assert rows(catalog) == ["- a (same): d", "- b: d", "- c: d"]
    asked = {name: find_skill(catalog, View(), name) for name in ("same", "a", "b", "none")}
    assert {name: c.name if c else None for name, c in asked.items()} == {
        "same": "a",
        "a": "a",
        "b": "b",
        "none": None,
    }


@pytest.mark.requirement("S0-21")
def test_who_may_call_decides_which_list_a_skill_is_in() -> None:
    catalog = made(own("both"), own("people", model_invocable=False), own("model", user_invocable=False))
    assert rows(catalog) == ["- both: d", "- model: d"]
    assert typable(catalog, View()) == ["both", "people"]
    assert announced_skills(catalog, View()) == ["both", "people"]


@pytest.mark.requirement("S1-23")
def test_skills_with_a_made_up_description_and_commands_are_not_announced_as_skills(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    skill(tree.cwd / ".claude", "good", "d")
    write(tree.cwd / ".claude/skills/plain/SKILL.md", "Just text\n")
    write(tree.cwd / ".claude/skills/when/SKILL.md", "---\nwhen_to_use: w\n---\nText\n")
    command(tree.cwd / ".claude", "cmd", "d")
    command(tree.cwd / ".claude", "people", "d", "disable-model-invocation: true\n")
    catalog = tree.load()
    assert typable(catalog, View()) == ["good", "plain", "when", "cmd", "people"]
    assert announced_skills(catalog, View()) == ["good", "when", "people"]
    assert rows(catalog) == ["- good: d", "- plain: Just text", "- when: Text - w", "- cmd: d"]


@pytest.mark.requirement("S1-25")
def test_commands_of_plugins_come_before_skills_of_plugins(tmp_path: Path) -> None:
    catalog = made(own("mine"))
    for plugin in ("pb", "pa"):
        parts = [of_plugin(plugin, name, root="/x") for name in ("s1", "s2")]
        parts += [of_plugin(plugin, "C1"), of_plugin(plugin, "deploy")]
        catalog.add(contribution(*parts, scope=Scope.PLUGIN))
    catalog.add(contribution(own("code-review"), own("loop"), scope=Scope.BUILTIN))
    expected = ["mine", "pb:C1", "pb:deploy", "pa:C1", "pa:deploy", "pb:s1", "pb:s2", "pa:s1", "pa:s2"]
    assert typable(catalog, View()) == [*expected, "code-review", "loop"]


def test_in_a_plugin_the_command_wins_over_the_skill_which_is_still_announced() -> None:
    skills = [of_plugin("p", name, root="/x") for name in ("a", "bom", "c")]
    command = of_plugin("p", "bom")
    catalog = made(command, *skills, scope=Scope.PLUGIN)
    assert catalog.skills["p:bom"] is command
    assert typable(catalog, View()) == ["p:bom", "p:a", "p:c"]
    assert announced_skills(catalog, View()) == ["p:a", "p:bom", "p:c"]


def test_skills_of_plugins_without_a_description_are_not_listed_to_the_model() -> None:
    quiet = of_plugin("p", "quiet", root="/x", described=False)
    hinted = of_plugin("p", "hinted", root="/x", described=False, when_to_use="w")
    catalog = made(quiet, hinted, scope=Scope.PLUGIN)
    assert rows(catalog) == ["- p:hinted: d - w"]
    assert typable(catalog, View()) == ["p:quiet", "p:hinted"]


def test_the_shown_name_of_a_plugin_skill_works_with_and_without_the_plugin() -> None:
    catalog = made(of_plugin("p", "dir", root="/x", display="p:fancy"), scope=Scope.PLUGIN)
    assert rows(catalog) == ["- p:dir (p:fancy): d"]
    asked = [find_skill(catalog, View(), name) for name in ("p:dir", "p:fancy", "fancy", "dir")]
    assert [c is not None for c in asked] == [True, True, True, False]


def test_settings_hide_skills_but_not_those_of_plugins() -> None:
    names = ("on", "name", "user", "gone")
    catalog = made(*(own(name) for name in names))
    catalog.add(contribution(of_plugin("p", "s", root="/x"), scope=Scope.PLUGIN))
    overrides = {"on": "on", "name": "name-only", "user": "user-invocable-only", "gone": "off", "p:s": "off"}
    view = View(overrides=overrides)
    assert rows(catalog, view) == ["- name", "- on: d", "- p:s: d"]
    assert typable(catalog, view) == ["name", "on", "user", "p:s"]
    assert find_skill(catalog, view, "gone") is None


def test_bundled_skills_can_be_replaced_and_switched_off() -> None:
    catalog = made(own("doctor"), own("loop"), own("code-review"), scope=Scope.BUILTIN)
    catalog.add(contribution(Skill("code-review", description="mine", described=True)))
    assert rows(catalog) == ["- code-review: mine", "- doctor: d", "- loop: d"]
    assert rows(catalog, View(without_bundled=True)) == ["- code-review: mine", "- doctor: d"]
    assert [c.origin.scope for c in catalog.skills.find("code-review")] == [Scope.PROJECT, BUILTIN.scope]


def test_slash_commands_can_be_disabled_altogether() -> None:
    catalog, view = made(own("a")), View(disabled=True)
    assert (typable(catalog, view), announced_skills(catalog, view), listing(catalog, view)) == ([], [], "")
    assert find_skill(catalog, view, "a") is None


def test_skills_with_paths_wait_until_they_are_active() -> None:
    catalog = made(own("ts", paths=["*.ts"]), own("a"))
    assert (typable(catalog, View()), rows(catalog)) == (["a"], ["- a: d"])
    assert typable(catalog, View(active=frozenset({"ts"}))) == ["a", "ts"]


LENGTHS = [50, 300, 20, 200, 1000, 100, 100]


@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (1, []),
        (500, [0, 2]),
        (900, [0, 1, 2, 5]),
        (1500, [0, 1, 2, 3, 5, 6]),
        (2200, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_descriptions_are_left_out_where_they_do_not_fit_and_bundled_ones_stay(
    budget: int, kept: list[int]
) -> None:
    catalog = made(*(own(f"sk{n}", "d" * length) for n, length in enumerate(LENGTHS)))
    catalog.add(contribution(own("bundled", "x" * 300), scope=Scope.BUILTIN))
    expected = [f"- sk{n}: {'d' * length}" if n in kept else f"- sk{n}" for n, length in enumerate(LENGTHS)]
    assert rows(catalog, budget=budget) == [*expected, f"- bundled: {'x' * 300}"]


def test_what_is_used_most_keeps_its_description() -> None:
    catalog = made(*(own(name, "d" * 50) for name in "abc"))
    text = listing(catalog, View(), Limits(65), {"c": 3})
    assert text.split("\n")[2:] == ["- a", "- b", f"- c: {'d' * 50}"]


def test_one_wrong_override_makes_the_setting_void() -> None:
    assert read_overrides({"a": "off", "b": "on"}) == {"a": "off", "b": "on"}
    assert read_overrides({"a": "off", "b": "maybe"}) == {}
    assert read_overrides("off") == {}
