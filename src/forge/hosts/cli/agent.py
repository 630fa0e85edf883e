"""`forge agent`: the kinds of sub-agents of this directory, with their origins, and drafts of new ones."""

from __future__ import annotations

from collections.abc import Mapping

from forge.core.components.writing import create_agent
from forge.hosts.cli import component_command
from forge.hosts.cli.command import Command
from forge.hosts.cli.component_list import agent_rows
from forge.hosts.cli.parse import CommandLine

ACTIONS = component_command.ACTIONS
COMMAND = Command(
    name="agent",
    usage=("agent [list]", "agent info NAME", "agent new NAME [--description TEXT] [--scope SCOPE]"),
    about=(
        "Lists the kinds of sub-agents a run in this directory has: where each comes from and what it "
        "hides. `info` shows everything one says about itself, `new` writes a file to start from."
    ),
    flags=component_command.FLAGS,
    examples=(
        ("forge agent", "what there is"),
        ("forge agent info Explore", "one of them"),
        ("forge agent new reviewer --scope user", "a draft among your own"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Runs the command."""
    kind = component_command.Kind(COMMAND, lambda c: c.agents, agent_rows, create_agent, "agents")
    return component_command.run_component(kind, line, env)


def names(env: Mapping[str, str], cwd: str) -> list[str]:
    """All names, for the completion of command lines."""
    return [row.name for row in agent_rows(component_command.catalog_of(env, cwd))]
