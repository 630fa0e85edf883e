from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from e2e.cli.process import forge, terminal
from unit.core.installing.workshop import market, plugin, shop


def test_plugin_goes_through_its_life_in_real_processes(tmp_path: Path, home: Path) -> None:
    root = shop(tmp_path / "shop")
    steps = [
        (["marketplace", "add", str(root)], 0),
        (["install", "tool@shop"], 0),
        (["list"], 0),
        (["enable", "tool"], 1),
        (["uninstall", "tool"], 0),
    ]
    done = [forge("plugin", *words, cwd=tmp_path) for words, _ in steps]
    assert [run.code for run in done] == [code for _, code in steps]
    assert done[1].out == (
        'Installing plugin "tool@shop"...✔ Successfully installed plugin: tool@shop (scope: user)\n'
    )
    assert "  ❯ tool@shop\n    Version: 1.0.0\n" in done[2].out
    assert (done[3].out, done[3].err) == (
        "",
        '✘ Failed to enable plugin "tool": Plugin "tool" is already enabled\n',
    )
    assert json.loads((home / ".claude/plugins/installed_plugins.json").read_text())["plugins"] == {}


@pytest.mark.requirement("S1-128")
def test_path_is_installed_on_a_terminal_after_the_trust_question(tmp_path: Path, home: Path) -> None:
    source = plugin(tmp_path / "source", "mine", version="1.0.0")
    with terminal("plugin", "install", str(source), cwd=tmp_path) as shown:
        shown.read_until("Do you trust it? Enable it now? [y/N] ")
        shown.type("y\n")
        assert shown.finish() == 0
    assert "brings: commands (go)" in shown.shown
    assert "Successfully installed plugin: mine@local (scope: user)" in shown.shown
    assert json.loads((home / ".forge/settings.json").read_text()) == {"enabledPlugins": {"mine@local": True}}


def test_plugin_of_a_marketplace_is_not_installed_when_the_person_says_no(tmp_path: Path, home: Path) -> None:
    forge("plugin", "marketplace", "add", str(shop(tmp_path / "shop")), cwd=tmp_path)
    with terminal("plugin", "install", "tool@shop", cwd=tmp_path) as shown:
        shown.read_until("Install and enable it? [y/N] ")
        shown.type("\n")
        assert shown.finish() == 1
    assert "not installed, because it was not accepted" in shown.shown
    assert not (home / ".claude/plugins/installed_plugins.json").exists()


def test_nothing_is_asked_without_a_terminal(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    source = {"source": "command", "command": f"touch {mark}; echo {tmp_path}"}
    root = market(tmp_path / "shop", "shop", [{"name": "made", "source": source}])
    forge("plugin", "marketplace", "add", str(root), cwd=tmp_path)
    done = forge("plugin", "install", "made@shop", "--json", cwd=tmp_path)
    assert (done.code, json.loads(done.out)["failureCode"], mark.exists()) == (
        1,
        "command_source_refused",
        False,
    )
    assert source["command"] in done.err


def test_secret_options_appear_nowhere(tmp_path: Path, home: Path) -> None:
    option = {"type": "string", "title": "T", "description": "d", "sensitive": True}
    plugin(tmp_path / "shop/tool", "tool", version="1", userConfig={"token": option})
    root = market(tmp_path / "shop", "shop", [{"name": "tool", "source": "./tool"}])
    forge("plugin", "marketplace", "add", str(root), cwd=tmp_path)
    runs = [
        forge("plugin", *words, cwd=tmp_path)
        for words in (
            ["install", "tool@shop", "--config", "token=hush-hush", "--json"],
            ["configure", "tool@shop", "--json"],
            ["details", "tool"],
        )
    ]
    assert [run.code for run in runs] == [0, 0, 0]
    assert not any("hush" in run.out + run.err for run in runs)
    holders = [p for p in home.rglob("*") if p.is_file() and b"hush" in p.read_bytes()]
    assert [(path.name, os.stat(path).st_mode & 0o777) for path in holders] == [(".credentials.json", 0o600)]
