from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, session
from forge.agent.event import ToolFinished
from forge.agent.hooks.engine import Engine
from forge.agent.loop import run_turn
from forge.agent.mcp.servers import (
    add_server,
    await_servers,
    call_meta,
    drop_server,
    end_servers,
    renew_server,
    start_servers,
    status_rows,
)
from forge.agent.session import Prompt, Session
from forge.core.mcp.port import Ask, Greeting, Launch, Offer, Question, Reply, Unavailable
from forge.core.mcp.server import McpServer
from forge.core.message import Image, Source, Text, ToolResult
from forge.core.tool import ToolError

Answer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class Line:
    """A connection to a function."""

    def __init__(self, offers: list[Offer], answer: Answer) -> None:
        self.greeting = Greeting(offers)
        self.alive = True
        self._answer = answer

    async def call(self, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
        return await self._answer(tool, given)

    async def close(self) -> None:
        self.alive = False


async def nobody(question: Question) -> Reply:
    return Reply("cancel")


def server(
    answer: Answer, *offers: Offer, source: str = "dynamic", seconds: float | None = None
) -> McpServer:
    async def opened(launch: Launch, ask: Ask) -> Line:
        return Line(list(offers) or [Offer("echo")], answer)

    return McpServer(Launch("srv", "x", call_seconds=seconds), source, {}, nobody, opened)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def called(
    each: McpServer, place: str = "/nowhere", *, waits: bool = True, **facts: Any
) -> tuple[Session, ToolResult]:
    """The result of one call of the server's first tool by the model."""

    async def run() -> tuple[Session, ToolResult]:
        host = RecordingHost()
        model = ScriptedModel([[call("mcp__srv__echo", text="hi")]])
        s = session(model, host, [], rules=allow("mcp__srv"), results_dir=place, **facts)
        start_servers(s, [each], [])
        if waits:
            await await_servers(s)
        await run_turn(s, Prompt("go", "u1"))
        await end_servers(s)
        (finished,) = host.of(ToolFinished)
        return s, finished.result

    return asyncio.run(run())


def failing(error: Exception) -> Answer:
    async def answer(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        raise error

    return answer


def saying(result: dict[str, Any]) -> Answer:
    async def answer(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        return result

    return answer


async def hanging(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    await asyncio.Event().wait()
    return {}


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (server(failing(Unavailable("Connection closed"))), "Connection closed"),
        (server(saying(text("no", isError=True))), "no"),
        (server(saying({"isError": True})), "echo failed without saying why."),
        (server(hanging, seconds=0.01), 'MCP server "srv" tool "echo" timed out after 0.01s'),
    ],
)
def test_a_call_that_fails_is_a_failed_result(each: McpServer, expected: str) -> None:
    assert called(each)[1] == ToolResult("call-1", expected, True)


def test_a_call_waits_for_a_server_that_is_still_starting() -> None:
    gate = asyncio.Event()

    async def opened(launch: Launch, ask: Ask) -> Line:
        asyncio.get_running_loop().call_later(0.05, gate.set)
        await gate.wait()
        return Line([Offer("echo")], saying(text("ok")))

    slow = McpServer(Launch("srv", "x"), "project", {}, nobody, opened)
    assert called(slow, waits=False)[1] == ToolResult("call-1", [Text("ok")])


def test_a_large_result_is_kept_in_a_file(tmp_path: Path) -> None:
    _, result = called(server(saying(text("x" * 55_000))), str(tmp_path))
    path = tmp_path / "call-1.json"
    assert isinstance(result.content, str)
    assert result.content.startswith(
        f"<persisted-output>\nOutput too large (53.8KB). Full output saved to: {path}\n\n"
        'Preview (first 2KB):\n[\n  {\n    "type": "text",\n    "text": "xxx'
    )
    assert len(result.content) < 2_500
    assert path.stat().st_size > 55_000


def test_a_tool_may_ask_for_more_room() -> None:
    offer = Offer("echo", meta={"anthropic/maxResultSizeChars": 60_000})
    _, result = called(server(saying(text("x" * 55_000)), offer))
    assert len(result.content) == 1


def test_hosts_see_servers_and_how_calls_are_called() -> None:
    s, _ = called(server(saying(text("ok")), Offer("echo", title="Say it again"), source="project"))
    assert status_rows(s) == [{"name": "srv", "status": "connected", "source": "project"}]
    row = {"display_name": "Say it again", "server_display_name": "srv", "tool_name": "echo"}
    assert call_meta(s, "c1", "mcp__srv__echo") == [{"id": "c1", **row}]
    assert call_meta(s, "c1", "Bash") == []


@pytest.mark.parametrize(
    ("name", "result", "expected"),
    [
        ("srv", text("words"), "words"),
        ("srv", text("no", isError=True), ToolError("no")),
        ("other", text("words"), ToolError("MCP server 'other' is not connected.")),
    ],
)
def test_hooks_can_call_tools(name: str, result: dict[str, Any], expected: Any) -> None:
    engine = Engine()
    called(server(saying(result)), hooks=engine)

    async def use() -> Any:
        s = session(ScriptedModel([]), RecordingHost(), [], hooks=engine)
        start_servers(s, [server(saying(result))], [])
        await await_servers(s)
        assert engine.means.call_tool is not None
        try:
            return await engine.means.call_tool(name, "echo", {})
        except ToolError as error:
            return error

    found = asyncio.run(use())
    assert str(found) == str(expected)
    assert isinstance(found, type(expected))


def test_a_picture_is_kept_in_a_file(tmp_path: Path) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "UE5H"}
    _, result = called(server(saying({"content": [picture]})), str(tmp_path))
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("mcp-srv-blob-")
    assert path.read_bytes() == b"PNG"
    assert result.content == [Image(Source("base64", "image/png", "UE5H")), Text(f"[Image: source: {path}]")]


def test_what_servers_say_about_their_use_comes_before_the_first_prompt() -> None:
    async def opened(launch: Launch, ask: Ask) -> Line:
        line = Line([Offer("echo")], saying(text("ok")))
        line.greeting = Greeting(line.greeting.offers, {}, "Be kind. " * 300)
        return line

    s, _ = called(McpServer(Launch("srv", "x"), "dynamic", {}, nobody, opened))
    texts = [b.text for b in s.messages[0].blocks if isinstance(b, Text)]
    (told,) = [words for words in texts if "# MCP Server Instructions" in words]
    assert told.startswith("<system-reminder>\n# MCP Server Instructions\n\n")
    assert len(told.partition("## srv\n")[2].partition("\n</system-reminder>")[0]) == 2048


def test_a_change_that_fails_leaves_the_tools_as_they_were() -> None:
    async def broken() -> None:
        raise Unavailable("gone")

    async def run() -> list[str]:
        s = session(ScriptedModel([]), RecordingHost(), [])
        each = server(saying(text("ok")))
        await add_server(s, each)
        with pytest.raises(Unavailable):
            await renew_server(s, each, broken)
        return [c.name for c in s.parts.tools]

    assert asyncio.run(run()) == ["mcp__srv__echo"]


def test_a_server_that_changes_takes_its_tools_along() -> None:
    async def run() -> list[list[str]]:
        s = session(ScriptedModel([]), RecordingHost(), [])
        each = server(saying(text("ok")))
        await add_server(s, each)
        known = [[c.name for c in s.parts.tools]]
        for change in (each.disable, each.restart):
            await renew_server(s, each, change)
            known.append([c.name for c in s.parts.tools])
        await drop_server(s, each)
        assert status_rows(s) == []
        return [*known, [c.name for c in s.parts.tools]]

    assert asyncio.run(run()) == [["mcp__srv__echo"], [], ["mcp__srv__echo"], []]
