"""Standard input of a headless run: a prompt that is piped in, or lines of a conversation."""

from __future__ import annotations

import asyncio
import os
import select
import stat
import threading
from collections.abc import AsyncIterator, Callable

from forge.foundation.errors import UsageError

FIRST_BYTE_TIMEOUT = 3.0


async def read_prompt(argument: str) -> str:
    """The prompt: the argument, what is piped in, or both, one line apart."""
    piped = await _in_thread(FIRST_BYTE_TIMEOUT if argument else None) if _is_pipe() else ""
    prompt = f"{argument}\n{piped}" if argument and piped.strip() else argument or piped
    if not prompt.strip():
        raise UsageError(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print"
        )
    return prompt


async def _in_thread(wait: float | None) -> str:
    """Reads in a daemon thread: a reader that never gets an end must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def settle(text: str) -> None:
        if not answer.done():
            answer.set_result(text)

    def work() -> None:
        text = _piped(wait)
        try:
            loop.call_soon_threadsafe(settle, text)
        except RuntimeError:
            return  # the loop has ended; nobody waits any more

    threading.Thread(target=work, daemon=True).start()
    return await answer


async def lines() -> AsyncIterator[bytes]:
    """The lines of standard input as they come, read by a thread because files cannot be polled.

    Lines that arrive together are handed over together: nothing else happens in between.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[bytes] | None] = asyncio.Queue()

    def put(item: list[bytes] | None) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:
            return  # the loop has ended; nobody listens any more

    threading.Thread(target=_pump, args=(put,), daemon=True).start()
    while (together := await queue.get()) is not None:
        for line in together:
            yield line


def _pump(put: Callable[[list[bytes] | None], None]) -> None:
    parts: list[bytes] = []
    while True:
        try:
            data = os.read(0, 1 << 16)
        except OSError:
            data = b""
        parts.append(data)
        if data and b"\n" not in data:
            continue
        *whole, rest = b"".join(parts).split(b"\n")
        parts = [rest]
        if together := [line for line in (whole if data else [*whole, rest]) if line.strip()]:
            put(together)
        if not data:
            put(None)
            return


def _is_pipe() -> bool:
    """Whether standard input can hold a prompt: a pipe, a socket or a file, not a terminal or /dev/null."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


def _piped(wait: float | None) -> str:
    if wait is not None and not select.select([0], [], [], wait)[0]:
        return ""
    chunks = []
    while data := os.read(0, 1 << 16):
        chunks.append(data)
    return b"".join(chunks).decode("utf-8", "replace")
