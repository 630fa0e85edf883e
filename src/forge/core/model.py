"""What the agent asks of a model and what comes back, whatever the provider.

The internal stream speaks the language of the Messages API: every delta carries the event in that shape
(`raw`), so that hosts can forward it unchanged; adapters of other protocols build the same events.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import msgspec

from forge.core.message import Block, Message, ToolResult, ToolUse, Usage


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model sees it. `deferred`: it was loaded during the conversation."""

    name: str
    description: str
    input_schema: dict[str, Any]
    deferred: bool = False


class WebSearch(msgspec.Struct, frozen=True):
    """Lets the model's own server search the web; domains are allowed or blocked, not both."""

    allowed_domains: list[str] = []
    blocked_domains: list[str] = []
    max_uses: int = 8


class Options(msgspec.Struct, frozen=True):
    """Wishes for one request. `thinking` is adaptive, enabled, disabled or "" (the model's default)."""

    max_tokens: int | None = None
    thinking: str = ""
    thinking_budget: int | None = None
    thinking_display: str = ""
    effort: str = ""
    cache_ttl: str = ""
    tool_choice: str = ""
    session_id: str = ""
    betas: tuple[str, ...] = ()
    task_budget: int | None = None


class Permission(msgspec.Struct, frozen=True):
    """The answer to a model that wants to run a call itself: the input it may use, or why not."""

    allowed: bool
    input: dict[str, Any]
    message: str = ""


class Workplace(msgspec.Struct, frozen=True):
    """Where a model that runs tools itself works, and whom it asks before each call."""

    cwd: str
    folders: list[str]
    permit: Callable[[ToolUse], Awaitable[Permission]]


class Request(msgspec.Struct, frozen=True):
    """One model request. `system` blocks are stable text; everything volatile is in the messages.

    `search` takes the place of `tools`: the server itself searches, and only that. `place` is for models that
    run tools themselves; without one they run none.
    """

    model: str
    system: list[str]
    messages: list[Message]
    tools: list[ToolSpec]
    options: Options = Options()
    search: WebSearch | None = None
    place: Workplace | None = None


class Started(msgspec.Struct, frozen=True):
    """The reply has begun."""

    raw: dict[str, Any]
    id: str
    model: str
    usage: Usage
    request_id: str = ""


class BlockStarted(msgspec.Struct, frozen=True):
    raw: dict[str, Any]
    index: int


class BlockDelta(msgspec.Struct, frozen=True):
    """`kind` is text, thinking, input, signature or other; `text` the new piece."""

    raw: dict[str, Any]
    index: int
    kind: str
    text: str


class BlockFinished(msgspec.Struct, frozen=True):
    raw: dict[str, Any]
    index: int
    block: Block


class Ending(msgspec.Struct, frozen=True):
    """message_delta (`final` false) or message_stop (`final` true), for hosts that forward the raw stream."""

    raw: dict[str, Any]
    final: bool


class Switch(msgspec.Struct, frozen=True):
    """Another model answers from now on; `why` is the kind of the failure."""

    why: str
    before: str
    now: str


class Retrying(msgspec.Struct, frozen=True):
    """The request failed and is sent again after a pause; whatever was streamed so far is void."""

    attempt: int
    max_retries: int
    delay_ms: float
    status: int | None
    kind: str
    message: str = ""
    switch: Switch | None = None


class Finished(msgspec.Struct, frozen=True):
    """The whole reply. `stop_reason` uses the Messages API's words.

    `results` are those of calls the model has run itself. `cost_usd` is what the provider says it cost.
    """

    message: Message
    stop_reason: str
    usage: Usage
    model: str
    request_id: str = ""
    stop_details: dict[str, Any] | None = None
    results: list[ToolResult] = []
    cost_usd: float | None = None


Delta = Started | BlockStarted | BlockDelta | BlockFinished | Ending | Retrying | Finished


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens, and per web search of the provider."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    cache_write_1h: float = 0.0
    web_search: float = 0.01


class ModelCard(msgspec.Struct, frozen=True):
    """What is known of a model: limits, prices, abilities. `provider` is the row of the provider table.

    `web_search`: the provider can search the web for it. `asides`: it takes system messages in the middle of
    a conversation. `counts_tokens`: it is told how many tokens are left. `auto_mode`: that permission
    mode can be used with it.
    """

    id: str
    provider: str
    protocol: str
    label: str = ""
    context_window: int = 200_000
    max_output: int = 32_000
    price: Price | None = None
    thinking: str = ""
    effort: str = ""
    images: bool = True
    documents: bool = True
    knowledge_cutoff: str = ""
    web_search: bool = False
    asides: bool = False
    counts_tokens: bool = False
    auto_mode: bool = True

    @property
    def ref(self) -> str:
        """`provider/model`, the name under which thinking blocks are kept."""
        return f"{self.provider}/{self.id}"

    def cost(self, usage: Usage) -> float:
        p = self.price
        if p is None:
            return 0.0
        short = usage.cache_write - usage.cache_write_1h
        total = (
            usage.input * p.input
            + usage.output * p.output
            + usage.cache_read * p.cache_read
            + short * p.cache_write
            + usage.cache_write_1h * p.cache_write_1h
        )
        return total / 1_000_000 + usage.web_searches * p.web_search


@asynccontextmanager
async def closing(deltas: AsyncIterator[Delta]) -> AsyncIterator[AsyncIterator[Delta]]:
    """Ends a request as soon as nobody wants its answer any more."""
    try:
        yield deltas
    finally:
        if isinstance(deltas, AsyncGenerator):
            await deltas.aclose()


class Model(Protocol):
    """Something that answers requests."""

    @property
    def card(self) -> ModelCard: ...

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yields deltas, last `Finished`; raises `ModelError`. Closing the iterator aborts the request."""
        ...

    async def close(self) -> None: ...
