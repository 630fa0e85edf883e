"""Streams a reply of an API whose events are translated into those of the Messages API first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import msgspec

from forge.core.model import Delta, ModelCard, Request
from forge.core.models.assemble import Assembler
from forge.core.models.endpoint import Endpoint, EventReader
from forge.core.models.history import Memo
from forge.core.models.names import names_back

Json = dict[str, Any]


class Translator(Protocol):
    """Turns events into events; `end` gives what is missing at the end of the stream."""

    def feed(self, raw: Json) -> list[Json]: ...

    def end(self, *, done: bool) -> list[Json]: ...


class Dialect(msgspec.Struct, frozen=True):
    """An API: its path, how a request becomes a body, and who translates the events of one reply."""

    path: str
    build: Callable[[Request, ModelCard, frozenset[str], Memo], Json]
    translator: Callable[[str], Translator]


class TranslatedModel:
    """One model behind an endpoint of such an API."""

    def __init__(
        self, card: ModelCard, endpoint: Endpoint, dialect: Dialect, quirks: tuple[str, ...]
    ) -> None:
        self._card = card
        self._endpoint = endpoint
        self._dialect = dialect
        self._quirks = frozenset(quirks)
        self._memo: Memo = {}

    @property
    def card(self) -> ModelCard:
        return self._card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """The deltas of the reply, last the whole of it."""
        card, translator = self._card, self._dialect.translator(self._card.id)
        body = self._dialect.build(request, card, self._quirks, self._memo)
        async with await self._endpoint.post(self._dialect.path, body) as response:
            reader = EventReader(response)
            names = names_back(tool.name for tool in request.tools)
            assembler = Assembler(card.ref, reader.request_id, names)
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

    async def close(self) -> None:
        await self._endpoint.close()
