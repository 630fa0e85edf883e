from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.agent.team.agents import listing as agent_listing
from forge.core.components.agent_file import read_agent
from forge.core.components.agent_type import AgentType
from forge.core.components.catalog import AGENT_ORDER, Catalog, Contribution
from forge.core.components.kinds import PluginRoot
from forge.core.components.listing import Limits, View, listing
from forge.core.components.skill_file import read_skill
from forge.core.registry import Component, Registry
from forge.foundation.origin import Origin, Scope

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FILES = CORPUS / "plugins-dev.tar.gz"
RECORDED = CORPUS / "plugins-dev.frontmatter.json"
PLUGIN = PluginRoot("z@inline", "z", "/z", "/d")

pytestmark = pytest.mark.skipif(not FILES.is_file(), reason="the corpus is not beside this checkout")


def recorded(kind: str) -> list[tuple[str, dict[str, Any]]]:
    rows = json.loads(RECORDED.read_text())["files"].items()
    return [(path, row) for path, row in rows if row["kind"] == kind]


def listed(path: Path, root: str) -> str | None:
    """What the list for the model says after the name of a skill or command."""
    origin = Origin(Scope.PROJECT, str(path))
    skill, _ = read_skill(str(path), "@", root, origin)
    assert skill is not None
    catalog = Catalog()
    catalog.add(Contribution(skills=[Component("@", skill, origin)]))
    text = listing(catalog, View(), Limits(10_000_000))
    return text.split("\n\n- @", 1)[1] if text else None


def without_name(text: str | None) -> str | None:
    """The recording had many skills at once, and a name shown for one is not shown for the next."""
    return text.split(")", 1)[1] if text and text.startswith(" (") else text


@pytest.mark.requirement("S0-01")
@pytest.mark.parametrize("kind", ["skill", "command"])
def test_skills_and_commands_are_listed_as_recorded(kind: str, corpus: Path) -> None:
    differing = []
    for path, row in recorded(kind):
        file = corpus / path
        found = listed(file, str(file.parent) if kind == "skill" else "")
        if row["listed"] not in (found, without_name(found)):
            differing.append((path, row["listed"], found))
    assert differing == []


def test_agents_are_listed_as_recorded(corpus: Path) -> None:
    differing = []
    for path, row in recorded("agent"):
        file = str(corpus / path)
        origin = Origin(Scope.PLUGIN, file)
        kind, _ = read_agent(file, "z:", origin, PLUGIN)
        assert kind is not None
        registry: Registry[AgentType] = Registry(AGENT_ORDER)
        registry.add(Component(kind.name, kind, origin))
        found = agent_listing(registry).split("\n- z", 1)[1]
        if not found.startswith(f"{row['listed']}\n\n"):
            differing.append((path, row["listed"], found))
    assert differing == []
