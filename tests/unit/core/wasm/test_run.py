from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.components.wasm_tool import WasmLimits
from forge.core.tool import ToolError
from forge.core.wasm.run import Ended, Order, run_module
from leftovers import left_running
from wasm_modules import build, opener

LIMITS: dict[str, Any] = {"fuel": 100_000_000, "memory_mb": 8, "seconds": 5.0, "output_kb": 100}
READ, WRITE = 2, 64
CREATE = 1


def run(module: str, given: bytes = b"{}", limits: dict[str, Any] | None = None, **facts: Any) -> Ended:
    order = Order("tool", module, given, WasmLimits(**{**LIMITS, **(limits or {})}), **facts)
    ended = asyncio.run(run_module(order))
    assert left_running() == []
    return ended


def test_a_module_gets_its_input_and_its_output_is_the_result(tmp_path: Path) -> None:
    ended = run(build(tmp_path, "echo"), b'{"a": "\xc3\xa4"}')
    assert (ended.end, ended.code, ended.out, ended.err) == ("exit", 0, b'{"a": "\xc3\xa4"}', "")
    assert 0 < ended.fuel < 1_000


@pytest.mark.parametrize(
    ("name", "end", "code", "reason"),
    [
        ("quiet", "exit", 0, ""),
        ("fail", "exit", 3, ""),
        ("trap", "trap", 0, "wasm `unreachable` instruction executed"),
        ("deep", "trap", 0, "call stack exhausted"),
        ("spin", "fuel", 0, "all fuel consumed by WebAssembly"),
        ("flood", "output", 0, "it wrote more than 100 KB"),
        ("library", "invalid", 0, "it exports no function _start; build it as a WASI command"),
        ("foreign", "invalid", 0, "unknown import: `env::open_anything` has not been defined"),
    ],
)
def test_every_end_of_a_module_is_told_apart(
    tmp_path: Path, name: str, end: str, code: int, reason: str
) -> None:
    ended = run(build(tmp_path, name))
    assert (ended.end, ended.code, ended.reason) == (end, code, reason)


def test_the_time_limit_ends_a_module_whatever_it_does(tmp_path: Path) -> None:
    ended = run(build(tmp_path, "spin"), limits={"fuel": 1 << 60, "seconds": 0.3})
    assert (ended.end, ended.reason) == ("time", "it was stopped after 0.3 seconds")


def test_an_interrupt_ends_the_module(tmp_path: Path) -> None:
    module = build(tmp_path, "spin")
    order = Order("tool", module, b"", WasmLimits(**{**LIMITS, "fuel": 1 << 60}))

    async def interrupt() -> None:
        async with asyncio.timeout(0.2):
            await run_module(order)

    with pytest.raises(TimeoutError):
        asyncio.run(interrupt())
    assert left_running() == []


@pytest.mark.parametrize(("megabytes", "got"), [(8, b"07"), (3, b"02")])
def test_memory_stops_growing_at_its_limit(tmp_path: Path, megabytes: int, got: bytes) -> None:
    assert run(build(tmp_path, "grow"), limits={"memory_mb": megabytes}).out == got


def test_a_module_that_needs_more_memory_from_the_start_does_not_run(tmp_path: Path) -> None:
    ended = run(build(tmp_path, "quiet"), limits={"memory_mb": 0})
    assert (ended.end, "memory" in ended.reason) == ("invalid", True)


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("environment", b"00"),  # no variable
        ("directories", b"08"),  # no directory: bad descriptor
        ("network", b"08"),  # nothing to accept connections on
    ],
)
def test_without_grants_there_is_no_file_no_network_and_no_environment(
    tmp_path: Path, name: str, said: bytes
) -> None:
    assert run(build(tmp_path, name)).out == said


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("path", ["etc/passwd", "/etc/passwd", "../../etc/passwd"])
@pytest.mark.parametrize("descriptor", [0, 1, 3, 4])
def test_without_grants_no_file_can_be_opened(tmp_path: Path, path: str, descriptor: int) -> None:
    assert run(opener(tmp_path, path, at=descriptor)).out != b"00"


@pytest.mark.requirement("S0-12")
def test_granted_directories_can_be_read_and_changed_only_as_granted(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a.txt").write_text("x")
    reader = opener(tmp_path / "r", "a.txt", rights=READ)
    writer = opener(tmp_path / "w", "new.txt", flags=CREATE, rights=WRITE)
    readable, changeable = [(str(shared), False)], [(str(shared), True)]
    assert run(reader, directories=readable).out == b"00"
    assert run(writer, directories=readable).out != b"00"
    assert sorted(os.listdir(shared)) == ["a.txt"]
    assert run(writer, directories=changeable).out == b"00"
    assert sorted(os.listdir(shared)) == ["a.txt", "new.txt"]


@pytest.mark.parametrize("path", ["../secret.txt", "/secret.txt", "link.txt", "up/secret.txt"])
def test_a_granted_directory_cannot_be_left(tmp_path: Path, path: str) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "secret.txt").write_text("s")
    (shared / "link.txt").symlink_to(tmp_path / "secret.txt")
    (shared / "up").symlink_to(tmp_path)
    assert run(opener(tmp_path, path), directories=[(str(shared), True)]).out != b"00"


def test_only_granted_variables_are_seen(tmp_path: Path) -> None:
    ended = run(build(tmp_path, "variables"), variables={"LANG": "C", "MINE": "1"})
    assert sorted(ended.out.rstrip(b"\0").split(b"\0")) == [b"LANG=C", b"MINE=1"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"(module)", "it is not a WebAssembly module"),
        (b"", "it is not a WebAssembly module"),
        (b"\0asm\1\0\0\0", "_start"),
        (b"\0asm\x0d\0\1\0", "component"),
        (b"\0asm\1\0\0\0\xff", "failed to parse WebAssembly module: malformed section id"),
    ],
)
def test_a_file_that_is_no_module_is_told_apart_from_a_crash(
    tmp_path: Path, content: bytes, part: str
) -> None:
    path = tmp_path / "x.wasm"
    path.write_bytes(content)
    ended = run(str(path))
    assert (ended.end, part in ended.reason) == ("invalid", True), ended.reason


def test_a_module_that_is_gone_or_enormous_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be read: No such file"):
        run(str(tmp_path / "none.wasm"))
    huge = tmp_path / "huge.wasm"
    huge.touch()
    os.truncate(huge, (64 << 20) + 1)
    with pytest.raises(ToolError, match="larger than 64 MB"):
        run(str(huge))


def test_input_that_nobody_reads_does_no_harm(tmp_path: Path) -> None:
    assert run(build(tmp_path, "quiet"), b"x" * 1_000_000).end == "exit"
