"""What a call of the forgecmd tool would have a shell or interpreter run."""

from __future__ import annotations

from typing import Any

from forge.core.shell.guard.guard import Guard
from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.programs import NoProgram
from forge.core.shell.session.prompts import UnclearLine, submitted_lines

RUN, START, SEND = "run", "start", "send"


def commands_of(given: dict[str, Any], guard: Guard) -> list[str]:
    """The commands of a call: its own, or the lines that its keys would submit at a prompt."""
    action = given.get("action") or RUN
    command = given.get("command")
    if action in (RUN, START):
        return [command] if isinstance(command, str) and command else []
    if action != SEND:
        return []
    return typed_lines(str(given.get("session", "")), str(given.get("keys", "")), guard)


def typed_lines(session: str, keys: str, guard: Guard) -> list[str]:
    """The lines that these keys would have a program run as it stands now."""
    try:
        program = guard.workplace().programs.find(session)
    except NoProgram:
        return []
    view = program.screen.view()
    if view.alternate:
        return []
    parsed = parse_keys(keys, application=program.screen.application_keys)
    try:
        return [line.text for line in submitted_lines(parsed, view.cursor_line()) if line.text.strip()]
    except UnclearLine:
        # The tool itself says what to do instead.
        return []
