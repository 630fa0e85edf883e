"""Nothing of a plugin that is off, untrusted or broken runs, and no text that is written has its secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge

SECRET = "hush-4711-hush"
OPTION = {"type": "string", "title": "Token", "description": "d", "sensitive": True}


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def trap(root: Path, marks: Path, **manifest: Any) -> Path:
    """A plugin that leaves a mark with everything that could be run."""
    marks.mkdir(exist_ok=True)

    def mark(name: str) -> str:
        return f"touch '{marks / name}'"

    def hook(name: str) -> list[Any]:
        return [{"hooks": [{"type": "command", "command": mark(name)}]}]

    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    write(root / ".claude-plugin/plugin.json", {"name": "trap", "userConfig": {"token": OPTION}, **manifest})
    write(root / "hooks/hooks.json", {"hooks": {event: hook(f"hook-{event}") for event in events}})
    write(root / "commands/go.md", f"---\ndescription: d\nallowed-tools: Bash\n---\n!`{mark('typed')}`\n")
    write(root / "skills/s/SKILL.md", f"---\ndescription: d\n---\n```!\n{mark('fence')}\n```\n")
    start = {"command": "sh", "args": ["-c", mark("mcp")]}
    write(root / ".mcp.json", {"m": start})
    language = {"command": "sh", "args": ["-c", mark("lsp")], "extensionToLanguage": {".trap": "trap"}}
    write(root / ".lsp.json", {"l": language})
    write(root / "bin/trap-tool", f"#!/bin/sh\n{mark('bin')}\n")
    (root / "bin/trap-tool").chmod(0o755)
    write(root / "monitors/monitors.json", [{"name": "w", "command": mark("monitor"), "description": "d"}])
    return root


TURNS: list[Any] = [
    [{"tool": "Bash", "input": {"command": "trap-tool; true", "description": "d"}}],
    [{"tool": "Write", "input": {"file_path": "{cwd}/x.trap", "content": "x"}}],
    [{"tool": "Skill", "input": {"skill": "trap:s"}}],
    [{"text": "end"}],
]


def session(prompt: str, cwd: Path, home: Path, *args: str) -> str:
    """One run in which the model tries everything; what it printed."""
    turns = json.loads(json.dumps(TURNS).replace("{cwd}", str(cwd)))
    with serve(turns) as server:
        allowed = ("--allowedTools", "Bash,Write,Skill")
        run = forge("-p", prompt, *STREAM, *allowed, *args, cwd=cwd, env=environment(home, server.url))
    assert run.code == 0, run.err
    return run.out + run.err


def inline(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    write(home / ".claude/settings.json", {"enabledPlugins": {"trap@inline": False}})
    return ["--plugin-dir", str(trap(root / "kit", marks))]


def off_at_first(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    return ["--plugin-dir", str(trap(root / "kit", marks, defaultEnabled=False))]


def broken(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    return ["--plugin-dir", str(trap(root / "kit", marks, author="no object"))]


def broken_guard(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    return ["--plugin-dir", str(trap(root / "kit", marks, hooks={"PreToolUse": [{"hooks": 5}]}))]


def of_an_untrusted_project(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    trap(project / ".claude/skills/trap", marks)
    trap(project / ".claude/plugins/trap", marks)
    trap(project / "plugins/trap", marks)
    return []


def not_installed(root: Path, home: Path, project: Path, marks: Path) -> list[str]:
    trap(root / "shop/trap", marks)
    entry = {"name": "trap", "source": "./trap"}
    catalogue = {"name": "shop", "owner": {"name": "o"}, "plugins": [entry]}
    write(root / "shop/.claude-plugin/marketplace.json", catalogue)
    source = {"source": "directory", "path": str(root / "shop")}
    shared = {"extraKnownMarketplaces": {"shop": {"source": source}}, "enabledPlugins": {"trap@shop": True}}
    write(project / ".claude/settings.json", shared)
    return []


STATES = [inline, off_at_first, broken, broken_guard, of_an_untrusted_project, not_installed]


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("prompt", ["/trap:go", "hi"])
def test_nothing_of_a_plugin_that_does_not_count_runs(
    state: Any, prompt: str, home: Path, tmp_path: Path
) -> None:
    project, marks = tmp_path / "project", tmp_path / "marks"
    project.mkdir()
    args = state(tmp_path, home, project, marks)
    session(prompt, project, home, *args)
    assert [path.name for path in marks.iterdir()] == []


@pytest.mark.parametrize("words", [["plugin", "list"], ["plugin", "validate", "kit"], ["doctor"]])
def test_looking_at_a_plugin_runs_nothing_of_it(words: list[str], home: Path, tmp_path: Path) -> None:
    trap(tmp_path / "kit", tmp_path / "marks")
    trap(home / ".claude/skills/kit", tmp_path / "marks")
    forge(*words, cwd=tmp_path, env=environment(home))
    assert [path.name for path in (tmp_path / "marks").iterdir()] == []


def test_the_trap_works_when_the_plugin_counts(home: Path, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    session("/trap:go", tmp_path, home, "--plugin-dir", str(trap(tmp_path / "kit", marks)))
    assert {path.name for path in marks.iterdir()} >= {"typed", "fence", "bin", "hook-Stop", "lsp"}


@pytest.mark.parametrize("wrong", [{}, {"author": "no object"}, {"mcpServers": {"x": {"args": 5}}}])
def test_a_saved_secret_is_in_nothing_that_forge_writes(
    wrong: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    kit = trap(tmp_path / "kit", tmp_path / "marks", **wrong)
    body = "T ${user_config.token}\n"
    write(kit / "commands/go.md", f"---\ndescription: d ${{user_config.token}}\n---\n{body}")
    write(kit / "agents/a.md", f"---\nname: a\ndescription: d\n---\n{body}")
    write(kit / ".mcp.json", {"m": {"command": "/nowhere/${user_config.token}"}})
    write(home / ".claude/.credentials.json", {"pluginSecrets": {"trap@inline": {"token": SECRET}}})
    args = ("--plugin-dir", str(kit), "--debug")
    told = session("/trap:go", tmp_path, home, *args)
    for words in (
        ["doctor"],
        ["doctor", "--json"],
        ["plugin", "list", "--json"],
        ["agent", "list", "--json"],
    ):
        run = forge(*words, cwd=tmp_path, env=environment(home, CLAUDE_CODE_PLUGIN_DIRS=str(kit)))
        told += run.out + run.err
    assert SECRET not in told
    places = (home, tmp_path / "project", tmp_path / "marks")
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    assert [path.name for path in files if SECRET.encode() in path.read_bytes()] == [".credentials.json"]
