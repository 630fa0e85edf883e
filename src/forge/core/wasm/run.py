"""Runs a WebAssembly tool in a process of its own, so that a time limit really ends it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import msgspec

from forge.core.components.wasm_tool import WasmLimits
from forge.core.tool import ToolError
from forge.foundation.encode import NOT_JSON
from forge.foundation.system.process import Child, Spawn, Unsupported, pipe, spawn

RUNNER = os.path.join(os.path.dirname(__file__), "runner.py")
MOST_MODULE_BYTES = 64 << 20
_KEPT_STDERR = 4_000


class Order(msgspec.Struct, frozen=True):
    """A call: what to run, what it gets, what it may."""

    name: str
    module: str
    given: bytes
    limits: WasmLimits
    directories: list[tuple[str, bool]] = []
    variables: dict[str, str] = {}


class Ended(msgspec.Struct, frozen=True):
    """How the module ended; see `runner.Report`."""

    end: str
    code: int = 0
    reason: str = ""
    fuel: int = 0
    out: bytes = b""
    err: str = ""


class Collector(asyncio.Protocol):
    """Keeps what arrives up to a limit; `over` is set when there is more."""

    def __init__(self, limit: int, over: asyncio.Event) -> None:
        self.kept = bytearray()
        self.limit = limit
        self.over = over
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.kept += data[: self.limit - len(self.kept)]
        if len(self.kept) >= self.limit and data:
            self.over.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()


async def run_module(order: Order) -> Ended:
    """Runs a module to its end or to its limits; ToolError if it cannot even be started."""
    _refuse_unusable(order.module)
    limits = order.limits
    seconds, kilobytes = limits.seconds or 0.0, limits.output_kb or 0
    full = asyncio.Event()
    out = Collector((kilobytes << 10) + 1, full)
    err, status = Collector(_KEPT_STDERR, asyncio.Event()), Collector(_KEPT_STDERR, asyncio.Event())
    child = await _started(order, (out, err, status))
    try:
        timed_out = await _watched(child, full, seconds)
    finally:
        child.kill()
        await child.wait()
        for each in (out, err, status):
            await each.ended.wait()
    said = err.kept.decode("utf-8", "replace").strip()
    if full.is_set():
        return Ended("output", reason=f"it wrote more than {kilobytes} KB", err=said)
    if timed_out:
        return Ended("time", reason=f"it was stopped after {seconds:g} seconds", err=said)
    try:
        ended = msgspec.json.decode(status.kept, type=Ended)
    except NOT_JSON:
        return Ended("invalid", reason=f"the process that ran it died: {said[-300:] or 'without a word'}")
    return msgspec.structs.replace(ended, out=bytes(out.kept), err=said)


def _refuse_unusable(module: str) -> None:
    try:
        size = os.stat(module).st_size
    except OSError as error:
        raise ToolError(f"{module} cannot be read: {error.strerror}") from None
    if size > MOST_MODULE_BYTES:
        raise ToolError(f"{module} is larger than {MOST_MODULE_BYTES >> 20} MB, which is the limit.")


async def _started(order: Order, collectors: tuple[Collector, Collector, Collector]) -> Child:
    their_in, our_out = os.pipe()
    pipes = [pipe() for _ in collectors]
    ours, theirs = [reading for reading, _ in pipes], [writing for _, writing in pipes]
    argv = [sys.executable, "-P", RUNNER, _described(order), str(theirs[2])]
    try:
        # An empty environment: what the module may see of ours is in the description.
        child = spawn(Spawn(argv, "/", {}, their_in, theirs[0], theirs[1], keep=(theirs[2],)))
    except (OSError, Unsupported) as error:
        for descriptor in (our_out, *ours):
            os.close(descriptor)
        raise ToolError(f"{order.name} could not be started: {error}") from None
    finally:
        for descriptor in (their_in, *theirs):
            os.close(descriptor)
    loop = asyncio.get_running_loop()
    for collector, descriptor in zip(collectors, ours, strict=True):
        await loop.connect_read_pipe(_always(collector), os.fdopen(descriptor, "rb", buffering=0))
    writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(our_out, "wb", buffering=0))
    writing.write(order.given)
    writing.close()
    return child


def _always(collector: Collector) -> Any:
    return lambda: collector


def _described(order: Order) -> str:
    job = {
        "module": order.module,
        "arguments": [order.name],
        "directories": order.directories,
        "variables": order.variables,
        "fuel": order.limits.fuel,
        "memory": (order.limits.memory_mb or 0) << 20,
    }
    return msgspec.json.encode(job).decode()


async def _watched(child: Child, full: asyncio.Event, seconds: float) -> bool:
    """Waits for the end of the process or for too much output; whether it took too long."""
    ends = [asyncio.ensure_future(child.wait()), asyncio.ensure_future(full.wait())]
    try:
        done, _ = await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in ends:
            each.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
    return not done
