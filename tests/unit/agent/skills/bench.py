"""What tests of skills share: a session with a catalogue of skills that need no files."""

from __future__ import annotations

from typing import Any

import msgspec

from doubles import RecordingHost, ScriptedModel, allow, session
from forge.agent.session import Session
from forge.agent.skills.listed import tell_skills
from forge.agent.team.agent_tools import agent_tools
from forge.agent.team.agents import builtin_contribution
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import Skill
from forge.core.message import Aside, Text, ToolResult
from forge.core.registry import Component
from forge.core.shell.builtin import shell_tools
from forge.core.tool import Tool
from forge.foundation.origin import Origin, Scope


def skill(name: str, body: str = "Do it.\n", **facts: Any) -> Skill:
    facts.setdefault("description", f"does {name}")
    return Skill(name, inline=body, described=True, **facts)


def component(value: Skill, scope: Scope = Scope.PROJECT) -> Component[Skill]:
    return Component(value.name, value, Origin(scope, f"/{value.name}.md"))


def build(model: ScriptedModel, *skills: Skill, host: RecordingHost | None = None, **facts: Any) -> Session:
    """A session with these skills; `tools` are further tools, `changes` other parts."""
    catalog = Catalog()
    catalog.add(builtin_contribution())
    catalog.add(Contribution(skills=[component(each) for each in skills]))
    tools: list[Tool] = [*facts.pop("tools", []), *agent_tools(), *shell_tools()]
    changes = facts.pop("changes", {})
    s = session(model, host or RecordingHost(), tools, rules=facts.pop("rules", allow("Echo")), **facts)
    s.parts = msgspec.structs.replace(s.parts, catalog=catalog, agents=catalog.agents, **changes)
    tell_skills(s)
    return s


def texts(s: Session) -> list[str]:
    """The texts of the user's messages, results included."""
    found: list[str] = []
    for message in s.messages:
        for block in message.blocks if message.role == "user" else []:
            if isinstance(block, Text | Aside):
                found.append(block.text)
            elif isinstance(block, ToolResult):
                found.append(str(block.content))
    return found
