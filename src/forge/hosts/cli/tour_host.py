"""The host of the tour: shows what happens as it happens, and remembers it for the checks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from forge.agent.event import ApiFailed, Denied, Event, Requesting, Streaming, ToolFinished, TurnEnded, Warned
from forge.agent.host import Answer, Question, Refuse
from forge.core.message import Text, ToolUse, Usage
from forge.core.model import BlockDelta, BlockFinished, Delta, Model, ModelCard, Request
from forge.hosts.cli.screen import Screen, Typist, clean, wrap
from forge.hosts.cli.tour import Tour

_TOOL_LINES = 8

Sleep = Callable[[float], Awaitable[None]]


class TourHost:
    """Prints events; `screen` None prints nothing. Nobody is asked: what no rule allows is refused."""

    def __init__(self, tour: Tour, repository: str, screen: Screen | None) -> None:
        self._tour = tour
        self._repository = repository
        self._screen = screen
        self._typist = Typist(screen, f"  {screen.signs['model']} ", "    ") if screen else None
        self.steps = 0
        self.finished: list[ToolFinished] = []
        self.denied: list[Denied] = []
        self.troubles: list[str] = []
        self.usage = Usage()

    def emit(self, event: Event) -> None:
        if isinstance(event, Requesting):
            self.steps += 1
            self._narrate()
        elif isinstance(event, Denied):
            self.denied.append(event)
        elif isinstance(event, ToolFinished):
            self.finished.append(event)
            self._show_call(event)
        elif isinstance(event, Warned | ApiFailed):
            self.troubles.append(event.text)
        elif isinstance(event, Streaming):
            self._type(event.delta)
        elif isinstance(event, TurnEnded):
            self.usage = event.usage

    async def ask(self, question: Question) -> Answer:
        return Refuse(question.decision.message, asked=False)

    def refused(self, event: ToolFinished) -> bool:
        """Whether a finished call was one that was not allowed."""
        return any(denied.call.id == event.call.id for denied in self.denied)

    def _narrate(self) -> None:
        screen, number, steps = self._screen, self.steps, self._tour.steps
        if screen is None or number > len(steps):
            return
        screen.line()
        if steps[number - 1].say:
            mark = f"{number}/{len(steps)} "
            screen.say(steps[number - 1].say, "cyan", first=mark, then=" " * len(mark))

    def _type(self, delta: Delta) -> None:
        if self._typist is None:
            return
        if isinstance(delta, BlockDelta) and delta.kind == "text":
            self._typist.feed(delta.text)
        elif isinstance(delta, BlockFinished) and isinstance(delta.block, Text):
            self._typist.end()

    def _show_call(self, event: ToolFinished) -> None:
        screen = self._screen
        if screen is None:
            return
        refused = self.refused(event)
        failed = bool(event.result.is_error)
        sign = screen.signs["no" if failed else "call"]
        style = "alarm" if refused else "red" if failed else "green"
        name = event.call.name
        what = screen.clip(subject(event.call, self._repository), len(name) + 5)
        screen.line(f"  {screen.paint(sign, style)} {screen.paint(name, 'bold')} {what}")
        lines = result_lines(event)
        if refused:
            lines = _wrapped(
                [("REFUSED by the permission rules. It did not run.", "alarm"), *lines], screen.width
            )
        bar = screen.paint(screen.signs["result"], "dim")
        for line, line_style in lines:
            screen.line(f"    {bar} {screen.paint(screen.clip(line, 6), line_style)}".rstrip())


class PacedModel:
    """A model that leaves time to read: a pause before each reply and between its words."""

    def __init__(
        self, model: Model, pauses: list[float], per_word: float, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._model, self._pauses, self._per_word, self._sleep = model, pauses, per_word, sleep
        self._replies = 0

    @property
    def card(self) -> ModelCard:
        return self._model.card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if self._replies < len(self._pauses):
            await self._sleep(self._pauses[self._replies])
        self._replies += 1
        async for delta in self._model.stream(request):
            if isinstance(delta, BlockDelta) and delta.kind == "text":
                await self._sleep(self._per_word)
            yield delta

    async def close(self) -> None:
        await self._model.close()


def reading_times(tour: Tour) -> list[float]:
    """How long to wait before each reply, by the length of what is said before it."""
    return [0.4 + min(len(step.say), 200) * 0.012 for step in tour.steps]


def subject(call: ToolUse, directory: str) -> str:
    """What a call is about, in a few words."""
    given = call.input
    for key in ("command", "pattern", "file_path", "path", "url", "description"):
        if isinstance(given.get(key), str):
            value: str = given[key]
            return os.path.relpath(value, directory) if key in ("file_path", "path") else value
    return ""


def result_lines(event: ToolFinished) -> list[tuple[str, str]]:
    """The lines of a result worth showing, each with its style."""
    patch = event.data.get("structuredPatch") if isinstance(event.data, dict) else None
    if patch:
        return [(line, _diff_style(line)) for hunk in patch for line in hunk["lines"]]
    if event.call.name == "Read" and not event.result.is_error:
        return [(_read_size(event.data), "dim")]
    text = event.result.content if isinstance(event.result.content, str) else ""
    lines = [line for line in clean(text).split("\n") if line.strip()]
    style = "red" if event.result.is_error else "dim"
    hidden = len(lines) - _TOOL_LINES
    if hidden <= 0:
        return [(line, style) for line in lines]
    # What matters of a command is at its end; of a search, at its start.
    if event.call.name == "Bash":
        return [(f"({hidden} lines above)", "dim"), *((line, style) for line in lines[hidden:])]
    return [*((line, style) for line in lines[:_TOOL_LINES]), (f"({hidden} more lines)", "dim")]


def _read_size(data: Any) -> str:
    file = data.get("file") if isinstance(data, dict) else None
    return f"{file['numLines']} lines" if isinstance(file, dict) and "numLines" in file else "read"


def _wrapped(lines: list[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    return [(part, style) for line, style in lines for part in wrap(line, width - 6)]


def _diff_style(line: Any) -> str:
    return {"+": "green", "-": "red"}.get(str(line)[:1], "dim")
