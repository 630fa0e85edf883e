from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import ScriptedModel, allow, call
from forge.agent.hooks.engine import Engine
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.components.kinds import Skill
from forge.core.message import Text
from unit.agent.skills.bench import build, skill

HOOKS = {"PreCompact": [{"hooks": [{"type": "command", "command": "true"}]}]}


def played(used: Skill, turns: list[Any]) -> tuple[Engine, list[int]]:
    engine, during = Engine(), list[int]()

    async def look() -> list[Any]:
        during.append(len(engine.hooks("PreCompact")))
        return [Text("end")]

    s = build(ScriptedModel([*turns, look, look]), used, hooks=engine, rules=allow("Skill"))
    engine.session = s
    asyncio.run(run_turn(s, Prompt("go", "p1")))
    return engine, during


def test_hooks_of_a_skill_are_in_force_once_it_is_used() -> None:
    twice = [[call("Skill", "c1", skill="h")], [call("Skill", "c2", skill="h")]]
    engine, during = played(skill("h", hooks=HOOKS), twice)
    assert (during, len(engine.hooks("PreCompact"))) == ([1], 1)


@pytest.mark.requirement("S0-24")
def test_hooks_of_a_forked_skill_end_with_its_sub_agent() -> None:
    engine, during = played(skill("h", hooks=HOOKS, fork=True), [[call("Skill", "c1", skill="h")]])
    assert (during, len(engine.hooks("PreCompact"))) == ([1, 0], 0)
