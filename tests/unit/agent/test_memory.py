from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.compact import compact
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.loop import run_turn
from forge.agent.memory import Memory, start_memory
from forge.agent.resume import load
from forge.agent.session import Prompt, Reminder, Session
from forge.agent.texts.load import text
from forge.core.memory.sources import MemoryRequest
from forge.core.message import Aside, Block, Text, ToolResult
from forge.core.tools.builtin import builtin_tools
from forge.foundation.history.transcript import read_records
from unit.agent.casting import Cast, build, play, task

LABEL = "project instructions, checked into the codebase"
SUMMARY: list[Block] = [Text("<summary>what happened</summary>")]


class Listening:
    """Hooks that only note what is told to them."""

    def __init__(self) -> None:
        self.loaded: list[dict[str, Any]] = []

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        if event == "InstructionsLoaded":
            self.loaded.append(payload)
        return NOTHING


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "sub/deep").mkdir(parents=True)
    (root / "CLAUDE.md").write_text("Root. @more.md\n")
    (root / "more.md").write_text("More.\n")
    (root / "sub/CLAUDE.md").write_text("Sub.\n")
    (root / "sub/x.txt").write_text("x\n")
    (root / "sub/deep/y.txt").write_text("y\n")
    return root


def begin(root: Path, *turns: list[Block], **facts: Any) -> tuple[Session, ScriptedModel]:
    tools = [t for t in builtin_tools() if t.name in ("Read", "Write", "Edit")]
    model = ScriptedModel(list(turns))
    s = session(model, RecordingHost(), tools, cwd=str(root), **facts)
    return s, model


def wanted(root: Path) -> MemoryRequest:
    return MemoryRequest(cwd=str(root), home=str(root.parent))


def read(root: Path, name: str, identity: str = "call-1") -> Block:
    return call("Read", identity, file_path=str(root / name))


def started(root: Path, words: str = "Root. @more.md") -> str:
    return (
        f"<system-reminder>\n{text('memory')}\n\nContents of {root}/CLAUDE.md ({LABEL}):\n\n{words}\n\n"
        f"Contents of {root}/more.md ({LABEL}):\n\nMore.\n</system-reminder>"
    )


def nested(path: Path, content: str) -> str:
    return f"<system-reminder>\nContents of {path}:\n\n{content}\n</system-reminder>"


def said(s: Session) -> list[str]:
    return [b.text for m in s.messages if m.role == "user" for b in m.blocks if isinstance(b, Text)]


@pytest.mark.requirement("S0-10")
def test_start_files_stand_before_git_status_and_date(project: Path) -> None:
    s, _ = begin(project)
    s.reminders = [Reminder("environment", "E"), Reminder("session_context", "G"), Reminder("date", "D")]

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))

    asyncio.run(go())
    assert said(s) == ["E", started(project), "G", "D", "hi"]


@pytest.mark.requirement("S1-74", "S1-77")
def test_hooks_hear_of_every_file_once_and_why_it_was_loaded(project: Path) -> None:
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/r.md").write_text("---\npaths: sub/**\n---\nRule.\n")
    hooks = Listening()
    s, _ = begin(project, [read(project, "sub/x.txt")], [read(project, "sub/x.txt", "call-2")], hooks=hooks)

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))

    asyncio.run(go())
    root, target = str(project), f"{project}/sub/x.txt"
    kind = {"memory_type": "Project"}
    assert hooks.loaded == [
        {"file_path": f"{root}/CLAUDE.md", **kind, "load_reason": "session_start"},
        {
            "file_path": f"{root}/more.md",
            **kind,
            "load_reason": "include",
            "parent_file_path": f"{root}/CLAUDE.md",
        },
        {
            "file_path": f"{root}/sub/CLAUDE.md",
            **kind,
            "load_reason": "nested_traversal",
            "trigger_file_path": target,
        },
        {
            "file_path": f"{root}/.claude/rules/r.md",
            **kind,
            "load_reason": "path_glob_match",
            "globs": ["sub"],
            "trigger_file_path": target,
        },
    ]


@pytest.mark.requirement("S1-80")
def test_nested_files_follow_the_result_that_touched_them_once(project: Path) -> None:
    (project / "sub/deep/CLAUDE.md").write_text("Deep.")
    s, model = begin(project, [read(project, "sub/deep/y.txt")], [read(project, "sub/x.txt", "call-2")])

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))

    asyncio.run(go())
    first, second = model.requests[1].messages[-1], model.requests[2].messages[-1]
    assert [b if isinstance(b, Text) else type(b) for b in first.blocks] == [
        ToolResult,
        Text(nested(project / "sub/CLAUDE.md", "Sub.\n") + "\n"),
        Text(nested(project / "sub/deep/CLAUDE.md", "Deep.")),
    ]
    assert [type(b) for b in second.blocks] == [ToolResult]


@pytest.mark.parametrize(
    "used",
    [
        call("Write", file_path="sub/new.txt", content="n"),
        call("Read", file_path="sub/missing.txt"),
        call("Edit", file_path="sub/x.txt", old_string="nothing", new_string="else"),
    ],
)
def test_every_call_that_names_a_file_brings_its_memory(used: Any, project: Path) -> None:
    used = call(used.name, **{**used.input, "file_path": str(project / used.input["file_path"])})
    s, _ = begin(project, [used])

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))

    asyncio.run(go())
    assert said(s)[-1] == nested(project / "sub/CLAUDE.md", "Sub.\n")


def test_refused_calls_and_memory_files_themselves_bring_nothing(project: Path) -> None:
    s, _ = begin(project, [read(project, "sub/CLAUDE.md")], [read(project, "sub/x.txt", "call-2")])
    refused, _ = begin(project, [call("Write", file_path=str(project / "sub/n"), content="")], rules=[])

    async def go() -> None:
        for each in (s, refused):
            await start_memory(each, wanted(project))
            await run_turn(each, Prompt("hi", "p1"))

    asyncio.run(go())
    assert [said(s), said(refused)] == [[started(project), "hi"]] * 2


def test_a_mentioned_file_brings_its_memory_in_front_of_the_start_files(project: Path) -> None:
    s, _ = begin(project)

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("look at @sub/x.txt", "p1"))

    asyncio.run(go())
    told = said(s)
    assert [told[0][:29], told[1][:35], told[2:]] == [
        "<system-reminder>\nCalled the ",
        "<system-reminder>\nResult of calling",
        [nested(project / "sub/CLAUDE.md", "Sub.\n"), started(project), "look at @sub/x.txt"],
    ]


def test_nested_agents_md_has_its_own_shape_and_needs_a_reading_call(project: Path) -> None:
    (project / "CLAUDE.md").rename(project / "AGENTS.md")
    (project / "sub/CLAUDE.md").rename(project / "sub/AGENTS.md")
    (project / "sub/deep/AGENTS.md").write_text("Deep.")
    write = call("Write", file_path=str(project / "sub/new.txt"), content="n")
    s, _ = begin(project, [write], [read(project, "sub/deep/y.txt", "call-2")])

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))

    asyncio.run(go())
    sub = project / "sub"
    told = [b for m in s.messages for b in m.blocks if isinstance(b, Aside)]
    assert told == [
        Aside(
            f"tool.call hook additional context: Contents of {sub}/AGENTS.md:\n\nSub.\n\n"
            f"Contents of {sub}/deep/AGENTS.md:\n\nDeep.",
            "call-2",
        )
    ]


def test_a_resumed_conversation_hears_only_of_changes(project: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "session.jsonl")
    first, _ = begin(project, [read(project, "sub/x.txt")], transcript=path)
    hooks = Listening()

    async def run(s: Session) -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))
        s.recorder.close()

    def resumed() -> Session:
        past = load(path)
        assert past is not None
        s, _ = begin(project, [read(project, "sub/x.txt", "call-2")], hooks=hooks)
        s.messages = past.messages
        return s

    asyncio.run(run(first))
    kinds = [r["attachment"] for r in read_records(path) if r["type"] == "attachment"]
    assert [(k["type"], k.get("path")) for k in kinds] == [
        ("instructions", None),
        ("nested_memory", f"{project}/sub/CLAUDE.md"),
    ]
    again = resumed()
    asyncio.run(run(again))
    assert [t for t in said(again) if "Contents of" in t] == [
        started(project),
        nested(project / "sub/CLAUDE.md", "Sub.\n"),
    ]
    assert {h["load_reason"] for h in hooks.loaded} == {"session_start", "include"}
    (project / "CLAUDE.md").write_text("Root. @more.md\nAnd a line.\n")
    changed = resumed()
    asyncio.run(run(changed))
    assert [t for t in said(changed) if text("memory_changed") in t] == [
        f"<system-reminder>\n{text('memory_changed')}\n\nContents of {project}/CLAUDE.md ({LABEL}):\n\n"
        "Root. @more.md\nAnd a line.\n</system-reminder>"
    ]


@pytest.mark.requirement("S1-83")
def test_after_a_compaction_start_files_are_read_again_and_nested_ones_may_return(project: Path) -> None:
    hooks = Listening()
    s, model = begin(project, [read(project, "sub/x.txt")], [Text("ok")], SUMMARY, hooks=hooks)
    model.turns += [[read(project, "sub/x.txt", "call-2")]]

    async def go() -> None:
        await start_memory(s, wanted(project))
        await run_turn(s, Prompt("hi", "p1"))
        hooks.loaded.clear()
        (project / "CLAUDE.md").write_text("New. @more.md")
        await compact(s, "auto")
        await run_turn(s, Prompt("on", "p2"))

    asyncio.run(go())
    told = [t for t in said(s) if t.startswith("<system-reminder>")]
    assert told == [started(project, "New. @more.md"), nested(project / "sub/CLAUDE.md", "Sub.\n")]
    assert [(h["file_path"].rpartition("/")[2], h["load_reason"]) for h in hooks.loaded] == [
        ("CLAUDE.md", "compact"),
        ("more.md", "compact"),
        ("CLAUDE.md", "nested_traversal"),
    ]


@pytest.mark.parametrize(("kind", "told"), [("general-purpose", 1), ("Explore", 0), ("Plan", 0)])
def test_sub_agents_get_the_start_files_unless_they_do_without(kind: str, told: int, project: Path) -> None:
    model = Cast(MAIN=[[task("SUB go", subagent_type=kind)], [Text("end")]], SUB=[[Text("sub end")]])
    s = build(model, cwd=str(project))
    asyncio.run(start_memory(s, wanted(project)))
    play(s)
    (request,) = model.requests("SUB")
    texts = [b.text for b in request.messages[0].blocks if isinstance(b, Text)]
    assert texts.count(started(project)) == told


def test_memory_lists_files_and_init_asks_the_model(project: Path) -> None:
    s, model = begin(project)

    async def go() -> list[str]:
        await start_memory(s, wanted(project))
        listed = await run_turn(s, Prompt("/memory", "p1"))
        await run_turn(s, Prompt("/init keep it short", "p2"))
        return [listed.result]

    (listed,) = asyncio.run(go())
    assert listed == (
        f"{project}/CLAUDE.md ({LABEL}; 14 bytes)\n"
        f"{project}/more.md ({LABEL}; 5 bytes, imported by {project}/CLAUDE.md)"
    )
    typed, asked = [b.text for b in model.requests[0].messages[0].blocks if isinstance(b, Text)][-2:]
    assert typed.startswith("<command-message>init</command-message>\n<command-name>/init</command-name>")
    assert f"in the file `{project}/CLAUDE.md`" in asked and asked.endswith("The user adds: keep it short")


@pytest.mark.parametrize(
    ("present", "written"), [([], "AGENTS.md"), (["AGENTS.md"], "AGENTS.md"), (["../CLAUDE.md"], "CLAUDE.md")]
)
def test_init_writes_the_file_that_will_be_read(present: list[str], written: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for name in present:
        (root / name).write_text("x")
    s, _ = begin(root)

    async def go() -> None:
        await start_memory(s, wanted(root))
        await run_turn(s, Prompt("/init", "p1"))

    asyncio.run(go())
    assert s.keep(Memory).request is not None
    assert f"in the file `{root}/{written}`" in said(s)[-1]
