from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import ScriptedModel, call
from forge.agent.compact import compact
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.agent.skills.ecosystem import Ecosystem, listing_limits
from forge.agent.skills.listed import slash_commands, tell_skills
from forge.core.components.catalog import Contribution
from forge.core.components.kinds import Skill
from forge.core.components.listing import Limits
from forge.core.message import Text
from forge.core.model import ModelCard
from forge.core.tools.builtin import builtin_tools
from unit.agent.skills.bench import build, component, skill, texts

HEAD = "The following skills are available for use with the Skill tool:"


def lists(s: Session) -> list[str]:
    found = [t for t in texts(s) if HEAD in t]
    return [t[t.index(HEAD) :].removesuffix("\n</system-reminder>") for t in found]


def say(s: Session, *words: str) -> None:
    for n, each in enumerate(words):
        asyncio.run(run_turn(s, Prompt(each, f"p{n}{each}")))


@pytest.mark.requirement("S1-24")
def test_the_list_is_told_once_and_again_after_a_reload() -> None:
    s = build(ScriptedModel([]), skill("a"))
    say(s, "one", "two")
    assert lists(s) == [f"{HEAD}\n\n- a: does a"]
    s.parts.catalog.add(Contribution(skills=[component(skill("b"))]))
    s.keep(Ecosystem).version += 1
    say(s, "three", "four")
    assert lists(s) == [f"{HEAD}\n\n- a: does a", f"{HEAD}\n\n- a: does a\n- b: does b"]


@pytest.mark.requirement("S0-04")
def test_the_next_request_of_a_running_turn_sees_a_new_skill() -> None:
    async def arrive() -> list[Any]:
        s.parts.catalog.add(Contribution(skills=[component(skill("late"))]))
        s.keep(Ecosystem).version += 1
        return [call("ListAgents")]

    model = ScriptedModel([arrive, [call("Skill", "c2", skill="late")], [Text("end")]])
    s = build(model)
    say(s, "go")
    assert lists(s) == [f"{HEAD}\n\n- late: does late"]
    assert "Launching skill: late" in texts(s)


def test_without_skills_there_is_no_list() -> None:
    s = build(ScriptedModel([]))
    say(s, "one")
    assert lists(s) == []


def test_a_resumed_conversation_hears_only_of_changes() -> None:
    s = build(ScriptedModel([]), skill("a"))
    say(s, "one")
    tell_skills(s)
    say(s, "two")
    assert len(lists(s)) == 1
    s.parts.catalog.add(Contribution(skills=[component(skill("b"))]))
    tell_skills(s)
    say(s, "three")
    assert lists(s)[1:] == [f"{HEAD}\n\n- a: does a\n- b: does b"]


def test_skills_in_use_survive_a_compaction() -> None:
    model = ScriptedModel([[call("Skill", "c1", skill="a")], [Text("end")], [Text("<summary>s</summary>")]])
    s = build(model, skill("a", "Mind the details.\n"))
    say(s, "go")
    asyncio.run(compact(s, "manual"))
    (message,) = [m for m in s.messages if m.role == "user"]
    joined = "\n".join(b.text for b in message.blocks if isinstance(b, Text))
    assert HEAD in joined
    assert "### Skill: a\n\nMind the details." in joined


@pytest.mark.requirement("S1-23")
def test_one_list_holds_everything_that_can_be_typed() -> None:
    command = skill("do")
    s = build(ScriptedModel([]), skill("a", root="/a"), command, skill("hidden", user_invocable=False))
    assert slash_commands(s)[:2] == ["a", "do"]
    assert {"compact", "init", "plugin", "reload-plugins", "skills"} <= set(slash_commands(s))
    assert "hidden" not in slash_commands(s)


def test_a_touched_file_brings_in_the_skills_of_its_directory(tmp_path: Path) -> None:
    inner = tmp_path / "apps/web"
    (inner / ".claude/skills/deploy").mkdir(parents=True)
    (inner / ".claude/skills/deploy/SKILL.md").write_text("---\ndescription: web deploy\n---\nWeb.\n")
    (inner / "page.ts").write_text("x")
    turns: list[Any] = [
        [call("Read", "c1", file_path=str(inner / "page.ts"))],
        [call("Read", "c2", file_path=str(inner / "page.ts"))],
        [Text("end")],
    ]
    s = build(ScriptedModel(turns), skill("deploy", root="/d"), tools=builtin_tools(), cwd=str(tmp_path))
    say(s, "go")
    told = [t for t in texts(s) if t.startswith("New skills discovered")]
    assert told == [
        "New skills discovered in apps/web/.claude/skills, now available via the Skill tool:\n"
        f"- apps/web:deploy\n\n{HEAD}\n\n"
        '- apps/web:deploy: web deploy (scoped to apps/web/ — use this instead of the unscoped "deploy" skill'
        " when the files being changed are under apps/web/)"
    ]


def test_a_skill_for_paths_appears_with_the_first_matching_file(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("x")
    scoped = msgspec.structs.replace(skill("scoped"), paths=["*.ts"])
    turns: list[Any] = [[call("Read", "c1", file_path=str(tmp_path / "a.ts"))], [Text("end")]]
    s = build(ScriptedModel(turns), scoped, tools=builtin_tools(), cwd=str(tmp_path))
    assert "scoped" not in slash_commands(s)
    say(s, "go")
    assert lists(s) == [f"{HEAD}\n\n- scoped: does scoped"]
    assert "scoped" in slash_commands(s)


@pytest.mark.parametrize(
    ("window", "env", "settings", "limits"),
    [
        (200_000, {}, {}, Limits(8000, 1536)),
        (1_000_000, {}, {}, Limits(30_000, 1536)),
        (200_000, {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "50"}, {}, Limits(50, 1536)),
        (200_000, {}, {"skillListingBudgetFraction": 0.02}, Limits(16_000, 1536)),
        (200_000, {}, {"skillListingMaxDescChars": 10}, Limits(8000, 10)),
        (
            200_000,
            {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "x"},
            {"skillListingMaxDescChars": "y"},
            Limits(8000, 1536),
        ),
    ],
)
def test_how_long_the_list_may_be(
    window: int, env: dict[str, str], settings: dict[str, Any], limits: Limits
) -> None:
    card = ModelCard("m", "m", "m", context_window=window)
    assert listing_limits(card, env, lambda key, default: settings.get(key, default)) == limits


def test_sub_agents_hear_of_skills_too() -> None:
    task = {"description": "d", "prompt": "SUB", "run_in_background": False}
    model = ScriptedModel([[call("Agent", "c1", **task)], [Text("r")], [Text("end")]])
    s = build(model, Skill("a", inline="x", description="does a", described=True))
    say(s, "go")
    inner = [b.text for b in model.requests[1].messages[0].blocks if isinstance(b, Text)]
    assert any(HEAD in t for t in inner)
