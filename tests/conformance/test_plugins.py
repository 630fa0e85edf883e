"""Plugins installed with one program are there in the other; one package comes from the public registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.test_reference import reference
from forge_run import environment, forge
from unit.core.installing.workshop import market, plugin, repository


def shop(root: Path) -> Path:
    repo = plugin(root / "repo", "cloned")
    repository(repo)
    option = {"type": "string", "title": "T", "description": "d", "sensitive": True}
    plugin(root / "shop/tool", "tool", version="1.0.0", userConfig={"token": option}, dependencies=["low"])
    plugin(root / "shop/low", "low", version="2.0.0")
    entries: list[Any] = [
        {"name": "tool", "source": "./tool"},
        {"name": "low", "source": "./low"},
        {"name": "cloned", "source": {"source": "url", "url": f"file://{repo}"}},
    ]
    return market(root / "shop", "shop", entries)


STEPS = [
    ["install", "tool@shop", "--config", "token=x"],
    ["install", "cloned@shop", "--scope", "project"],
    ["disable", "cloned@shop"],
]
VIEWS = [["list", "--json"], ["marketplace", "list", "--json"], ["configure", "tool@shop", "--json"]]


@pytest.mark.requirement("S0-54")
@pytest.mark.parametrize("writer", ["forge", "reference"])
def test_both_programs_see_what_one_of_them_installed(tmp_path: Path, writer: str) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    env, root = environment(home), shop(tmp_path)

    def by_forge(*words: str) -> str:
        return forge("plugin", *words, cwd=project, env=env).out

    def by_reference(*words: str) -> str:
        return reference("plugin", *words, cwd=project, env=env)

    write = by_forge if writer == "forge" else by_reference
    for step in (["marketplace", "add", str(root)], *STEPS):
        assert "✔" in write(*step)
    for view in VIEWS:
        assert json.loads(by_forge(*view)) == json.loads(by_reference(*view))


def test_new_plugin_is_accepted_by_the_reference(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home)
    parts = ["skills", "agents", "commands", "hooks", "mcp", "lsp", "output-style"]
    forge("plugin", "init", "mine", "--author", "Ann", "--with", *parts, cwd=tmp_path, env=env)
    report = json.loads(
        reference(
            "plugin",
            "validate",
            str(home / ".claude/skills/mine"),
            "--json",
            "--strict",
            cwd=tmp_path,
            env=env,
        )
    )
    assert report["success"] is True


@pytest.mark.requirement("S0-55")
def test_package_of_the_public_registry_is_installed_in_its_exact_version(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home)
    source = {"source": "npm", "package": "is-number", "version": "~7.0.0"}
    root = market(tmp_path / "shop", "shop", [{"name": "pack", "source": source}])
    forge("plugin", "marketplace", "add", str(root), cwd=tmp_path, env=env)
    answer = json.loads(forge("plugin", "install", "pack@shop", "--json", cwd=tmp_path, env=env).out)
    if answer.get("failureCode") == "error_network":
        pytest.skip("the public registry cannot be reached")
    assert answer["outcome"] == "ok"
    assert (home / ".claude/plugins/cache/shop/pack/7.0.0/package.json").is_file()
