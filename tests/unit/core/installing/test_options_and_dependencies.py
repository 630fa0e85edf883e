from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from unit.core.installing.workshop import Bench, market, plugin, write

OPTIONS = {
    "token": {"type": "string", "title": "Token", "description": "t", "sensitive": True, "required": True},
    "level": {"type": "number", "title": "Level", "description": "l", "default": 3, "min": 1, "max": 9},
    "mode": {"type": "string", "title": "Mode", "description": "m", "options": ["a", "b"], "default": "a"},
    "loud": {"type": "boolean", "title": "Loud", "description": "b"},
}


def with_options(tmp_path: Path) -> Bench:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    plugin(root / "tool", "tool", version="1", userConfig=OPTIONS)
    bench("marketplace", "add", market(root, "shop", [{"name": "tool", "source": "./tool"}]))
    return bench


def test_secrets_go_to_the_credentials_file_and_are_never_shown(tmp_path: Path) -> None:
    bench = with_options(tmp_path)
    write(bench.home, {".claude/.credentials.json": {"claudeAiOauth": {"kept": 1}}})
    answer = bench.json("install", "tool", "--config", "token=hush-hush", "--config", "level=5")
    assert (answer["configApplied"], answer["unsetOptionCount"]) == (True, 2)
    assert bench.read(".claude/.credentials.json") == {
        "claudeAiOauth": {"kept": 1},
        "pluginSecrets": {"tool@shop": {"token": "hush-hush"}},
    }
    assert stat.S_IMODE((bench.claude / ".credentials.json").stat().st_mode) == 0o600
    assert bench.read(".claude/settings.json")["pluginConfigs"] == {"tool@shop": {"options": {"level": 5}}}
    view = bench.json("configure", "tool@shop")
    assert view == {
        "pluginId": "tool@shop",
        "displayName": "tool",
        "schema": OPTIONS,
        "inputs": {"token": "", "level": "5", "mode": "a", "loud": "false"},
        "choices": {"mode": ["a", "b"], "loud": ["true", "false"]},
        "configured": ["token", "level"],
        "unconfigured": ["mode", "loud"],
    }
    texts = [
        bench(*words).out for words in (["configure", "tool@shop"], ["list", "--json"], ["details", "tool"])
    ]
    assert not any("hush" in text for text in [*texts, *bench.said])


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (
            "nokey=1",
            "key \"nokey\" isn't declared in this plugin's userConfig. Known keys: token, level, mode, loud.",
        ),
        ("level=abc", 'level: "abc" is not a number'),
        ("level=10", "Level must be at most 9"),
        ("mode=z", "Mode must be one of: a, b"),
        ("loud=maybe", 'loud: "maybe" is not true or false'),
        ("token=", "Token is required"),
        ("nonsense", 'expects KEY=VALUE, got "nonsense". Use --config key=value (repeatable).'),
    ],
)
def test_wrong_values_do_not_stop_the_installation_and_are_not_saved(
    tmp_path: Path, pair: str, message: str
) -> None:
    bench = with_options(tmp_path)
    answer = bench.json("install", "tool", "--config", pair)
    assert (answer["outcome"], answer["configApplied"]) == ("ok", False)
    assert "⚠ Installed, but --config not applied: --config" in answer["message"]
    assert answer["message"].endswith(message)
    assert "pluginConfigs" not in bench.read(".claude/settings.json")


def test_values_can_be_saved_from_standard_input(tmp_path: Path) -> None:
    bench = with_options(tmp_path)
    bench("install", "tool")
    bench.input = '{"mode": "b", "loud": "true", "token": "s"}'
    assert bench.json("configure", "tool@shop", "--values-stdin") == {
        "pluginId": "tool@shop",
        "displayName": "tool",
        "saved": ["mode", "loud", "token"],
        "unconfigured": ["level"],
    }
    saved = bench.read(".claude/settings.json")["pluginConfigs"]["tool@shop"]["options"]
    assert saved == {"mode": "b", "loud": True}
    bench.input = '{"zz": "1"}'
    refused = bench("configure", "tool@shop", "--values-stdin")
    assert (refused.code, refused.err) == (
        1,
        'Failed to save configuration: This plugin has no option "zz". Known options: token, level, '
        "mode, loud.\n",
    )
    bench("uninstall", "tool")
    assert bench.read(".claude/.credentials.json") == {"pluginSecrets": {}}


def dependent(tmp_path: Path) -> Bench:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    needs: dict[str, list[Any]] = {
        "top": ["middle"],
        "middle": [{"name": "low", "version": "^1.0.0"}],
        "low": [],
        "newer": [{"name": "low", "version": "^2.0.0"}],
        "lost": ["nobody"],
        "foreign": ["x@other"],
    }
    for name, wanted in needs.items():
        plugin(root / name, name, version="1.2.0", dependencies=wanted)
    entries = [{"name": name, "source": f"./{name}"} for name in needs]
    bench("marketplace", "add", market(root, "shop", entries))
    return bench


def test_dependencies_are_installed_along_and_pruned_when_nothing_needs_them(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    message = "Successfully installed plugin: top@shop (scope: user) (+ 2 dependencies: middle, low)"
    assert bench.json("install", "top")["message"] == message
    records = bench.read(".claude/plugins/installed_plugins.json")["plugins"]
    assert {name: records[0].get("auto") for name, records in records.items()} == {
        "top@shop": None,
        "middle@shop": True,
        "low@shop": True,
    }
    assert (
        bench("prune").out == "Nothing to prune (2 auto-installed plugins at user scope, all still needed).\n"
    )
    bench("uninstall", "top")
    listed = "2 auto-installed plugins no longer needed at user scope:\n"
    listed += "  middle@shop (1.2.0)\n  low@shop (1.2.0)\n"
    assert bench("prune", "--dry-run").out == f"{listed}(dry run — nothing removed)\n"
    assert bench("prune").out == f"{listed}Not a TTY — run `forge plugin prune -y` to remove.\n"
    bench("install", "low")
    assert bench("prune", "-y").out == "Removed 1 auto-installed plugin: middle\n"
    assert [row["id"] for row in bench.json("list")] == ["low@shop"]


def test_dependency_in_the_wrong_version_is_a_conflict(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    bench("install", "low")
    answer = bench.json("install", "newer")
    assert (answer["outcome"], answer["failureCode"]) == ("failed", "dependency_version_conflict")
    assert answer["message"].startswith(
        'Dependency "low@shop" is installed at 1.2.0, which does not satisfy: ^2.0.0.'
    )


@pytest.mark.parametrize(
    ("name", "missing", "warned"), [("lost", "nobody@shop", True), ("foreign", "x@other", False)]
)
def test_unknown_dependency_is_a_warning_and_an_error_in_the_list(
    tmp_path: Path, name: str, missing: str, warned: bool
) -> None:
    bench = dependent(tmp_path)
    answer = bench.json("install", name)
    assert (f'Warning: dependency "{missing}" was not installed' in answer["message"]) is warned
    (row,) = bench.json("list")
    assert row["errorDetails"] == [{"type": "dependency-unsatisfied", "plugin": name, "dependency": missing}]


def test_plugin_that_others_need_cannot_be_disabled(tmp_path: Path) -> None:
    bench = dependent(tmp_path)
    bench("install", "middle")
    refused = bench("disable", "low")
    assert refused.err == (
        '✘ Failed to disable plugin "low": low is still required by middle. Disable that plugin '
        "first, or disable "
        "everything together: forge plugin disable middle@shop && forge plugin disable low@shop\n"
    )
