"""What the rest of Forge knows of an MCP server: how it is started, what it offers, what it asks.

Nothing here or in the callers depends on who speaks the protocol: `speaking` does, with the official SDK.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

START_SECONDS = 30.0


class Launch(msgspec.Struct, frozen=True):
    """How a server is reached; variables are replaced. `call_seconds` None: a call may take forever.

    One of the type stdio is a program with its arguments; http and sse have an address and headers.
    """

    name: str
    command: str = ""
    args: list[str] = []
    env: Mapping[str, str] = {}
    cwd: str = "/"
    start_seconds: float = START_SECONDS
    call_seconds: float | None = None
    kind: str = "stdio"
    url: str = ""
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        # Without arguments, environment, address and headers: some are secrets.
        return f"Launch(name={self.name!r}, command={self.command!r})"


class Offer(msgspec.Struct, frozen=True):
    """A tool of a server, in the server's own words."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}
    title: str = ""
    annotations: dict[str, Any] = {}
    meta: dict[str, Any] = {}


class Greeting(msgspec.Struct, frozen=True):
    """What a server says about itself when it is connected."""

    offers: list[Offer] = []
    identity: dict[str, Any] = {}
    instructions: str = ""


class Question(msgspec.Struct, frozen=True):
    """A server asks the user something: to fill a form (`schema`) or to open an address (`url`)."""

    server: str
    message: str
    mode: str = "form"
    schema: dict[str, Any] | None = None
    url: str = ""
    id: str = ""


class Reply(msgspec.Struct, frozen=True):
    """The user's answer: accept (with `content`), decline or cancel."""

    action: str
    content: dict[str, Any] | None = None


Ask = Callable[[Question], Awaitable[Reply]]


class Unavailable(Exception):
    """The server cannot be used; the text says why."""


class Connection(Protocol):
    """A server that has said hello."""

    @property
    def alive(self) -> bool: ...

    @property
    def greeting(self) -> Greeting: ...

    async def call(self, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
        """The result as the server gave it (`content`, `isError` …); Unavailable if none came."""
        ...

    async def close(self) -> None:
        """Ends the connection and everything behind it."""
        ...


Open = Callable[[Launch, Ask], Awaitable[Connection]]
