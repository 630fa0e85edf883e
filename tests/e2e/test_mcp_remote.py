from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import far_server
from fakemodel import serve
from forge.core.mcp.config import launch, remote
from forge.core.mcp.port import Question, Reply
from forge.core.mcp.results import plain_text
from forge.core.mcp.server import McpServer, open_remote, open_stdio
from forge_run import STREAM, environment, forge
from mcp_peer import entry

OK = [{"text": "ok"}]
WORD = {"X-Word": "${WORD}"}


@pytest.fixture(scope="session")
def far() -> Iterator[str]:
    """The address of a real server."""
    with subprocess.Popen([sys.executable, far_server.__file__], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
        child.kill()


def config(**servers: Any) -> tuple[str, str]:
    return "--mcp-config", json.dumps({"mcpServers": servers})


def add(server: str) -> list[dict[str, Any]]:
    return [{"tool": f"mcp__{server}__add", "input": {"a": 2, "b": 3}}]


@pytest.mark.requirement("S0-13")
def test_servers_at_an_address_are_called(far: str, home: Path, tmp_path: Path) -> None:
    servers = {
        "new": {"type": "http", "url": f"{far}/mcp", "headers": WORD},
        "old": {"type": "sse", "url": f"{far}/sse", "headers": WORD},
        "gone": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        "lost": {"type": "http", "url": f"{far}/nowhere", "headers": WORD},
        "shy": {"type": "sse", "url": f"{far}/sse"},
        "wet": {"type": "ws", "url": "ws://127.0.0.1:9"},
    }
    with serve([add("new"), add("old"), OK]) as model:
        env = {**environment(home, model.url), "WORD": "please"}
        allowed = ("--allowedTools", "mcp__new,mcp__old")
        run = forge("-p", "go", *config(**servers), *allowed, *STREAM, cwd=tmp_path, env=env)
        first = json.dumps(model.bodies[0]["messages"])
    assert run.code == 0, run.err
    states = {row["name"]: row["status"] for row in run.of("system", "init")[0]["mcp_servers"]}
    assert states == dict.fromkeys(("new", "old"), "connected") | dict.fromkeys(
        ("gone", "lost", "shy", "wet"), "failed"
    )
    results = [r["message"]["content"][0] for r in run.of("user")]
    assert [(r["content"], r.get("is_error")) for r in results] == [('{"result":"5"}', None)] * 2
    assert "Ask kindly." in first


def test_with_an_air_gap_no_address_is_asked(far: str, home: Path, tmp_path: Path) -> None:
    settings = ("--settings", '{"airGap": true}')
    new = {"type": "http", "url": f"{far}/mcp", "headers": {"X-Word": "please"}}
    with serve([OK]) as model:
        env = environment(home, model.url)
        run = forge("-p", "go", *config(new=new), *settings, *STREAM, cwd=tmp_path, env=env)
    assert run.code == 0, run.err
    rows = run.of("system", "init")[0]["mcp_servers"]
    assert rows == [{"name": "new", "status": "failed", "source": "dynamic"}]


@pytest.mark.requirement("S1-117")
@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
def test_every_server_hears_that_it_may_ask_the_user(kind: str, far: str) -> None:
    env = {"PATH": os.environ["PATH"]}
    address = {
        "type": kind,
        "url": f"{far}/{'mcp' if kind == 'http' else 'sse'}",
        "headers": {"X-Word": "please"},
    }
    config, make, opener = (
        (entry(), launch, open_stdio) if kind == "stdio" else (address, remote, open_remote)
    )

    async def told() -> str:
        async def nobody(question: Question) -> Reply:
            return Reply("cancel")

        server = McpServer(make("srv", config, env, "/"), "dynamic", config, nobody, opener)
        try:
            return plain_text(await server.call("abilities", {}))
        finally:
            await server.close()

    assert json.loads(asyncio.run(told()))["elicitation"] == {"form": {}, "url": {}}
