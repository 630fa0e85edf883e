from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.core.mcp.config import launch
from forge.core.mcp.port import Question, Reply, Unavailable
from forge.core.mcp.results import plain_text
from forge.core.mcp.server import McpServer
from mcp_peer import NAMES, entry

ENV = {"PATH": os.environ["PATH"], "MCP_TIMEOUT": "20000"}


async def nobody(question: Question) -> Reply:
    return Reply("cancel")


def using(
    config: dict[str, Any], doing: Callable[[McpServer], Awaitable[Any]], ask: Any = nobody, **env: str
) -> Any:
    """What `doing` finds out with a server that is ended afterwards."""

    async def run() -> Any:
        server = McpServer(launch("srv", config, {**ENV, **env}, "/"), "dynamic", config, ask)
        try:
            return await doing(server)
        finally:
            await server.close()

    return asyncio.run(run())


async def echoed(server: McpServer) -> str:
    return plain_text(await server.call("echo", {"text": "hi"}, "toolu_1"))


def test_a_server_says_what_it_offers() -> None:
    async def look(server: McpServer) -> Any:
        before = server.status
        await server.connect()
        return before, server.status, [o.name for o in server.greeting.offers], server.greeting.identity

    found = using(entry(), look)
    assert found == ("pending", "connected", list(NAMES), {"name": "peer", "version": "1"})


@pytest.mark.parametrize("how", [(), ("garbage",)])
def test_a_tool_is_called_whatever_else_the_server_prints(how: tuple[str, ...]) -> None:
    assert using(entry(*how), echoed) == "hi"


def test_a_server_that_ended_is_started_again_by_the_next_call() -> None:
    async def twice(server: McpServer) -> Any:
        with pytest.raises(Unavailable, match=r"^Connection closed$"):
            await server.call("exit", {})
        return await echoed(server)

    assert using(entry(), twice) == "hi"


def test_a_call_that_takes_too_long_is_given_up_and_the_server_stays() -> None:
    async def waited(server: McpServer) -> Any:
        with pytest.raises(TimeoutError):
            await server.call("sleep", {})
        return server.status

    assert using(entry(), waited, MCP_TOOL_TIMEOUT="50") == "connected"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": "/no/such/program"}, "/no/such/program cannot be started: No such file or directory"),
        (entry("dead"), "Connection closed; its last words: no licence"),
        (entry("silent"), "it did not answer within 0.7 seconds"),
    ],
)
def test_a_server_that_does_not_come_up_has_failed(config: dict[str, Any], expected: str) -> None:
    async def tried(server: McpServer) -> Any:
        await server.connect()
        with pytest.raises(Unavailable):
            await server.call("echo", {})
        return server.status, server.error

    # The first start in a process also loads the SDK.
    using(entry(), echoed)
    late = "700" if "silent" in str(config) else "20000"
    assert using(config, tried, MCP_TIMEOUT=late) == ("failed", expected)


@pytest.mark.parametrize("how", [(), ("deaf",)])
def test_nothing_of_a_server_outlives_the_session(how: tuple[str, ...], tmp_path: Path) -> None:
    using(entry("child", str(tmp_path / "pids"), *how), echoed)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert [pid for pid in pids if _lives(pid)] == []


def _lives(pid: int) -> bool:
    """Whether a process is still there after it has had time to notice that it was killed."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    with os.fdopen(descriptor) as process:
        return not select.select([process], [], [], 10)[0]


def test_a_session_that_ends_while_a_server_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    async def cancelled() -> str:
        config = entry("silent")
        server = McpServer(launch("srv", config, ENV, "/"), "dynamic", config, nobody)
        task = asyncio.ensure_future(server.connect())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await server.close()
        with pytest.raises(Unavailable):
            await server.call("echo", {})
        return server.status

    assert asyncio.run(cancelled()) == "pending"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("accept", {"user": "a"}), 'ELICITED {"action": "accept", "content": {"user": "a"}}'),
        (Reply("decline"), 'ELICITED {"action": "decline"}'),
        (Reply("nonsense"), 'ELICITED {"action": "cancel"}'),
    ],
)
@pytest.mark.requirement("S1-116")
def test_a_server_can_ask_the_user(reply: Reply, expected: str) -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> Reply:
        asked.append(question)
        return reply

    async def ask(server: McpServer) -> str:
        return plain_text(await server.call("ask", {"text": "who"}))

    schema = {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"]}
    assert using(entry(), ask, answer) == expected
    assert asked == [Question("srv", "who", "form", schema)]


def test_a_server_can_ask_where_the_project_is() -> None:
    async def ask(server: McpServer) -> str:
        return plain_text(await server.call("roots", {}))

    assert using(entry(), ask) == "file:///"


def test_a_large_result_arrives_whole() -> None:
    async def big(server: McpServer) -> int:
        return len(plain_text(await server.call("big", {})))

    assert using(entry(), big) == 300_000


OFFICIAL = """
from mcp.server import MCPServer
server = MCPServer("official", instructions="Add things.")
@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b
server.run()
"""


def test_servers_of_the_official_library_are_understood() -> None:
    async def added(server: McpServer) -> Any:
        result = await server.call("add", {"a": 2, "b": 3}, "toolu_1")
        greeting = server.greeting
        return plain_text(result), greeting.instructions, [(o.name, o.description) for o in greeting.offers]

    config = {"command": sys.executable, "args": ["-c", OFFICIAL]}
    assert using(config, added) == ("5", "Add things.", [("add", "Adds.")])
