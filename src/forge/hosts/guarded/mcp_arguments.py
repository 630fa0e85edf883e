"""The arguments of the MCP tools."""

from __future__ import annotations

from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Size = Annotated[int, msgspec.Meta(ge=1, le=500)]
Count = Annotated[int, msgspec.Meta(ge=1, le=2000)]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `run`."""

    command: str
    timeout: Seconds = 120.0
    cwd: str = ""
    terminal: bool = False
    verbatim: bool = False


class StartSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `start`."""

    command: str
    cwd: str = ""
    rows: Size = 24
    columns: Size = 80


class Send(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `send`."""

    id: str
    keys: str


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `screen` and `stop`."""

    id: str


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `wait`."""

    id: str
    until: str = "settled"
    timeout: Seconds = 10.0


class Resize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `resize`."""

    id: str
    rows: Size
    columns: Size


class StoredOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `output`."""

    id: int
    offset: Annotated[int, msgspec.Meta(ge=1)] = 1
    limit: Count = 200
    regex: str = ""


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `history`."""

    query: str = ""
    limit: Count = 30
