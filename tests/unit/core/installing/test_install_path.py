from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import UsageError
from unit.core.installing.workshop import Bench, plugin, write


def own(tmp_path: Path, name: str = "mine") -> Path:
    root = plugin(
        tmp_path / "src dir" / "folder", name, version="1.2.0", description="about", author={"name": "Ann"}
    )
    return write(
        root,
        {
            ".git/config": "x",
            "node_modules/m.js": "x",
            "target/debug": "x",
            "skills/s/SKILL.md": "---\ndescription: s\n---\ns",
            "hooks/hooks.json": {"hooks": {}},
        },
    )


@pytest.mark.requirement("S1-128")
def test_directory_is_copied_under_its_name_and_stays_off(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), own(tmp_path)
    outcome = bench("install", *str(root).split(" "))
    target = bench.home / ".forge/plugins/mine"
    assert outcome.out == (
        "✔ Successfully installed plugin: mine@local (scope: user). It is disabled until you trust it — "
        "enable it with: forge plugin enable mine@local\n"
    )
    assert sorted(path.name for path in target.iterdir()) == [".claude-plugin", "commands", "hooks", "skills"]
    assert bench.read(".forge/settings.json") == {"enabledPlugins": {"mine@local": False}}
    assert not (bench.claude / "settings.json").exists()
    shown = "".join(bench.said)
    for part in ("mine 1.2.0", "about", "by Ann", str(root), "skills (s)", "commands (go)", "hooks", "trust"):
        assert part in shown


def test_enabling_it_is_the_trust_it_needs(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench("install", own(tmp_path))
    assert [row["enabled"] for row in bench.json("list")] == [False]
    assert bench.json("enable", "mine")["pluginId"] == "mine@local"
    assert bench.json("list") == [
        {
            "id": "mine@local",
            "version": "1.2.0",
            "scope": "user",
            "enabled": True,
            "installPath": str(bench.home / ".forge/plugins/mine"),
            "source": "forge",
        }
    ]
    details = bench("details", "mine")
    assert (details.code, details.out.splitlines()[0]) == (0, "mine 1.2.0")
    assert bench("disable", "mine@local").code == 0


@pytest.mark.parametrize(
    ("answers", "enabled"),
    [([True], True), ([False], False)],
)
def test_person_at_the_terminal_is_asked_for_trust(
    tmp_path: Path, answers: list[bool], enabled: bool
) -> None:
    bench = Bench(tmp_path)
    bench.answers = answers
    assert bench.json("install", own(tmp_path))["enabled"] is enabled
    assert bench.asked == ["Do you trust it? Enable it now?"]
    assert bench.read(".forge/settings.json") == {"enabledPlugins": {"mine@local": enabled}}


def test_existing_plugin_is_overwritten_only_when_that_is_wanted(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), own(tmp_path)
    bench("install", root)
    bench("enable", "mine")
    write(root, {"new.txt": "x"})
    refused = bench("install", root)
    assert (refused.code, "exists and was not overwritten. Pass --yes" in refused.err) == (1, True)
    assert not (bench.home / ".forge/plugins/mine/new.txt").exists()
    assert bench("install", root, "--yes").code == 0
    assert (bench.home / ".forge/plugins/mine/new.txt").exists()
    # New files need new trust.
    assert bench.read(".forge/settings.json") == {"enabledPlugins": {"mine@local": False}}


def test_project_scope_installs_into_the_project(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench("install", own(tmp_path), "--scope", "project")
    assert (bench.project / ".forge/plugins/mine").is_dir()
    settings = json.loads((bench.project / ".forge/settings.json").read_text())
    assert settings == {"enabledPlugins": {"mine@local": False}}


def test_uninstalling_removes_the_copy_and_the_switch(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), own(tmp_path)
    bench("install", root)
    assert bench.json("uninstall", "mine")["pluginId"] == "mine@local"
    assert not (bench.home / ".forge/plugins/mine").exists()
    assert bench.read(".forge/settings.json") == {"enabledPlugins": {}}
    assert root.exists()


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "has no manifest: expected .forge-plugin/plugin.json, .claude-plugin/plugin.json or plugin.json."),
    ({".claude-plugin/plugin.json": "{"}, "has a corrupt manifest file"),
    ({".claude-plugin/plugin.json": {"name": "x", "author": 1}}, "has an invalid manifest file"),
    ({".claude-plugin/plugin.json": {"name": "a/b"}}, "cannot be the name of a folder"),
    ({".forge-plugin/plugin.json": {"name": ".."}}, "cannot be the name of a folder"),
]


@pytest.mark.parametrize(("files", "message"), BAD)
def test_directories_that_are_no_plugin_are_refused(
    tmp_path: Path, files: dict[str, Any], message: str
) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "x").mkdir()
    outcome = bench("install", write(tmp_path / "x", files))
    assert (outcome.code, message in outcome.err) == (1, True)
    assert not (bench.home / ".forge").exists()


@pytest.mark.requirement("S1-127")
def test_missing_directory_and_missing_words_are_explained(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    outcome = bench("install", "./no", "where")
    assert outcome.err == (
        f'✘ Failed to install plugin "./no": {bench.project}/no where is not a directory.\n'
    )
    with pytest.raises(UsageError, match=r"missing required argument 'plugin'\nUsage: plugin install NAME"):
        bench("install")


def test_plugin_of_the_vendor_neutral_standard_can_be_installed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    manifest = {"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "std"}
    root = write(tmp_path / "x", {"plugin.json": manifest, "skills/s/SKILL.md": "---\nname: s\n---\n"})
    assert bench.json("install", root)["pluginId"] == "std@local"
    assert [row["id"] for row in bench.json("list")] == ["std@local"]


@pytest.mark.requirement("S1-07", "S0-43")
def test_plugins_of_both_programs_are_listed_with_their_source(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for place, name in (
        (bench.home / ".claude", "b"),
        (bench.home / ".forge", "a"),
        (bench.project / ".claude", "d"),
        (bench.project / ".forge", "a"),
    ):
        plugin(place / "plugins" / name, name)
    rows = [(r["id"], r["scope"], r["source"], r["enabled"]) for r in bench.json("list")]
    assert sorted(rows) == [
        ("a@local", "project", "forge", True),
        ("a@local", "user", "forge", False),
        ("b@local", "user", "claude", True),
        ("d@local", "project", "claude", True),
    ]
    shown = bench("list").out
    assert f"Source: claude ({bench.home}/.claude/plugins/b)" in shown
    assert "shadowed: a@local at" in shown
    assert "Source: b@local (claude.b)" in bench("details", "b").out
