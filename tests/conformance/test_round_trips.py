"""Files that Forge has changed are read by the reference, and differ in nothing but what was to change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.test_reference import reference
from fakemodel import serve
from forge.core.components.writing import write_component
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put
from forge_run import MODEL, STREAM, environment, forge

SKILL = (
    "---\r\nname:  odd \r\n# a comment\r\ndescription: Use when: x # y\r\ncustom: [a,  b]\r\n"
    "---\r\n\r\nBody  \r\n"
)
SETTINGS = '{\n\t"model": "sonnet",   "unknown" : [1,\n2 ],\n\t"env": {"A":"1"}\n}'
HOOKS = '{"description":"d",\n  "hooks": {"Stop": [ {"hooks":[{"type":"command","command":"true"}]} ]}}\n'
SERVERS = '{ "mcpServers" : {\n"m": {"command":"true", "args":[ ]}}}'
MANIFEST = (
    '{\n  "name": "kit",\n  "x-own": {"a" : 1},\n'
    '  "version": "1.0.0", "description": "d",\n "author": {"name":"A"}}'
)


def value(*path: str) -> Callable[[Path], object]:
    return lambda file: patch_json(str(file), [put(path, "new")])


def described(file: Path) -> object:
    return write_component(str(file), {"description": "new"})


# File, its text, what Forge does to it, the same done by hand.
CHANGES: list[tuple[str, str, Callable[[Path], object], tuple[str, str]]] = [
    ("skills/odd/SKILL.md", SKILL, described, ("Use when: x # y", "new")),
    (".claude-plugin/plugin.json", MANIFEST, value("description"), ('"d"', '"new"')),
    ("hooks/hooks.json", HOOKS, value("description"), ('"d"', '"new"')),
    (".mcp.json", SERVERS, value("mcpServers", "m", "command"), ('"true"', '"new"')),
]


@pytest.mark.requirement("S0-05", "S0-06", "S0-07", "S0-08", "S0-09")
def test_files_of_a_plugin_stay_valid_and_otherwise_as_they_were(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "kit"
    for name, text, _, _ in CHANGES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    for _ in range(2):
        for name, _, change, _ in CHANGES:
            change(root / name)
    for name, text, _, (old, new) in CHANGES:
        assert (root / name).read_bytes().decode() == text.replace(old, new, 1), name
    env = environment(home)
    verdict = json.loads(reference("plugin", "validate", str(root), "--json", cwd=tmp_path, env=env))
    assert (verdict["success"], _findings(verdict)) == (True, [])


@pytest.mark.requirement("S0-05")
def test_settings_that_forge_has_changed_hold_in_the_reference(tmp_path: Path, home: Path) -> None:
    file = home / ".claude/settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(SETTINGS)
    env = environment(home)
    forge("plugin", "disable", "x@skills-dir", cwd=tmp_path, env=env)
    changed = file.read_text()
    assert changed.startswith(SETTINGS.removesuffix("\n}"))
    assert json.loads(changed) == {**json.loads(SETTINGS), "enabledPlugins": {"x@skills-dir": False}}
    forge("plugin", "enable", "x@skills-dir", cwd=tmp_path, env=env)
    assert json.loads(file.read_text())["enabledPlugins"] == {}
    with serve([[{"text": "ok"}]]) as server:
        reference("-p", "hi", *STREAM, cwd=tmp_path, env=environment(home, server.url))
        assert "sonnet" in server.requests[-1].body["model"]


@pytest.mark.requirement("S0-10", "S0-11")
def test_what_forge_drafts_is_there_in_the_reference(tmp_path: Path, home: Path) -> None:
    (home / ".claude").mkdir(parents=True)
    memory = "Own words.\r\n\r\n- keep  this\t\n"
    (tmp_path / "CLAUDE.md").write_bytes(memory.encode())
    env = environment(home)
    forge("skill", "new", "deploy", "--description", "puts it: there", cwd=tmp_path, env=env)
    forge("agent", "new", "helper", "--description", "helps", cwd=tmp_path, env=env)
    made = [*tmp_path.glob(".*/skills/deploy/SKILL.md"), *tmp_path.glob(".*/agents/helper.md")]
    for draft in made:
        shared = tmp_path / ".claude" / draft.relative_to(tmp_path / draft.relative_to(tmp_path).parts[0])
        shared.parent.mkdir(parents=True, exist_ok=True)
        shared.write_bytes(draft.read_bytes())
    verdict = json.loads(
        reference("plugin", "validate", str(tmp_path / ".claude"), "--json", cwd=tmp_path, env=env)
    )
    assert (len(made), verdict["success"], _findings(verdict)) == (2, True, [])
    with serve([[{"text": "ok"}], [{"text": "ok"}]]) as server:
        args = ("-p", "hi", *STREAM, "--model", MODEL)
        forge(*args, cwd=tmp_path, env=environment(home, server.url))
        reference(*args, cwd=tmp_path, env=environment(home, server.url))
        seen = [_told(request.body) for request in server.requests]
    assert seen == [(True, True, True)] * 2
    assert (tmp_path / "CLAUDE.md").read_bytes().decode() == memory


def _findings(verdict: dict[str, Any]) -> list[Any]:
    return [part for part in verdict["contents"] if part["errors"] or part["warnings"]]


def _told(body: dict[str, Any]) -> tuple[bool, bool, bool]:
    text = json.dumps(body["messages"], ensure_ascii=False)
    return "- deploy: puts it: there" in text, "- helper: helps" in text, "- keep  this" in text
