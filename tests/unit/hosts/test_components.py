from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from forge.agent.skills.ecosystem import Ecosystem
from forge.core.components.listing import announced_skills, typable
from forge.foundation.errors import UsageError
from forge.foundation.paths import find_places
from forge.foundation.trust import trust
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components, may_have_files, may_have_plugins
from unit.core.components.trees import agent, command, skill, write


@pytest.fixture
def top(home: Path, tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def plugin(root: Path, name: str, **manifest: Any) -> Path:
    write(root / ".claude-plugin/plugin.json", json.dumps({"name": name, **manifest}))
    return root


def configure(home: Path, top: Path, o: RunOptions, **env: str) -> Configuration:
    return load_configuration(o, {"HOME": str(home), "PATH": "/bin", **env}, str(top / "project"))


def load(home: Path, top: Path, **options: Any) -> tuple[Components, Ecosystem]:
    o = RunOptions(**options)
    c = configure(home, top, o)
    found, eco = Components(o, c), Ecosystem()
    found.describe(eco, o, c)
    return found, eco


@pytest.mark.requirement("S1-21")
def test_everything_comes_through_one_loader_with_its_origin(home: Path, top: Path) -> None:
    skill(home / ".claude", "mine", "m")
    command(top / "project/.claude", "do", "d")
    agent(top / "project/.claude", "helper", "h")
    skill(plugin(top / "p", "p"), "deep", "x")
    found, _ = load(home, top, plugin_dir=[str(top / "p")])
    rows = {c.name: (c.origin.scope.value, c.origin.plugin) for c in found.catalog.skills}
    assert rows == {"mine": ("user", ""), "do": ("project", ""), "p:deep": ("plugin", "p@inline")}
    assert {c.name: c.origin.scope.value for c in found.catalog.agents}["helper"] == "project"
    assert found.catalog.agents["Explore"].text == "agent_explore"


@pytest.mark.requirement("S0-28")
@pytest.mark.parametrize(
    ("places", "winner"),
    [
        (["user", "project"], "user"),
        (["project", "added"], "project"),
        (["user", "added"], "user"),
        (["added"], "added"),
    ],
)
def test_of_two_skills_of_one_name_the_right_one_counts(
    places: list[str], winner: str, home: Path, top: Path
) -> None:
    where = {"user": home / ".claude", "project": top / "project/.claude", "added": top / "extra/.claude"}
    for place in places:
        skill(where[place], "deploy", place)
    found, _ = load(home, top, add_dir=[str(top / "extra")])
    assert found.catalog.skills["deploy"].description == winner


@pytest.mark.requirement("S1-25")
def test_equal_names_of_two_plugins_do_not_collide(home: Path, top: Path) -> None:
    for name in ("one", "two"):
        command(plugin(top / name, name), "deploy", name)
    found, eco = load(home, top, plugin_dir=[str(top / "one"), str(top / "two")])
    assert typable(found.catalog, eco.view) == ["one:deploy", "two:deploy"]
    assert eco.plugins == [
        {"name": "one", "path": str(top / "one"), "source": "one@inline"},
        {"name": "two", "path": str(top / "two"), "source": "two@inline"},
    ]


def test_a_broken_plugin_is_reported_and_the_rest_loads(home: Path, top: Path) -> None:
    write(top / "bad/.claude-plugin/plugin.json", "{")
    skill(plugin(top / "good", "good", version="1.2.3"), "s", "d")
    found, eco = load(home, top, plugin_dir=[str(top / "bad"), str(top / "good"), str(top / "none")])
    assert [p["version"] for p in eco.plugins] == ["1.2.3"]
    wrong = [("path-not-found", str(top / "none")), ("generic-error", str(top / "bad"))]
    assert [(error["type"], error["path"]) for error in eco.errors] == wrong
    assert [str(top) in str(note) for note in found.diagnostics] == [True, True]


@pytest.mark.parametrize(("trusted", "names"), [(False, []), (True, ["own:s"])])
def test_plugins_of_a_project_wait_for_trust(trusted: bool, names: list[str], home: Path, top: Path) -> None:
    skill(plugin(top / "project/.claude/plugins/own", "own"), "s", "d")
    if trusted:
        trust(find_places({"HOME": str(home)}, str(top / "project")))
    found, eco = load(home, top)
    assert typable(found.catalog, eco.view) == names


def test_disable_slash_commands_leaves_agents(home: Path, top: Path) -> None:
    skill(home / ".claude", "mine", "m")
    agent(home / ".claude", "helper", "h")
    found, eco = load(home, top, disable_slash_commands=True)
    assert (typable(found.catalog, eco.view), announced_skills(found.catalog, eco.view)) == ([], [])
    assert "helper" in found.catalog.agents


def test_safe_mode_lists_plugins_and_loads_nothing(home: Path, top: Path) -> None:
    skill(home / ".claude", "mine", "m")
    skill(plugin(top / "p", "p"), "deep", "x")
    found, eco = load(home, top, safe_mode=True, plugin_dir=[str(top / "p")])
    assert len(found.catalog.skills) == 0
    assert [p["name"] for p in eco.plugins] == ["p"]


def test_setting_sources_decide_about_files(home: Path, top: Path) -> None:
    skill(home / ".claude", "mine", "m")
    skill(top / "project/.claude", "theirs", "t")
    found, _ = load(home, top, setting_sources="project")
    assert [c.name for c in found.catalog.skills] == ["theirs"]


def test_agents_of_the_command_line_win_over_files(home: Path, top: Path) -> None:
    agent(top / "project/.claude", "helper", "from a file")
    given = json.dumps({"helper": {"description": "from the line", "prompt": "p"}})
    found, _ = load(home, top, agents=given)
    assert [c.value.description for c in found.catalog.agents.find("helper")] == [
        "from the line",
        "from a file",
    ]


def test_wrong_agents_of_the_command_line_end_the_run(home: Path, top: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.prompt: Invalid input: expected string, received undefined"):
        load(home, top, agents='{"a": {"description": "d"}}')


@pytest.mark.requirement("S1-132")
def test_a_refresh_swaps_what_has_changed(home: Path, top: Path) -> None:
    root = plugin(top / "p", "p")
    skill(root, "first", "x")
    agent(root, "old", "a")
    skill(home / ".claude", "mine", "m")
    o = RunOptions(plugin_dir=[str(root)])
    found = Components(o, configure(home, top, o))
    before = [c.name for c in found.catalog.skills]
    (root / "agents/old.md").unlink()
    agent(root, "new", "a")
    skill(root, "second", "x")
    (home / ".claude/skills/mine/SKILL.md").unlink()
    found.refresh(o, configure(home, top, o))
    assert (before, [c.name for c in found.catalog.skills]) == (["mine", "p:first"], ["p:first", "p:second"])
    assert [c.name for c in found.catalog.agents if ":" in c.name] == ["p:new"]


def test_a_switched_off_plugin_in_a_skill_directory_takes_its_skill_along(home: Path, top: Path) -> None:
    skill(home / ".claude", "foo", "root skill")
    plugin(home / ".claude/skills/foo", "foo")
    skill(home / ".claude/skills/foo", "inner", "i")
    assert sorted(c.name for c in load(home, top)[0].catalog.skills) == ["foo", "foo:inner"]
    write(home / ".claude/settings.json", json.dumps({"enabledPlugins": {"foo@skills-dir": False}}))
    assert [c.name for c in load(home, top)[0].catalog.skills] == []


@pytest.mark.parametrize("inside", ["", "kit/"])
def test_a_packed_plugin_is_unpacked_among_the_users_own_files(inside: str, home: Path, top: Path) -> None:
    with zipfile.ZipFile(top / "kit.zip", "w") as archive:
        archive.writestr(f"{inside}.claude-plugin/plugin.json", '{"name": "kit"}')
        archive.writestr(f"{inside}skills/z/SKILL.md", "---\ndescription: zed\n---\nZ\n")
    for _ in range(2):
        found, eco = load(home, top, plugin_dir=[str(top / "kit.zip")])
        assert [c.name for c in found.catalog.skills] == ["kit:z"]
        assert eco.plugins[0]["path"].startswith(f"{home}/.forge/cache/archives/")


def test_a_packed_plugin_that_breaks_out_is_refused(home: Path, top: Path) -> None:
    with zipfile.ZipFile(top / "kit.zip", "w") as archive:
        archive.writestr("../out.txt", "x")
    _, eco = load(home, top, plugin_dir=[str(top / "kit.zip")])
    assert [e["type"] for e in eco.errors] == ["generic-error"]
    assert list(home.glob("**/out.txt")) == []


def test_a_plugin_may_name_the_main_agent(home: Path, top: Path) -> None:
    root = plugin(top / "p", "p")
    agent(root, "boss", "b")
    write(root / "settings.json", json.dumps({"agent": "boss"}))
    assert load(home, top, plugin_dir=[str(root)])[0].agent == "boss"


@pytest.mark.parametrize(
    ("setting", "style"),
    [("", "default"), ("Concise", "Concise"), ("p:calm", "p:calm"), ("nobody", "nobody")],
)
def test_the_output_style_hosts_are_told(setting: str, style: str, home: Path, top: Path) -> None:
    root = plugin(top / "p", "p")
    write(root / "output-styles/x.md", "---\nname: calm\n---\nBe calm.\n")
    write(home / ".claude/settings.json", json.dumps({"outputStyle": setting} if setting else {}))
    assert load(home, top, plugin_dir=[str(root)])[1].style == style


def test_most_runs_look_at_directories_only(home: Path, top: Path) -> None:
    places = find_places({"HOME": str(home)}, str(top / "project"))
    assert (may_have_files(places, []), may_have_plugins(places)) == (False, False)
    write(top / "extra/.forge/agents/x.md", "x")
    assert may_have_files(places, [str(top / "extra")])
    write(home / ".forge/plugins/p/skills/s/SKILL.md", "x")
    assert may_have_plugins(places)
