from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.hooks.engine import Engine
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.team.agent_tools import agent_tools
from forge.agent.team.crew import Seat
from forge.foundation.errors import ForgeError
from forge.hosts.configuration import load_configuration
from forge.hosts.ecosystem import settle
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components
from unit.core.components.trees import agent, skill, write

STOP = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}


def settled(home: Path, project: Path, main_agent: str = "", **options: object) -> tuple[Session, Engine]:
    o = msgspec.convert(options, RunOptions)
    c = load_configuration(o, {"HOME": str(home), "PATH": "/bin"}, str(project))
    components, engine = Components(o, c), Engine()
    s = session(ScriptedModel([]), RecordingHost(), agent_tools(), hooks=engine)
    catalog = components.catalog
    names = frozenset(tool.name for tool in agent_tools())
    s.parts = msgspec.structs.replace(s.parts, catalog=catalog, agents=catalog.agents, allowed=names)
    settle(s, o, c, components, main_agent)
    return s, engine


@pytest.mark.requirement("S1-132")
def test_a_reload_swaps_skills_agents_and_hooks_and_keeps_what_is_enabled(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root / ".claude-plugin/plugin.json", '{"name": "p"}')
    write(root / "hooks/hooks.json", json.dumps({"hooks": STOP}))
    skill(root, "first", "x")
    s, engine = settled(home, tmp_path, plugin_dir=[str(root)])
    eco = s.keep(Ecosystem)
    assert ([p["name"] for p in eco.plugins], len(engine.hooks("Stop")), eco.version) == (["p"], 1, 0)
    skill(root, "second", "x")
    agent(root, "aide", "a")
    write(root / "hooks/hooks.json", json.dumps({"hooks": {"PreCompact": STOP["Stop"]}}))
    assert eco.reload is not None
    assert eco.reload() == (
        "Reloaded: 1 plugin, 2 skills and commands, 5 agents, 1 source of hooks, 0 MCP servers, 0 errors."
    )
    assert [c.name for c in s.parts.catalog.skills] == ["p:first", "p:second"]
    assert "p:aide" in s.parts.agents
    assert (len(engine.hooks("Stop")), len(engine.hooks("PreCompact")), eco.version) == (0, 1, 1)
    write(home / ".claude/settings.json", json.dumps({"enabledPlugins": {"p@inline": False}}))
    eco.reload()
    assert (eco.plugins, len(s.parts.catalog.skills), engine.hooks()) == ([], 0, [])


def test_a_reload_with_broken_settings_changes_nothing(home: Path, tmp_path: Path) -> None:
    skill(tmp_path / ".claude", "mine", "m")
    own = tmp_path / "own.json"
    write(own, "{}")
    s, _ = settled(home, tmp_path, settings=str(own))
    eco = s.keep(Ecosystem)
    assert eco.reload is not None
    own.unlink()
    with pytest.raises(ForgeError, match="Settings file not found"):
        eco.reload()
    assert ([c.name for c in s.parts.catalog.skills], eco.version) == (["mine"], 0)


def test_the_main_agent_limits_the_conversation(home: Path, tmp_path: Path) -> None:
    head = "---\nname: boss\ndescription: d\ntools: Agent(Explore), Read\ndisallowedTools: ListAgents\n"
    write(tmp_path / ".claude/agents/boss.md", f"{head}initialPrompt: Begin.\n---\nBoss.\n")
    s, _ = settled(home, tmp_path, main_agent="boss")
    assert s.keep(Ecosystem).opening == "Begin."
    assert s.keep(Seat).types == frozenset({"Explore"})
    assert s.find_tool("ListAgents") is None


def test_hooks_of_plugins_do_not_run_in_a_bare_session(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root / ".claude-plugin/plugin.json", '{"name": "p"}')
    write(root / "hooks/hooks.json", json.dumps({"hooks": STOP}))
    _, engine = settled(home, tmp_path, plugin_dir=[str(root)], bare=True)
    assert engine.hooks() == []
