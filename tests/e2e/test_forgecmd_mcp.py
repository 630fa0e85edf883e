"""The MCP server with the official client, and in Forge by .mcp.json."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import ElicitResult

from fakemodel import serve
from forge_run import STREAM, environment, forge

SCRIPT = str(Path(__file__).resolve().parents[2] / "scripts" / "forgecmd")


def test_the_official_client_works_with_it(home: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": "once"})

    async def main() -> list[tuple[str, bool]]:
        server = StdioServerParameters(
            command=sys.executable, args=[SCRIPT, "mcp"], env=environment(home), cwd=tmp_path
        )
        found = []
        async with (
            stdio_client(server) as (reading, writing),
            ClientSession(reading, writing, elicitation_callback=answer) as session,
        ):
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            assert names == [
                "run", "start", "send", "screen", "wait", "resize", "stop", "output", "history",
            ]  # fmt: skip
            for command in ("echo hi", "touch a && rm a", "rm -rf /", f"echo {'x' * 100_000} | wc -c"):
                result = await session.call_tool("run", {"command": command})
                found.append((result.content[0].model_dump()["text"], bool(result.is_error)))
        return found

    ran, allowed, refused, long = asyncio.run(main())
    assert ran == ("hi\n[exit code 0; history id 1; profile read]", False)
    assert allowed == ("[exit code 0; history id 2; profile full]", False)
    assert (refused[0].startswith("deny: forbidden, risk 10."), refused[1]) == (True, True)
    assert long == ("100001\n[exit code 0; history id 4; profile read]", False)
    assert [message.splitlines()[0] for message in asked] == ["An agent wants to run: touch a && rm a"]


def test_a_call_that_is_given_up_ends_and_makes_room(home: Path, tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {}},
        {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": {"command": "sleep 60"}}},
        {"method": "notifications/cancelled", "params": {"requestId": 2}},
        {"id": 3, "method": "tools/call", "params": {"name": "run", "arguments": {"command": "echo next"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)
    argv = [sys.executable, SCRIPT, "mcp"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home), cwd=tmp_path, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(lines)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.wait(10) == 0
    assert [answer["id"] for answer in answers] == [1, 3]
    assert answers[1]["result"]["content"][0]["text"].startswith("next\n[exit code 0")


def test_forge_offers_the_server_to_its_model(home: Path, tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [SCRIPT, "mcp"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"shell": entry}}))
    turns: list[Any] = [
        [{"tool": "mcp__shell__run", "input": {"command": "echo $((6*7))"}}],
        [{"text": "ok"}],
    ]
    with serve(turns) as server:
        run = forge(
            "-p",
            "go",
            "--allowedTools",
            "mcp__shell",
            *STREAM,
            cwd=tmp_path,
            env=environment(home, server.url),
        )
        bodies = server.bodies
    assert run.code == 0, run.err
    blocks = [block for message in bodies[-1]["messages"] for block in message["content"]]
    (result,) = (b for b in blocks if isinstance(b, dict) and b["type"] == "tool_result")
    assert "42\\n[exit code 0; history id 1" in json.dumps(result["content"])
