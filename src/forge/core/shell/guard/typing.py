"""What keys for a program would have a shell or interpreter run."""

from __future__ import annotations

from typing import Any

from forge.core.shell.guard.guard import Guard
from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.programs import NoProgram
from forge.core.shell.session.prompts import UnclearLine
from forge.core.shell.session.typed import as_command, lines_of


def commands_of(given: dict[str, Any], guard: Guard) -> list[str]:
    """The lines that a call of forgecmd_session would submit at a prompt."""
    if given.get("action") != "send":
        return []
    return typed_lines(str(given.get("session", "")), str(given.get("keys", "")), guard)


def typed_lines(session: str, keys: str, guard: Guard) -> list[str]:
    """The lines that these keys would have a program run as it stands now."""
    try:
        program = guard.workplace().programs.find(session)
    except NoProgram:
        return []
    parsed = parse_keys(keys, application=program.screen.application_keys)
    try:
        lines = lines_of(parsed, program.screen.view(), program.typing)
        return [as_command(line, program.typing) for line in lines]
    except UnclearLine:
        # The tool itself says what to do instead.
        return []
