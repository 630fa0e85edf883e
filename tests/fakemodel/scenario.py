"""What the server says: turns of blocks, the format of the scripted model, with failures on the way.

    [[{"text": "hi"}, {"tool": "Bash", "input": {"command": "ls"}}],
     {"errors": [{"status": 529}], "blocks": [{"text": "finally"}], "stop": "max_tokens", "usage": {…}}]

The turn served is the number of assistant messages in the request. `errors` of a turn are used up first, one
per request:

    {"status": 429, "headers": {…}, "error": {"type": …, "message": …}}   or "body": "<html>…"
    {"event": {…}, "after": 3}     an error event after that many events
    {"cut": 3}                     connection closed after that many events; -1: before the answer
    {"hang": 3}                    nothing more after that many events, until the client goes away
    {"garbage": "data: {nope\\n\\n"}   these bytes instead of events

Block keys: text, thinking (+ signature), redacted, tool + input (or `arguments`, the raw text), id, pieces
(into how many deltas to cut), block + deltas (as they are). `raw` of a turn gives the events themselves,
`extra` adds events before the end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
OVER: Json = {"blocks": [{"text": "done"}]}


class Script:
    """The turns of a scenario and which errors are still to come."""

    def __init__(self, turns: list[Any]) -> None:
        self._turns = [turn if isinstance(turn, dict) else {"blocks": turn} for turn in turns]
        self._errors = [list(turn.get("errors", ())) for turn in self._turns]

    def take(self, number: int) -> tuple[Json, Json | None]:
        """The turn for that many assistant messages, and the failure to show instead, if any."""
        if number >= len(self._turns):
            return OVER, None
        errors = self._errors[number]
        return self._turns[number], errors.pop(0) if errors else None


def load(path: str) -> list[Any]:
    """The turns of a file: a list, or an object with `turns` or `steps`."""
    value = json.loads(Path(path).read_text("utf-8"))
    if isinstance(value, list):
        return value
    return list(value.get("turns") or [step["turn"] for step in value.get("steps", ())])


def pieces(text: str, count: int) -> list[str]:
    """The text in that many parts of about the same length."""
    if count <= 1 or len(text) < count:
        return [text]
    size = -(-len(text) // count)
    return [text[at : at + size] for at in range(0, len(text), size)]


def words(text: str) -> list[str]:
    parts = text.split(" ")
    return [part + " " for part in parts[:-1]] + parts[-1:]


def text_pieces(block: Json, key: str) -> list[str]:
    return pieces(block[key], block["pieces"]) if "pieces" in block else words(block[key])


def arguments(block: Json) -> str:
    """The arguments of a call as the model would write them."""
    return str(block["arguments"]) if "arguments" in block else json.dumps(block.get("input", {}))


def call_id(block: Json, number: int, index: int, prefix: str) -> str:
    return str(block.get("id") or f"{prefix}_{number}_{index}")
