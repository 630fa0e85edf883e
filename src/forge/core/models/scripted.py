"""The built-in model that needs no server: it plays a scenario file, which makes demos and tests repeatable.

A scenario is a JSON file, either an object or just its list of turns; `steps` of objects with a `turn` each
(whose other keys are for whoever presents the scenario) are accepted as well:

    {"title": "Tour",
     "turns": [
       [{"thinking": "…"}, {"text": "I look around in {cwd}."}, {"tool": "Bash", "input": {"command": "ls"}}],
       [{"text": "Done.", "delay_ms": 20}]
     ]}

A turn is a list of blocks: `text`, `thinking`, or `tool` with `input`; `delay_ms` waits between its pieces.
The turn played is the number of assistant messages in the request, so a resumed conversation goes on where it
was; after the last turn the model says that the scenario is over. `{cwd}` stands for the working directory.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import msgspec

from forge.core.model import Delta, ModelCard, Request
from forge.core.models.assemble import Assembler
from forge.foundation.encode import NOT_JSON, dumps
from forge.foundation.errors import ConfigError

Turn = list[dict[str, Any]]

_BUNDLED = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "scenarios")
_OVER: Turn = [{"text": "The scenario is over; there is nothing more to say."}]
_CHARACTERS_PER_TOKEN = 4


class Step(msgspec.Struct, frozen=True):
    """A turn with remarks for a presenter."""

    turn: Turn


class Scenario(msgspec.Struct, frozen=True):
    """Title and turns of a file."""

    turns: list[Turn] = []
    title: str = ""
    steps: list[Step] = []


def load_scenario(name: str) -> Scenario:
    """Reads a bundled scenario by name or any file by path; raises `ConfigError` with the position."""
    path = os.path.join(_BUNDLED, name, f"{name}.json")
    if name not in bundled():
        path = os.path.expanduser(name)
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        known = ", ".join(f"scripted/{each}" for each in bundled()) or "none"
        raise ConfigError(
            f"the scenario cannot be read: {error.strerror}", path=path, hint=f"Bundled scenarios: {known}."
        ) from None
    return parse_scenario(raw, path)


def bundled() -> list[str]:
    """The names of the scenarios that come with the program."""
    if not os.path.isdir(_BUNDLED):
        return []
    names = os.listdir(_BUNDLED)
    return sorted(name for name in names if os.path.exists(os.path.join(_BUNDLED, name, f"{name}.json")))


def parse_scenario(raw: bytes, path: str) -> Scenario:
    """Reads the text of a scenario file."""
    try:
        value = msgspec.json.decode(raw)
        scenario = msgspec.convert({"turns": value} if isinstance(value, list) else value, Scenario)
    except msgspec.ValidationError as error:
        raise ConfigError(f"not a scenario: {error}", path=path, hint=_SHAPE) from None
    except NOT_JSON as error:
        line, column = _position(raw, str(error))
        raise ConfigError(f"not valid JSON: {error}", path=path, line=line, column=column) from None
    turns = scenario.turns or [step.turn for step in scenario.steps]
    for number, turn in enumerate(turns):
        for index, block in enumerate(turn):
            if not _valid(block):
                place = f"turn {number + 1}, block {index + 1}"
                raise ConfigError(f"{place} is not a block the scripted model knows", path=path, hint=_SHAPE)
    if not turns:
        raise ConfigError("not a scenario: it has no turns", path=path, hint=_SHAPE)
    return Scenario(turns, scenario.title)


_SHAPE = (
    'A block is {"text": …}, {"thinking": …} or {"tool": name, "input": {…}}, with an optional "delay_ms".'
)


def _valid(block: dict[str, Any]) -> bool:
    if "tool" in block:
        return isinstance(block["tool"], str) and isinstance(block.get("input", {}), dict)
    return isinstance(block.get("text", block.get("thinking")), str)


def _position(raw: bytes, message: str) -> tuple[int, int]:
    """Line and column of the byte a decoder complained about."""
    digits = message.rpartition("byte ")[2].rstrip(")")
    at = int(digits) if digits.isdecimal() else len(raw)
    before = raw[:at]
    return before.count(b"\n") + 1, at - before.rfind(b"\n")


class ScriptedModel:
    """Plays the scenario named by its card."""

    def __init__(
        self,
        card: ModelCard,
        scenario: Scenario | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._card = card
        self._scenario = scenario or load_scenario(card.id)
        self._sleep = sleep

    @property
    def card(self) -> ModelCard:
        return self._card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        number = _turn_number(request)
        assembler = Assembler(self._card.ref, f"scripted-{number}")
        asked = len(dumps([request.system, request.messages, request.tools]))
        for event, pause in events(self._turn(number), number, asked, self._card.id):
            if pause:
                await self._sleep(pause)
            for delta in assembler.feed(event):
                yield delta
        yield assembler.finish()

    async def close(self) -> None:
        return None

    def _turn(self, number: int) -> Turn:
        turns = self._scenario.turns
        return turns[number] if number < len(turns) else _OVER


def _turn_number(request: Request) -> int:
    return sum(message.role == "assistant" for message in request.messages)


def events(turn: Turn, number: int, asked: int, model: str) -> Iterator[tuple[dict[str, Any], float]]:
    """The Messages API's events of a turn, each with the pause before it; `asked` is how much was sent."""
    usage = {"input_tokens": asked // _CHARACTERS_PER_TOKEN, "output_tokens": 0}
    start = {"id": f"msg_scripted_{number}", "type": "message", "role": "assistant", "model": model}
    yield {"type": "message_start", "message": {**start, "content": [], "usage": usage}}, 0.0
    written = 0
    for index, block in enumerate(turn):
        opening, deltas = _pieces(block, f"toolu_scripted_{number}_{index}")
        pause = block.get("delay_ms", 0) / 1000
        yield {"type": "content_block_start", "index": index, "content_block": opening}, 0.0
        for delta in deltas:
            written += sum(len(text) for text in delta.values())
            yield {"type": "content_block_delta", "index": index, "delta": delta}, pause
        yield {"type": "content_block_stop", "index": index}, 0.0
    reason = "tool_use" if any("tool" in block for block in turn) else "end_turn"
    yield (
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": written // _CHARACTERS_PER_TOKEN},
        },
        0.0,
    )
    yield {"type": "message_stop"}, 0.0


def _pieces(block: dict[str, Any], call_id: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The opening of a block and its deltas, a few words each."""
    if "tool" in block:
        raw = msgspec.json.encode(_filled(block.get("input", {}))).decode()
        opening = {"type": "tool_use", "id": call_id, "name": block["tool"], "input": {}}
        return opening, [{"type": "input_json_delta", "partial_json": raw}]
    if "thinking" in block:
        deltas = [{"type": "thinking_delta", "thinking": words} for words in _words(block["thinking"])]
        signature = {"type": "signature_delta", "signature": "scripted"}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": w} for w in _words(block["text"])]


def _words(text: str) -> list[str]:
    filled: str = _filled(text)
    words = filled.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]


def _filled(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("{cwd}", os.getcwd())
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each) for each in value]
    return value
