"""Plugins that need each other, scopes that overrule each other, folders of skills that are plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unit.core.installing.test_options_and_dependencies import dependent
from unit.core.installing.workshop import Bench, market, plugin, shop, write


def test_requirements_that_contradict_each_other_install_nothing(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    bench("install", "top")
    answer = bench.json("install", "newer")
    wanted = "no version satisfies all of: ^2.0.0, ^1.0.0"
    assert (answer["failureCode"], answer["message"]) == (
        "dependency_version_conflict",
        f'Dependency "low@shop" has conflicting version requirements ({wanted})',
    )
    assert "newer@shop" not in bench.read(".claude/plugins/installed_plugins.json")["plugins"]


def test_a_refusal_names_everything_that_must_be_off_first(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    bench("install", "top")
    answer = bench.json("disable", "low")
    assert {key: answer[key] for key in ("failureCode", "reverseDependents", "disableFirst")} == {
        "failureCode": "required_by_dependents",
        "reverseDependents": ["middle"],
        "disableFirst": ["top@shop", "middle@shop"],
    }


def test_uninstalling_says_who_still_needs_it_and_what_nobody_needs(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    bench("install", "top")
    assert bench.json("uninstall", "low")["message"] == (
        "Successfully uninstalled plugin: low (scope: user) — warning: required by middle"
    )
    assert bench.json("uninstall", "top")["message"] == (
        "Successfully uninstalled plugin: top (scope: user)\n"
        "1 auto-installed dependency no longer needed: middle. Run `forge plugin prune` to remove."
    )


def test_a_stronger_scope_may_differ_and_a_weaker_one_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool@shop", "--scope", "project")
    assert bench.json("disable", "tool@shop", "--scope", "local")["outcome"] == "ok"
    assert bench.json("list")[0]["enabled"] is False
    assert bench.json("enable", "tool@shop")["scope"] == "local"
    refused = bench.json("enable", "tool@shop", "--scope", "user")
    assert (refused["failureCode"], refused["installedScope"]) == ("not_installed_at_scope", "local")


def test_a_folder_of_skills_is_listed_and_switched(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    skills = bench.claude / "skills"
    write(skills / "up", {".claude-plugin/plugin.json": {"name": "up", "version": "1.0.0"}})
    write(skills / "broken", {".claude-plugin/plugin.json": "{"})
    good, broken = bench.json("list")
    row = {"id": "up@skills-dir", "version": "1.0.0", "scope": "user", "enabled": True}
    assert good == {**row, "installPath": str(skills / "up")}
    assert (broken["id"], broken["errorDetails"][0]["type"]) == ("broken@skills-dir", "manifest-parse-error")
    assert bench("disable", "up@skills-dir").out == "✔ Successfully disabled plugin: up\n"
    assert bench.read(".claude/settings.json") == {"enabledPlugins": {"up@skills-dir": False}}
    assert bench.json("list")[0]["enabled"] is False
    assert bench.json("enable", "up@skills-dir")["message"] == "Successfully enabled plugin: up"
    assert bench.read(".claude/settings.json") == {"enabledPlugins": {}}


@pytest.mark.parametrize(
    ("entry", "code", "message"),
    [
        ({"source": "./x/../p"}, "error_policy", "./x/../p does not stay inside the marketplace directory"),
        (
            {"source": "./p", "tags": "x"},
            "error_validation",
            "This plugin's marketplace entry is invalid: tags",
        ),
        ({"source": "./p", "strict": "no"}, "error_validation", "This plugin's marketplace entry is invalid"),
        ({"source": {"source": "pip"}}, "error_unknown", "This plugin uses a source type"),
    ],
)
def test_entries_that_cannot_be_installed(
    entry: dict[str, Any], code: str, message: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    plugin(tmp_path / "shop/p", "p")
    bench("marketplace", "add", market(tmp_path / "shop", "shop", [{"name": "p", **entry}]))
    answer = bench.json("install", "p@shop")
    assert (answer["failureCode"], answer["message"][: len(message)]) == (code, message)


def test_paths_of_a_catalogue_file_start_two_folders_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    plugin(tmp_path / "shop/p", "p")
    catalogue = {"name": "shop", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
    write(tmp_path / "shop", {"lists/mine.json": catalogue})
    bench("marketplace", "add", tmp_path / "shop/lists/mine.json")
    assert bench.json("install", "p@shop")["outcome"] == "ok"
    known = bench.read(".claude/plugins/known_marketplaces.json")
    assert known["shop"]["installLocation"] == str(tmp_path / "shop")
