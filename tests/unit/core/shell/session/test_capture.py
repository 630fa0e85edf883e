from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from forge.core.shell.session.capture import HALF, MOST_IN_FILE, Capture

LINES = b"".join(b"%07d a line of a log\n" % number for number in range(40_000))


async def collected(data: bytes, path: str) -> Capture:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    capture = Capture(reading, path)

    def write() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    await capture.drained(10)
    writer.join()
    capture.settle()
    return capture


@pytest.mark.parametrize("times", [1, 2, 5])
def test_the_file_has_everything_and_memory_has_start_and_end(tmp_path: Path, times: int) -> None:
    data, path = LINES * times, tmp_path / "output"

    async def scenario() -> None:
        capture = await collected(data, str(path))
        ring = capture.ring
        assert (ring.size, bytes(ring.head), ring.tail) == (
            len(data),
            data[:HALF],
            data[max(HALF, len(data) - HALF) :],
        )
        assert ring.omitted == max(0, len(data) - 2 * HALF)
        capture.close()

    asyncio.run(scenario())
    saved = path.read_bytes() if path.exists() else b""
    assert saved == (data if len(data) > 2 * HALF else b"")


@pytest.mark.parametrize("path", ["/dev/full", "missing/\0/name", ""])
def test_output_that_cannot_be_saved_is_still_collected(path: str) -> None:
    data = LINES * 3

    async def scenario() -> tuple[int, bytes, bytes]:
        capture = await collected(data, path.replace("\0", "x" * 300))
        capture.close()
        return capture.ring.size, bytes(capture.ring.head), capture.ring.tail

    assert asyncio.run(scenario()) == (len(data), data[:HALF], data[-HALF:])


def test_a_file_that_would_become_too_large_keeps_its_start(tmp_path: Path) -> None:
    data = LINES * (MOST_IN_FILE // len(LINES) + 2)
    path = tmp_path / "output"

    async def scenario() -> tuple[int, bytes]:
        capture = await collected(data, str(path))
        capture.close()
        return capture.ring.size, capture.ring.tail

    assert asyncio.run(scenario()) == (len(data), data[-HALF:])
    assert MOST_IN_FILE - (1 << 18) < path.stat().st_size <= MOST_IN_FILE
    path.unlink()
