from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import UsageError
from unit.core.installing.workshop import NOW, STAMP, Bench, market, plugin, shop, write


@pytest.mark.requirement("S0-54")
def test_installing_writes_the_files_both_programs_read(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    assert bench.json("marketplace", "add", root) == {
        "command": "marketplace-add",
        "outcome": "ok",
        "marketplace": "shop",
        "message": "Successfully added marketplace: shop (declared in user settings)",
    }
    assert bench.json("install", "tool@shop") == {
        "command": "install",
        "outcome": "ok",
        "plugin": "tool@shop",
        "pluginId": "tool@shop",
        "scope": "user",
        "message": "Successfully installed plugin: tool@shop (scope: user)",
    }
    copy = bench.claude / "plugins/cache/shop/tool/1.0.0"
    source = {"source": "directory", "path": str(root)}
    assert bench.read(".claude/plugins/known_marketplaces.json") == {
        "shop": {"source": source, "installLocation": str(root), "lastUpdated": STAMP}
    }
    assert bench.read(".claude/plugins/installed_plugins.json") == {
        "version": 2,
        "plugins": {
            "tool@shop": [
                {
                    "scope": "user",
                    "installPath": str(copy),
                    "version": "1.0.0",
                    "installedAt": STAMP,
                    "lastUpdated": STAMP,
                }
            ]
        },
    }
    assert bench.read(".claude/settings.json") == {
        "extraKnownMarketplaces": {"shop": {"source": source}},
        "enabledPlugins": {"tool@shop": True},
    }
    assert (copy / "commands/go.md").read_text() == "Go to $ARGUMENTS.\n"
    assert not (bench.home / ".forge").exists()


def test_what_another_program_wrote_survives_every_change(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    known = {
        "other": {"source": {"source": "github", "repo": "a/b"}, "installLocation": "/x", "autoUpdate": True}
    }
    installed = {
        "version": 2,
        "futureKey": [1],
        "plugins": {"old@other": [{"scope": "user", "installPath": "/x", "version": "1", "futureKey": "x"}]},
    }
    write(
        bench.home,
        {
            ".claude/plugins/known_marketplaces.json": known,
            ".claude/plugins/installed_plugins.json": installed,
            ".claude/settings.json": '{\n    "model": "opus",   "enabledPlugins": {"old@other": true}\n}\n',
        },
    )
    bench("marketplace", "add", root)
    bench("install", "tool")
    bench("uninstall", "tool")
    bench("marketplace", "remove", "shop")
    assert bench.read(".claude/plugins/known_marketplaces.json") == known
    assert bench.read(".claude/plugins/installed_plugins.json") == installed
    settings = (bench.claude / "settings.json").read_text()
    assert settings.startswith('{\n    "model": "opus",   "enabledPlugins": {"old@other": true}')


def test_records_of_the_first_file_version_are_still_known(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    old = {"version": 1, "plugins": {"tool@shop": {"installPath": "/nowhere", "version": "0.1"}}}
    write(bench.home, {".claude/plugins/installed_plugins.json": old})
    assert [(row["id"], row["scope"], row["version"]) for row in bench.json("list")] == [
        ("tool@shop", "user", "0.1")
    ]


@pytest.mark.parametrize(
    ("scope", "file"),
    [("project", ".claude/settings.json"), ("local", ".claude/settings.local.json")],
)
def test_scopes_have_their_own_settings_file(tmp_path: Path, scope: str, file: str) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool", "--scope", scope)
    assert json.loads((bench.project / file).read_text()) == {"enabledPlugins": {"tool@shop": True}}
    record = bench.read(".claude/plugins/installed_plugins.json")["plugins"]["tool@shop"][0]
    assert (record["scope"], record["projectPath"]) == (scope, str(bench.project))


def test_a_plugin_of_another_project_is_not_listed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool", "--scope", "project")
    bench.project = tmp_path / "elsewhere"
    bench.project.mkdir()
    assert bench.json("list") == []


SWITCHING: list[tuple[list[str], int, dict[str, Any]]] = [
    (
        ["enable", "tool"],
        1,
        {
            "command": "enable",
            "outcome": "failed",
            "plugin": "tool",
            "message": 'Plugin "tool" is already enabled',
            "failureCode": "already_in_goal_state",
            "alreadyInGoalState": True,
        },
    ),
    (
        ["disable", "tool@shop"],
        0,
        {
            "command": "disable",
            "outcome": "ok",
            "plugin": "tool@shop",
            "pluginId": "tool@shop",
            "scope": "user",
            "message": "Successfully disabled plugin: tool (scope: user)",
        },
    ),
    (
        ["disable", "tool", "--scope", "local"],
        0,
        {
            "command": "disable",
            "outcome": "ok",
            "plugin": "tool",
            "pluginId": "tool@shop",
            "scope": "local",
            "message": "Successfully disabled plugin: tool (scope: local)",
        },
    ),
    (
        ["enable", "nobody"],
        1,
        {
            "command": "enable",
            "outcome": "failed",
            "plugin": "nobody",
            "message": 'Plugin "nobody" not found in any editable settings scope. '
            "Use plugin@marketplace format.",
            "failureCode": "ambiguous_marketplace",
        },
    ),
    (
        ["disable", "--all"],
        0,
        {"command": "disable", "outcome": "ok", "all": True, "message": "Disabled 1 plugin"},
    ),
    (
        ["uninstall", "tool", "--keep-data"],
        0,
        {
            "command": "uninstall",
            "outcome": "ok",
            "plugin": "tool",
            "pluginId": "tool@shop",
            "scope": "user",
            "keptData": True,
            "message": "Successfully uninstalled plugin: tool (scope: user)",
        },
    ),
    (
        ["uninstall", "nobody"],
        1,
        {
            "command": "uninstall",
            "outcome": "failed",
            "plugin": "nobody",
            "scope": "user",
            "message": 'Plugin "nobody" not found in installed plugins',
            "failureCode": "not_installed",
        },
    ),
    (
        ["update", "tool"],
        0,
        {
            "command": "update",
            "outcome": "ok",
            "plugin": "tool",
            "pluginId": "tool@shop",
            "scope": "user",
            "message": "tool is already at the latest version (1.0.0).",
            "updateOutcome": "up_to_date",
            "oldVersion": "1.0.0",
            "newVersion": "1.0.0",
        },
    ),
    (
        ["install", "nobody@shop"],
        1,
        {
            "command": "install",
            "outcome": "failed",
            "plugin": "nobody@shop",
            "scope": "user",
            "message": 'Plugin "nobody" not found in marketplace "shop". '
            "Your local copy may be out of date — try `forge plugin marketplace update shop`.",
            "failureCode": "not_found",
        },
    ),
]


@pytest.mark.requirement("S1-129")
@pytest.mark.parametrize(("words", "code", "expected"), SWITCHING, ids=lambda value: str(value)[:40])
def test_results_have_the_shape_scripts_know(
    tmp_path: Path, words: list[str], code: int, expected: dict[str, Any]
) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool")
    outcome = bench(*words, "--json")
    assert (outcome.code, json.loads(outcome.out)) == (code, expected)
    assert outcome.err.startswith("✘ Failed to ") if code else not outcome.err


def test_update_takes_the_new_version_and_marks_the_old_copy(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    bench("marketplace", "add", root)
    bench("install", "tool")
    plugin(root / "tool", "tool", version="1.1.0")
    answer = bench.json("update", "tool@shop")
    assert (answer["updateOutcome"], answer["oldVersion"], answer["newVersion"]) == (
        "updated",
        "1.0.0",
        "1.1.0",
    )
    copies = bench.claude / "plugins/cache/shop/tool"
    assert (copies / "1.0.0/.orphaned_at").read_text() == str(int(NOW * 1000))
    assert not (copies / "1.1.0/.orphaned_at").exists()
    assert bench.json("list")[0]["version"] == "1.1.0"


def test_plugin_of_a_local_marketplace_is_read_in_place(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    bench("marketplace", "add", root)
    bench("install", "tool")
    (row,) = bench.json("list")
    assert row == {
        "id": "tool@shop",
        "version": "1.0.0",
        "scope": "user",
        "enabled": True,
        "installPath": str(bench.claude / "plugins/cache/shop/tool/1.0.0"),
        "readFromFolder": str(root / "tool"),
        "folderVersion": "1.0.0",
        "installedAt": STAMP,
        "lastUpdated": STAMP,
        "projectEnabled": False,
    }


def test_removing_a_marketplace_takes_its_plugins_and_their_secrets_along(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    option = {"type": "string", "title": "T", "description": "d", "sensitive": True}
    plugin(root / "tool", "tool", version="1", userConfig={"token": option})
    market(root, "shop", [{"name": "tool", "source": "./tool"}])
    bench("marketplace", "add", root)
    bench("install", "tool", "--config", "token=hush")
    data = write(bench.claude / "plugins/data/tool-shop", {"state": "x"})
    outcome = bench("marketplace", "remove", "shop")
    assert outcome.out.startswith(
        "✔ Successfully removed marketplace: shop\nAlso uninstalled 1 plugin from this "
        "marketplace:\n  tool@shop\n"
    )
    assert not data.exists()
    assert root.exists()  # the user's own folder
    assert bench.read(".claude/.credentials.json") == {"pluginSecrets": {}}
    assert bench.read(".claude/plugins/known_marketplaces.json") == {}
    assert bench.read(".claude/settings.json") == {"extraKnownMarketplaces": {}, "enabledPlugins": {}}


def test_broken_manifest_is_not_installed(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    plugin(root / "bad", "bad", author="just a text")
    market(root, "shop", [{"name": "bad", "source": "./bad"}])
    bench("marketplace", "add", root)
    answer = bench.json("install", "bad")
    assert answer["failureCode"] == "error_validation"
    assert "author: Invalid input: expected object, received string" in answer["message"]
    assert bench.json("list") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["frobnicate"], "error: unknown command 'frobnicate'"),
        (["instal", "x"], "error: unknown command 'instal'\n(Did you mean install?)"),
        (["install", "--jsn", "x"], "error: unknown option '--jsn'\n(Did you mean --json?)"),
        (["enable"], "error: missing required argument 'plugin'"),
        (["install", "x", "--scope", "weird"], "Invalid scope: weird. Must be one of: user, project, local."),
        (["disable"], "Please specify a plugin name or use --all to disable all plugins"),
        (["marketplace", "frob"], "error: unknown command 'frob'"),
    ],
)
def test_wrong_words_are_explained(tmp_path: Path, words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Bench(tmp_path)(*words)
    assert caught.value.message == message


def test_parallel_installations_lose_nothing(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    names = [f"p{number}" for number in range(8)]
    for name in names:
        plugin(root / name, name, version="1.0.0")
    bench(
        "marketplace", "add", market(root, "shop", [{"name": name, "source": f"./{name}"} for name in names])
    )
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda name: bench("install", name), names))
    assert [outcome.code for outcome in outcomes] == [0] * 8
    assert sorted(bench.read(".claude/plugins/installed_plugins.json")["plugins"]) == [
        f"{n}@shop" for n in names
    ]
    assert sorted(bench.read(".claude/settings.json")["enabledPlugins"]) == [f"{n}@shop" for n in names]


def test_copies_nobody_uses_are_swept_after_two_weeks(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    bench("marketplace", "add", root)
    bench("install", "tool")
    cache = bench.claude / "plugins/cache"
    old = write(cache / "gone/tool/1", {"x": "x", ".orphaned_at": "1"})
    young = write(cache / "gone/tool/2", {"x": "x", ".orphaned_at": "1"})
    os.utime(old / ".orphaned_at", (NOW - 15 * 86_400,) * 2)
    os.utime(young / ".orphaned_at", (NOW - 13 * 86_400,) * 2)
    bench("update", "tool")
    bench("uninstall", "tool")
    assert (old.exists(), young.exists()) == (False, True)


def test_switch_in_forges_own_files_follows_along(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool")
    toml = (
        write(bench.home / ".forge", {".forge.toml": "# mine\n[plugins.tool]\nenabled = true\n"})
        / ".forge.toml"
    )
    write(bench.home / ".forge", {"settings.json": {"enabledPlugins": {"tool@shop": True}}})
    bench.settings = {"plugins": {"tool": {"enabled": True}}}
    assert bench("disable", "tool").code == 0
    assert bench.read(".forge/settings.json") == {"enabledPlugins": {"tool@shop": False}}
    assert bench.read(".claude/settings.json")["enabledPlugins"] == {"tool@shop": False}
    assert toml.read_text() == "# mine\n[plugins.tool]\nenabled = false\n"
