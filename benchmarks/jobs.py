"""The scripted jobs: what the model asks the shell to do, turn by turn, before it says that all is done."""

from __future__ import annotations

from typing import Any, NamedTuple

DONE = "all done"


class Job(NamedTuple):
    """`turns` is a scenario of the scripted server."""

    what: str
    turns: list[list[dict[str, Any]]]


def _job(what: str, *turns: list[str]) -> Job:
    """Each turn is a list of commands the model runs at once."""
    calls = [[{"tool": "Bash", "input": {"command": command}} for command in turn] for turn in turns]
    return Job(what, [*calls, [{"text": DONE}]])


JOBS = {
    "one": _job("1 turn, no tool"),
    "two": _job("2 turns, one echo", ["echo hello"]),
    "many": _job("22 turns, 21 echos", *([f"echo {n}"] for n in range(21))),
    "parallel": _job("8 × sleep 0.5 at once", ["sleep 0.5"] * 8),
    "large": _job("5 MB of output", ["yes 0123456789abcdef | head -c 5242880"]),
}

# The cost of one more tool turn is the difference between these two jobs.
SLOPE = ("two", "many", 20)
