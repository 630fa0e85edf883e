"""Discovery of the example plugins in tests/fixtures/plugins, whole and broken."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from forge.agent.hooks.engine import Engine, Means
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.watching import Watching
from forge.foundation.paths import find_places
from forge.foundation.trust import trust
from forge.foundation.watch import Timing
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components
from unit.agent.hooks.making import seated

PLUGINS = Path(__file__).parents[2] / "fixtures" / "plugins"
QUICK = Timing(settle=0.02, longest=0.1, grace=0.1, cooldown=0.05)
NAMES = (
    "agent-provider",
    "bash-logger",
    "command-provider",
    "config-watcher",
    "dangerous-guard",
    "full-stack",
    "prettier-format",
    "skill-provider",
)


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def configure(home: Path, project: Path, o: RunOptions) -> Configuration:
    env = {"HOME": str(home), "PATH": "/bin"}
    trust(find_places(env, str(project)))
    return load_configuration(o, env, str(project))


def load(home: Path, project: Path, *plugins: Path | str) -> tuple[Components, Ecosystem]:
    o = RunOptions(plugin_dir=[str(p) for p in plugins])
    c = configure(home, project, o)
    found, eco = Components(o, c), Ecosystem()
    found.describe(eco, o, c)
    return found, eco


def place(source: str, target: Path, **manifest: Any) -> Path:
    """A copy of an example plugin, with other values in its manifest."""
    shutil.copytree(PLUGINS / source, target)
    file = target / ".claude-plugin" / "plugin.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **manifest}))
    return target


def names(eco: Ecosystem) -> list[str]:
    return sorted(row["name"] for row in eco.plugins)


@pytest.mark.requirement("S1-143")
def test_all_examples_are_found_without_a_complaint(home: Path, project: Path) -> None:
    _, eco = load(home, project, *(PLUGINS / name for name in NAMES))
    assert (names(eco), eco.errors) == (list(NAMES), [])


@pytest.mark.requirement("S1-138")
def test_three_skills_with_different_front_matter(home: Path, project: Path) -> None:
    found, _ = load(home, project, PLUGINS / "skill-provider")
    rows = {
        c.name: (c.value.model_invocable, c.value.allowed_tools, c.value.argument_hint, c.value.when_to_use)
        for c in found.catalog.skills
        if c.origin.plugin
    }
    assert rows == {
        "skill-provider:plain": (True, [], "", ""),
        "skill-provider:limited": (True, ["Read", "Grep"], "", "When only reading is wanted"),
        "skill-provider:typed-only": (False, [], "[topic]", ""),
    }


@pytest.mark.requirement("S1-141")
def test_every_part_of_the_full_example_is_counted(home: Path, project: Path) -> None:
    found, _ = load(home, project, PLUGINS / "full-stack")
    catalog = found.catalog
    assert sorted(c.name for c in catalog.skills if c.origin.plugin) == [
        "full-stack:check",
        "full-stack:deploy",
    ]
    assert [c.name for c in catalog.agents if c.origin.plugin] == ["full-stack:tester"]
    assert [c.name for c in catalog.styles if c.origin.plugin] == ["full-stack:brief"]
    assert [list(source.events) for source in catalog.hooks] == [["SessionStart"]]
    assert [c.name for c in catalog.servers] == ["plugin:full-stack:notes"]


@pytest.mark.requirement("S1-142")
def test_the_watcher_logs_a_change_of_the_project_settings(home: Path, project: Path) -> None:
    found, _ = load(home, project, PLUGINS / "config-watcher")
    settings = [project / ".claude" / name for name in ("settings.json", "settings.local.json")]
    settings[0].parent.mkdir()

    async def played() -> None:
        engine = Engine(Means(project_dir=str(project)))
        for source in found.catalog.hooks:
            engine.add(source)
        s, _ = seated(engine, str(project))
        told: asyncio.Queue[str] = asyncio.Queue()
        watching = Watching(
            s,
            zip(("project_settings", "local_settings"), map(str, settings), strict=True),
            lambda source, path, wanted: told.put_nowait(source),
            timings=(QUICK, QUICK),
        )
        watching.begin([], [])
        async with asyncio.timeout(5):
            for file, name in zip(settings, ("project_settings", "local_settings"), strict=True):
                file.write_text("{}")
                assert await told.get() == name
        await watching.close()

    asyncio.run(played())
    (line,) = (project / "changes.log").read_text().splitlines()
    payload = json.loads(line)
    assert [payload[key] for key in ("hook_event_name", "source", "file_path")] == [
        "ConfigChange",
        "project_settings",
        str(settings[0]),
    ]


@pytest.mark.requirement("S1-140", "S1-144")
def test_parts_of_two_plugins_never_meet(home: Path, project: Path) -> None:
    other = place("agent-provider", project.parent / "second", name="second")
    found, _ = load(home, project, PLUGINS / "agent-provider", other)
    assert sorted(c.name for c in found.catalog.agents if c.origin.plugin) == [
        "agent-provider:security-reviewer",
        "second:security-reviewer",
    ]


@pytest.mark.requirement("S1-143")
def test_a_plugin_of_the_project_shadows_that_of_the_user(home: Path, project: Path) -> None:
    place("command-provider", home / ".forge/plugins/command-provider", version="1.0.0")
    place("command-provider", project / ".forge/plugins/command-provider", version="2.0.0")
    _, eco = load(home, project)
    (row,) = [row for row in eco.plugins if row["name"] == "command-provider"]
    assert row["path"] == str(project / ".forge/plugins/command-provider")


@pytest.mark.requirement("S1-143", "S1-144")
def test_a_broken_manifest_is_reported_and_the_others_work(home: Path, project: Path) -> None:
    broken = place("bash-logger", project.parent / "broken")
    (broken / ".claude-plugin" / "plugin.json").write_text('{"name": ')
    found, eco = load(home, project, broken, PLUGINS / "dangerous-guard")
    assert (names(eco), len(found.catalog.hooks)) == (["dangerous-guard"], 1)
    assert [str(broken) in json.dumps(error) for error in eco.errors] == [True]


@pytest.mark.requirement("S1-144")
def test_a_plugin_without_its_hooks_directory_is_still_a_plugin(home: Path, project: Path) -> None:
    bare = place("bash-logger", project.parent / "bare")
    shutil.rmtree(bare / "hooks")
    found, eco = load(home, project, bare)
    assert (names(eco), found.catalog.hooks, eco.errors) == (["bash-logger"], [], [])


@pytest.mark.requirement("S1-144")
def test_new_plugins_are_picked_up_and_removed_ones_dropped(home: Path, project: Path) -> None:
    o = RunOptions()
    folder = project / ".forge/plugins"
    place("command-provider", folder / "command-provider")
    found, eco = load(home, project)
    states = [names(eco)]
    place("agent-provider", folder / "agent-provider")
    for change in (None, "command-provider"):
        if change:
            shutil.rmtree(folder / change)
        c = configure(home, project, o)
        found.refresh(o, c)
        found.describe(eco, o, c)
        states.append(names(eco))
    assert states == [
        ["command-provider"],
        ["agent-provider", "command-provider"],
        ["agent-provider"],
    ]


@pytest.mark.requirement("S1-144")
def test_a_disabled_plugin_is_skipped_and_stays_disabled(home: Path, project: Path) -> None:
    o = RunOptions()
    place("command-provider", project / ".forge/plugins/command-provider")
    settings = project / ".forge/settings.json"
    settings.write_text(json.dumps({"enabledPlugins": {"command-provider@local": False}}))
    found, eco = load(home, project)
    states = [names(eco)]
    place("agent-provider", project / ".forge/plugins/agent-provider")
    c = configure(home, project, o)
    found.refresh(o, c)
    found.describe(eco, o, c)
    states.append(names(eco))
    assert states == [[], ["agent-provider"]]
