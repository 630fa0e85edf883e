"""The scripted jobs: what the model asks the shell to do, turn by turn, before it says that all is done."""

from __future__ import annotations

from typing import Any, NamedTuple

Call = dict[str, Any]


class Job(NamedTuple):
    """Each turn is a list of shell calls the model makes at once; a last turn of text is added."""

    what: str
    turns: list[list[Call]]


def _shell(command: str) -> Call:
    return {"command": command, "description": "benchmark"}


JOBS = {
    "one": Job("1 turn, no tool", []),
    "two": Job("2 turns, one echo", [[_shell("echo hello")]]),
    "many": Job("22 turns, 21 echos", [[_shell(f"echo {n}")] for n in range(21)]),
    "parallel": Job("8 × sleep 0.5 at once", [[_shell("sleep 0.5") for _ in range(8)]]),
    "large": Job("5 MB of output", [[_shell("yes 0123456789abcdef | head -c 5242880")]]),
}

# The cost of one more tool turn is the difference between these two jobs.
SLOPE = ("two", "many", 20)
