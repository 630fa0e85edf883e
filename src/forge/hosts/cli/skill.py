"""`forge skill`: the skills and commands of this directory, with their origins, and drafts of new ones."""

from __future__ import annotations

from collections.abc import Mapping

from forge.core.components.writing import create_skill
from forge.hosts.cli import component_command
from forge.hosts.cli.command import Command
from forge.hosts.cli.component_list import skill_rows
from forge.hosts.cli.parse import CommandLine

ACTIONS = component_command.ACTIONS
COMMAND = Command(
    name="skill",
    usage=("skill [list]", "skill info NAME", "skill new NAME [--description TEXT] [--scope SCOPE]"),
    about=(
        "Lists the skills and commands a run in this directory has: where each comes from and what it "
        "hides. `info` shows everything one says about itself, `new` writes a SKILL.md to start from."
    ),
    flags=component_command.FLAGS,
    examples=(
        ("forge skill", "what there is"),
        ("forge skill info deploy --json", "one of them, for scripts"),
        ("forge skill new deploy", "a draft in .forge/skills"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Runs the command."""
    kind = component_command.Kind(COMMAND, lambda c: c.skills, skill_rows, create_skill, "skills")
    return component_command.run_component(kind, line, env)


def names(env: Mapping[str, str], cwd: str) -> list[str]:
    """All names, for the completion of command lines."""
    return [row.name for row in skill_rows(component_command.catalog_of(env, cwd))]
