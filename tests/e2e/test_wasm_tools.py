from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, Run, environment, forge
from house.source import ROOT
from wasm_modules import build, write

EXAMPLE = ROOT / "docs/examples/word-count"
COUNT = "wasm__word-count__count"
OK = [{"text": "ok"}]
ASKED = [{"tool": COUNT, "input": {"text": "one two\nthree"}}]
DENIED = f"Claude requested permissions to use {COUNT}, but you haven't granted it yet."


def example(directory: Path) -> Path:
    """The example plugin as its documentation says it is built."""
    shutil.copytree(EXAMPLE, directory)
    write(directory / "dev.forge/count.wasm", (directory / "dev.forge/count.wat").read_text())
    return directory


def result(run: Run) -> str:
    """The text of the last tool result."""
    found = [r["message"]["content"][0]["content"] for r in run.of("user") if "tool_use_result" in r]
    return str(found[-1])


def play(home: Path, cwd: Path, *options: str, turn: Any = ASKED, **env: str) -> Run:
    with serve([turn, OK]) as server:
        run = forge("-p", "go", *STREAM, *options, cwd=cwd, env=environment(home, server.url, **env))
    assert run.code == 0, run.err
    return run


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("rule", [COUNT, "wasm__word-count", "wasm__word-count__*"])
def test_the_example_counts_words_once_it_is_allowed(home: Path, tmp_path: Path, rule: str) -> None:
    plugin = str(example(tmp_path / "plugin"))
    run = play(home, tmp_path, "--plugin-dir", plugin, "--allowedTools", rule)
    assert COUNT in run.of("system", "init")[0]["tools"]
    assert result(run) == "3"


def test_a_tool_of_a_plugin_is_asked_for_like_one_of_a_server(home: Path, tmp_path: Path) -> None:
    plugin = str(example(tmp_path / "plugin"))
    assert result(play(home, tmp_path, "--plugin-dir", plugin)) == DENIED
    run = play(home, tmp_path, "--plugin-dir", plugin, "--disallowedTools", "wasm__word-count")
    assert COUNT not in run.of("system", "init")[0]["tools"]


def test_wrong_input_never_reaches_the_module(home: Path, tmp_path: Path) -> None:
    plugin = str(example(tmp_path / "plugin"))
    turn = [{"tool": COUNT, "input": {"words": 3}}]
    run = play(home, tmp_path, "--plugin-dir", plugin, "--allowedTools", COUNT, turn=turn)
    assert "InputValidationError" in result(run)


def switched(home: Path, tmp_path: Path, place: str) -> list[str]:
    """Puts the example where it is found but must not run, and returns the options of the run."""
    if place == "disabled":
        example(home / ".forge/plugins/word-count")
        settings = {"enabledPlugins": {"word-count@local": False}}
        (home / ".forge/settings.json").write_text(json.dumps(settings))
    elif place == "untrusted":
        example(tmp_path / ".forge/plugins/word-count")
    else:
        return ["--plugin-dir", str(example(tmp_path / "plugin")), "--safe-mode"]
    return []


@pytest.mark.parametrize("place", ["disabled", "untrusted", "safe"])
def test_a_plugin_that_is_off_or_not_trusted_never_runs(home: Path, tmp_path: Path, place: str) -> None:
    options = switched(home, tmp_path, place)
    run = play(home, tmp_path, *options, "--permission-mode", "bypassPermissions")
    assert COUNT not in run.of("system", "init")[0]["tools"]
    assert result(run) == f"<tool_use_error>Error: No such tool available: {COUNT}</tool_use_error>"


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(
    ("place", "seen"),
    [("", "(no output)"), ("project", "(no output)"), ("user", "MARK=secret\0"), ("flag", "MARK=secret\0")],
)
def test_only_the_users_own_settings_grant_anything(
    home: Path, tmp_path: Path, place: str, seen: str
) -> None:
    plugin = example(tmp_path / "plugin")
    shutil.copy(build(tmp_path, "variables"), plugin / "dev.forge/count.wasm")
    grants = json.dumps({"wasm": {"grants": {"word-count/count": {"env": ["MARK"]}}}})
    folder = {"project": tmp_path / ".claude", "user": home / ".claude"}.get(place, home / "nowhere")
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(grants)
    flag = ["--settings", grants] if place == "flag" else []
    run = play(home, tmp_path, "--plugin-dir", str(plugin), "--allowedTools", COUNT, *flag, MARK="secret")
    assert result(run) == seen
