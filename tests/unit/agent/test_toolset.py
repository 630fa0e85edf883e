from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.loop import run_turn
from forge.agent.reply import request
from forge.agent.session import Prompt, Session
from forge.agent.team.agent_tools import agent_tools
from forge.agent.team.crew import Seat
from forge.agent.toolset import (
    Circumstances,
    absence,
    defers,
    discovered,
    equip,
    fitted,
    sent,
    unavailable,
    unloaded_note,
)
from forge.core.message import Message, Text, ToolResult
from forge.core.model import ModelCard
from forge.core.shell.builtin import shell_tools
from forge.core.tools.builtin import builtin_tools

CLAUDE = ModelCard("claude-sonnet-4-5", "anthropic", "anthropic")
ON = {"ENABLE_TOOL_SEARCH": "true"}
BUILTIN = {t.name: t for t in builtin_tools()}


@pytest.mark.parametrize(
    ("card", "env", "expected"),
    [
        (CLAUDE, ON, True),
        (CLAUDE, {"ENABLE_TOOL_SEARCH": "auto:10"}, True),
        (CLAUDE, {"ENABLE_TOOL_SEARCH": "false"}, False),
        (CLAUDE, {}, True),
        (ModelCard("gpt-5", "openai", "openai_chat"), ON, False),
        (ModelCard("claude-3-5-haiku", "anthropic", "anthropic"), ON, False),
    ],
)
def test_schemas_are_held_back_only_where_the_model_can_load_them(
    card: ModelCard, env: dict[str, str], expected: bool
) -> None:
    assert defers(card, env) is expected


@pytest.mark.parametrize(
    ("settings", "env", "answers", "absent"),
    [
        (
            {},
            {"ENABLE_TOOL_SEARCH": "0"},
            False,
            "AskUserQuestion EnterPlanMode ExitPlanMode TodoWrite ToolSearch WebSearch",
        ),
        ({}, ON, True, "TodoWrite WebSearch"),
        (
            {"webSearch": {"endpoint": "https://s.example"}},
            {**ON, "CLAUDE_CODE_ENABLE_TASKS": "0"},
            True,
            "TaskCreate TaskGet TaskList TaskUpdate",
        ),
        (
            {"todoFeatureEnabled": False},
            ON,
            True,
            "TaskCreate TaskGet TaskList TaskUpdate TodoWrite WebSearch",
        ),
    ],
)
def test_tools_that_make_no_sense_are_absent_with_a_reason(
    settings: dict[str, Any], env: dict[str, str], answers: bool, absent: str
) -> None:
    where = Circumstances(CLAUDE, env, settings.get, answers)
    assert " ".join(name for name, each in BUILTIN.items() if absence(each, where)) == absent


@pytest.mark.parametrize(
    ("env", "there"), [({}, True), ({"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}, False)]
)
def test_without_background_tasks_no_tool_offers_to_start_one(env: dict[str, str], there: bool) -> None:
    settings: dict[str, Any] = {}
    where = Circumstances(CLAUDE, env, settings.get, answers=True)
    tools = {t.name: fitted(t, where) for t in [*shell_tools(), *agent_tools()] if not absence(t, where)}
    offering = [name for name, t in tools.items() if "run_in_background" in t.schema["properties"]]
    assert ("Monitor" in tools, offering) == (there, ["Bash", "Agent"] if there else [])


def test_a_request_carries_what_is_not_deferred_and_what_was_loaded() -> None:
    tools = [tool("A", echo, deferred=True), tool("B", echo), tool("C", echo, deferred=True)]
    search = tool("ToolSearch", echo)
    assert [t.name for t in sent([*tools, search], {"C"})] == ["B", "C", "ToolSearch"]
    assert sent(tools, set()) == tools


def test_loaded_tools_are_found_again_in_the_history() -> None:
    references = [{"type": "tool_reference", "tool_name": name} for name in ("A", "B")]
    history = [
        Message("user", [Text("x"), ToolResult("1", "plain")]),
        Message("user", [ToolResult("2", [references[0]]), ToolResult("3", [Text("t"), references[1]])]),
    ]
    assert discovered(history) == {"A", "B"}


def searching(*turns: Any, env: dict[str, str] | None = None) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel(list(turns))
    model.card = CLAUDE
    tools = [tool("Late", echo, deferred=True), tool("Now", echo), BUILTIN["ToolSearch"]]
    s = session(model, RecordingHost(), tools)
    s.parts = msgspec.structs.replace(s.parts, env=ON if env is None else env)
    return s, model


def test_the_model_hears_the_names_and_gets_the_schema_after_a_search() -> None:
    s, model = searching(
        [call("ToolSearch", query="select:Late", max_results=5)], [call("Late", "call-2", text="hi")]
    )
    equip(s)
    assert [(r.kind, r.text.splitlines()[-2:]) for r in s.reminders] == [
        ("deferred_tools", ["Late", "</system-reminder>"])
    ]
    asyncio.run(run_turn(s, Prompt("go", "p1")))
    assert [[t.name for t in r.tools] for r in model.requests] == [
        ["Now", "ToolSearch"],
        ["Late", "Now", "ToolSearch"],
        ["Late", "Now", "ToolSearch"],
    ]


def test_a_resumed_session_has_the_tools_it_had_loaded() -> None:
    s, _ = searching()
    loaded: list[Any] = [{"type": "tool_reference", "tool_name": "Late"}]
    s.messages = [Message("user", [ToolResult("1", loaded)])]
    equip(s)
    assert [t.name for t in request(s).tools] == ["Late", "Now", "ToolSearch"]
    assert s.reminders == []


def test_a_tool_that_was_not_loaded_runs_all_the_same() -> None:
    s, model = searching([call("Late", text="hi")])
    asyncio.run(run_turn(s, Prompt("go", "p1")))
    assert model.requests[1].messages[-1].blocks == [ToolResult("call-1", "echo hi")]


def test_the_schema_of_a_tool_that_was_not_loaded_goes_with_its_error() -> None:
    s, _ = searching()
    late, now = s.find_tool("Late"), s.find_tool("Now")
    assert late is not None and now is not None
    assert unloaded_note(s, now) == ""
    assert unloaded_note(s, late).endswith('Its input schema is: {"type":"object"}')


def test_without_tool_search_everything_is_sent_at_once() -> None:
    s, _ = searching(env={"ENABLE_TOOL_SEARCH": "0"})
    equip(s)
    assert ([t.name for t in request(s).tools], s.reminders) == (["Late", "Now"], [])


@pytest.mark.parametrize(
    ("name", "depth", "why"),
    [
        ("echo", 0, ". Tool names are case-sensitive: call Echo instead."),
        ("Grep", 0, ". Grep is disabled for this session, in subagents as well as here."),
        (
            "AskUserQuestion",
            0,
            ". AskUserQuestion is disabled for this session, in subagents as well as here.",
        ),
        (
            "AskUserQuestion",
            1,
            ". AskUserQuestion is not available inside subagents. Complete the task with the tools provided "
            "and return findings to the orchestrator.",
        ),
        (
            "Brief",
            1,
            ". Brief is not enabled in this session — write your message as normal assistant text instead.",
        ),
        ("Nope", 1, ""),
        ("mcp__x__y", 0, ""),
    ],
)
def test_a_tool_that_is_not_there_says_what_to_do_instead(name: str, depth: int, why: str) -> None:
    s = session(ScriptedModel([]), RecordingHost(), [tool("Echo", echo)])
    s.keep(Seat).depth = depth
    assert unavailable(s, name) == f"Error: No such tool available: {name}{why}"
