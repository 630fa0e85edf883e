from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge

LABELS = {
    "User": "user's private global instructions for all projects",
    "Project": "project instructions, checked into the codebase",
    "AutoMem": "user's auto-memory, persists across conversations",
}


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "CLAUDE.md").write_text("<!-- private -->\nUse tabs. @docs/more.md @../outside.md\n")
    (root / "docs/more.md").write_text("More.\n")
    (tmp_path / "outside.md").write_text("Outside.\n")
    (home / ".claude/rules").mkdir(parents=True)
    (home / ".claude/CLAUDE.md").write_text("Be brief.\n")
    return root


def notes(home: Path, project: Path) -> Path:
    slug = "".join(c if c.isalnum() else "-" for c in os.path.realpath(project))
    return home / ".claude/projects" / slug / "memory"


def reminder(request: dict[str, Any]) -> str:
    """The blocks of the start files in a request."""
    blocks = [b["text"] for b in request["messages"][0]["content"] if "Contents of" in b["text"]]
    return str(blocks[0].split("\n\n", 1)[1]) if blocks else ""


def block(path: Path, kind: str, content: str) -> str:
    return f"Contents of {path} ({LABELS[kind]}):\n\n{content}"


@pytest.mark.requirement("S0-10")
def test_instructions_and_notes_reach_the_model(home: Path, project: Path) -> None:
    index = notes(home, project) / "MEMORY.md"
    index.parent.mkdir(parents=True)
    index.write_text("- [Tests](tests.md) — how to run them\n")
    with serve([[{"text": "ok"}]]) as server:
        run = forge("-p", "hi", *STREAM, cwd=project, env=environment(home, server.url))
        request = server.requests[0].body
    assert reminder(request) == "\n\n".join(
        [
            block(home / ".claude/CLAUDE.md", "User", "Be brief."),
            block(project / "CLAUDE.md", "Project", "Use tabs. @docs/more.md @../outside.md"),
            block(project / "docs/more.md", "Project", "More."),
            block(index, "AutoMem", "- [Tests](tests.md) — how to run them") + "\n</system-reminder>",
        ]
    )
    assert str(index.parent) in request["system"][-1]["text"]
    assert run.of("system", "init")[0]["memory_paths"] == {"auto": f"{index.parent}/"}


@pytest.mark.parametrize(
    ("args", "env", "kept"),
    [
        (["--bare"], {}, []),
        ([], {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}, []),
        (["--setting-sources", "user"], {}, ["User"]),
        (["--system-prompt", "X"], {}, ["User", "Project"]),
        (["--settings", '{"claudeMdExcludes": ["**/.claude/CLAUDE.md"]}'], {}, ["Project"]),
    ],
)
def test_switches_leave_out_instructions(
    args: list[str], env: dict[str, str], kept: list[str], home: Path, project: Path
) -> None:
    with serve([[{"text": "ok"}]]) as server:
        run = forge("-p", "hi", *args, cwd=project, env=environment(home, server.url, **env))
        request = server.requests[0].body
    assert run.code == 0, run.err
    assert [kind for kind in ("User", "Project") if LABELS[kind] in reminder(request)] == kept


@pytest.mark.parametrize("off", [{"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, {}])
def test_notes_can_be_switched_off_or_written_without_asking(
    off: dict[str, str], home: Path, project: Path
) -> None:
    path = notes(home, project) / "fact.md"
    turns = [[{"tool": "Write", "input": {"file_path": str(path), "content": "fact"}}], [{"text": "ok"}]]
    with serve(turns) as server:
        run = forge("-p", "hi", *STREAM, cwd=project, env=environment(home, server.url, **off))
        system = server.requests[0].body["system"][-1]["text"]
    init = run.of("system", "init")[0]
    known = (str(path.parent) in system, "memory_paths" in init, path.exists())
    assert known == ((False,) * 3 if off else (True,) * 3)
    assert len(run.of("result")[0]["permission_denials"]) == bool(off)


def test_a_project_cannot_choose_where_notes_are_written(home: Path, project: Path, tmp_path: Path) -> None:
    (project / ".claude").mkdir()
    chosen = {"autoMemoryDirectory": str(tmp_path / "chosen")}
    (project / ".claude/settings.json").write_text(json.dumps(chosen))
    with serve([[{"text": "ok"}]]) as server:
        run = forge("-p", "hi", *STREAM, cwd=project, env=environment(home, server.url))
    assert run.of("system", "init")[0]["memory_paths"] == {"auto": f"{notes(home, project)}/"}
    assert not (tmp_path / "chosen").exists()


@pytest.mark.requirement("S1-80")
def test_a_command_that_shows_a_file_brings_its_memory(home: Path, project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub/CLAUDE.md").write_text("Sub.")
    (project / "sub/x.txt").write_text("x")
    show = {"tool": "Bash", "input": {"command": "cat sub/x.txt", "description": "show"}}
    with serve([[show], [{"text": "ok"}]]) as server:
        forge("-p", "hi", "--allowedTools", "Bash", cwd=project, env=environment(home, server.url))
        answered = server.requests[1].body["messages"][-1]["content"]
    assert [b.get("text") for b in answered] == [
        None,
        f"<system-reminder>\nContents of {project}/sub/CLAUDE.md:\n\nSub.\n</system-reminder>",
    ]


def test_the_memory_command_lists_files_and_allows_imports(home: Path, project: Path) -> None:
    env = environment(home)

    def listing(*args: str) -> dict[str, Any]:
        run = forge("memory", "--json", *args, cwd=project, env=env)
        assert run.code == 0, run.err
        value: dict[str, Any] = json.loads(run.out)
        return value

    outside = project.parent / "outside.md"
    first = listing()
    user = {"path": str(home / ".claude/CLAUDE.md"), "type": "User", "label": LABELS["User"], "bytes": 9}
    assert first["files"][0] == user
    assert [f["path"] for f in first["files"][1:]] == [
        str(project / "CLAUDE.md"),
        str(project / "docs/more.md"),
    ]
    assert [s["path"] for s in first["skipped"]] == [str(outside)]
    allowed = listing("--allow-imports")
    assert allowed["files"][-1]["path"] == str(outside)
    assert (allowed["skipped"], allowed["externalImports"]) == ([], True)
    assert listing("--forbid-imports")["externalImports"] is False
    shown = forge("memory", cwd=project, env={**env, "COLUMNS": "300"}).out
    assert f"{outside} is not used: {project}/CLAUDE.md imports it from outside the project" in shown


@pytest.mark.requirement("S0-10")
def test_init_keeps_the_text_of_the_user(home: Path, project: Path) -> None:
    path = project / "CLAUDE.md"
    before = path.read_text()
    turns = [
        [{"tool": "Read", "input": {"file_path": str(path)}}],
        [
            {
                "tool": "Edit",
                "input": {
                    "file_path": str(path),
                    "old_string": "@../outside.md",
                    "new_string": "@../outside.md\n\nTests: make test",
                },
            }
        ],
        [{"text": "added"}],
    ]
    with serve(turns) as server:
        run = forge("-p", "/init", "--allowedTools", "Edit", cwd=project, env=environment(home, server.url))
        asked = server.requests[0].body["messages"][0]["content"][-1]["text"]
    assert (run.code, run.out) == (0, "added\n")
    assert f"`{path}`" in asked and "word for word" in asked
    assert path.read_text() == before.rstrip("\n") + "\n\nTests: make test\n"
