"""Searching the web by means of the model's provider: what a session lends to the WebSearch tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from forge.core.model import WebSearch


class Link(msgspec.Struct, frozen=True):
    title: str
    url: str


class Links(msgspec.Struct, frozen=True):
    """What one search has found."""

    tool_use_id: str
    content: list[Link]


Finding = str | Links


class Found(msgspec.Struct, frozen=True):
    """The findings of a query and how often the provider has searched for them."""

    results: list[Finding]
    searches: int


class Searcher:
    """Asks the provider of the session's model, which gives None if it cannot search."""

    def __init__(self) -> None:
        self.ask: Callable[[str, WebSearch], Awaitable[Found | None]] = _nobody


async def _nobody(query: str, how: WebSearch) -> Found | None:
    return None
