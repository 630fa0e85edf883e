"""What a host may offer to remember when a shell command needs approval."""

from __future__ import annotations

import os.path
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from forge.foundation.permissions.syntax import Simple

_SUBCOMMAND = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"


def add_rules(contents: Sequence[str]) -> dict[str, object]:
    """The suggestion to allow Bash commands for this project from now on."""
    rules = [{"toolName": "Bash", "ruleContent": content} for content in dict.fromkeys(contents)]
    return {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}


def rule_for(simple: Simple, text: str) -> str:
    """The rule that covers this command and, if it has a subcommand, others with the same one."""
    values = [word.raw for word in simple.words]
    if not simple.assignments and len(values) > 1 and re.fullmatch(_SUBCOMMAND, values[1]):
        return f"{values[0]} {values[1]} *"
    return text


def add_directory(path: str) -> dict[str, object]:
    """The suggestion to work in the directory of a path during this session."""
    return {"type": "addDirectories", "directories": [os.path.dirname(path) or "/"], "destination": "session"}


def accept_edits() -> dict[str, object]:
    """The suggestion to accept edits from now on."""
    return {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def allow_reading(path: str) -> dict[str, object]:
    """The suggestion to allow reading below the directory of a path."""
    directory = path if os.path.isdir(path) else os.path.dirname(path)
    rule = {"toolName": "Read", "ruleContent": "/" + directory.rstrip("/") + "/**"}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}


def always(tool: str) -> dict[str, object]:
    """The suggestion to allow a tool for this project from now on."""
    return {
        "type": "addRules",
        "rules": [{"toolName": tool}],
        "behavior": "allow",
        "destination": "localSettings",
    }
