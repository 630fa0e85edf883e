"""What keys for a program would have a shell or interpreter run."""

from __future__ import annotations

from typing import Any

from forge.core.shell.guard.guard import Guard
from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.programs import NoProgram
from forge.core.shell.session.prompts import Line, Prompt, UnclearLine, submitted_lines

_CODE = {"python": "-c", "node": "-e", "ruby": "-e", "perl": "-e", "ipython": "-c", "php": "-r"}


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
    view = program.screen.view()
    if view.alternate:
        return []
    parsed = parse_keys(keys, application=program.screen.application_keys)
    try:
        lines = submitted_lines(parsed, view.cursor_line())
        return [_as_command(line, program.command) for line in lines if line.text.strip()]
    except UnclearLine:
        # The tool itself says what to do instead.
        return []


def _as_command(line: Line, program: str) -> str:
    """A line for an interpreter as a command with the same effect."""
    if line.kind is Prompt.SHELL:
        return line.text
    quoted = "'" + line.text.replace("'", "'\\''") + "'"
    name = program.split()[0].rpartition("/")[2].rstrip("0123456789.") if program.split() else ""
    option = _CODE.get(name)
    return f"{name} {option} {quoted}" if option else f"printf '%s' {quoted} | {program}"
