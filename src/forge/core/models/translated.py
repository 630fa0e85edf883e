"""Streams a reply of an API whose events are translated into those of the Messages API first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from forge.core.model import Delta, ModelCard, Request
from forge.core.models.assemble import Assembler
from forge.core.models.endpoint import Endpoint, EventReader
from forge.core.models.names import names_back

Json = dict[str, Any]


class Translator(Protocol):
    """Turns events into events; `end` gives what is missing at the end of the stream."""

    def feed(self, raw: Json) -> list[Json]: ...

    def end(self, *, done: bool) -> list[Json]: ...


async def translated(
    endpoint: Endpoint, post: tuple[str, Json], translator: Translator, card: ModelCard, request: Request
) -> AsyncIterator[Delta]:
    """Posts a body to a path (`post`) and yields the deltas of the reply, last the whole of it."""
    async with await endpoint.post(*post) as response:
        reader = EventReader(response)
        assembler = Assembler(card.ref, reader.request_id, names_back(tool.name for tool in request.tools))
        while not assembler.stopped and (found := await reader.next()) is not None:
            for raw in found:
                for event in translator.feed(raw):
                    for delta in assembler.feed(event):
                        yield delta
        for event in translator.end(done=reader.done):
            for delta in assembler.feed(event):
                yield delta
        await response.settle()
    yield assembler.finish()
