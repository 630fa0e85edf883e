from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from doubles import ScriptedModel, call
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.agent.skills.preload import notes_place
from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import PluginRoot
from forge.core.message import Text
from forge.core.model import Request
from forge.core.registry import Component
from forge.core.tools.builtin import builtin_tools
from forge.foundation.origin import BUILTIN
from forge.foundation.permissions.situation import Situation
from unit.agent.skills.bench import build, skill

SKILLS = [skill("alpha", "Alpha.\n"), skill("beta", "Beta.\n"), skill("manual", model_invocable=False)]


def sent(kind: AgentType, **facts: Any) -> tuple[Request, Session]:
    """The first request of a sub-agent of this kind."""
    task = {"description": "d", "prompt": "Do", "subagent_type": kind.name, "run_in_background": False}
    model = ScriptedModel([[call("Agent", "c1", **task)], [Text("r")], [Text("end")]])
    s = build(model, *SKILLS, **facts)
    s.parts.agents.add(Component(kind.name, kind, BUILTIN))
    asyncio.run(run_turn(s, Prompt("go", "p1")))
    return model.requests[1], s


def said(request: Request) -> list[str]:
    texts = [b.text for b in request.messages[0].blocks if isinstance(b, Text)]
    return [t for t in texts if not t.startswith("<system-reminder>")]


def marks(name: str) -> str:
    words = f"<command-message>{name}</command-message>\n<command-name>{name}</command-name>"
    return f"{words}\n<skill-format>true</skill-format>"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["Do"]),
        (["alpha"], ["Do\n", marks("alpha"), "Alpha.\n"]),
        (["nobody", "manual"], ["Do"]),
        (["alpha", "beta"], ["Do\n", marks("alpha"), "Alpha.\n\n", marks("beta"), "Beta.\n"]),
    ],
)
def test_the_skills_of_an_agent_follow_its_task(names: list[str], expected: list[str]) -> None:
    request, _ = sent(AgentType("mine", "d", "p", skills=names))
    assert said(request) == expected


def test_variables_in_the_prompt_of_a_plugin_agent_are_replaced() -> None:
    plugin = PluginRoot("p@inline", "p", "/plugins/p", "/data/p", {"key": "v"}, frozenset({"secret"}))
    body = "In ${CLAUDE_PLUGIN_ROOT} with ${user_config.key} and ${user_config.secret}."
    request, _ = sent(AgentType("p:mine", "d", body, plugin=plugin))
    assert request.system[1].startswith(
        "In /plugins/p with v and [sensitive option 'secret' not available in skill content]."
    )


@pytest.mark.parametrize(
    ("memory", "name", "place"),
    [
        ("user", "mine", "/home/user/.claude/agent-memory/mine"),
        ("project", "mine", "/project/.claude/agent-memory/mine"),
        ("local", "p:mine", "/project/.claude/agent-memory-local/p-mine"),
        ("", "mine", ""),
    ],
)
def test_where_an_agent_keeps_its_notes(memory: str, name: str, place: str) -> None:
    situation = Situation(cwd="/project", config_dirs=["/home/user/.claude", "/home/user/.forge"])
    assert notes_place(AgentType(name, "d", "p", memory=memory), situation) == place


def test_an_agent_reads_its_index_and_may_write_its_notes(tmp_path: Path) -> None:
    place = tmp_path / ".claude/agent-memory/mine"
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("- likes tests\n")
    write = [call("Write", "w1", file_path=str(place / "new.md"), content="x")]
    task = {"description": "d", "prompt": "Do", "subagent_type": "mine", "run_in_background": False}
    model = ScriptedModel([[call("Agent", "c1", **task)], [*write], [Text("r")], [Text("end")]])
    s = build(model, tools=builtin_tools(), cwd=str(tmp_path))
    kind = AgentType("mine", "d", "p", memory="project")
    s.parts.agents.add(Component("mine", kind, BUILTIN))
    asyncio.run(run_turn(s, Prompt("go", "p1")))
    assert str(place) in model.requests[1].system[1]
    assert model.requests[1].system[1].endswith("- likes tests")
    assert (place / "new.md").read_text() == "x"
