from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.agent.event import HookEnded
from forge.agent.hooks.port import Outcome
from unit.agent.hooks.making import engine, seated, specific

DENY = json.dumps(specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"))
CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1"}


async def posted(
    cwd: Path, status: int, body: str, *, gap: bool = False, **means: Any
) -> tuple[Outcome, list[str]]:
    """Fires an event at a hook on loopback; the outcome and what arrived there. Hosts hear of the status."""
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = int(next(line for line in head.splitlines() if line.lower().startswith("content-length"))[15:])
        seen.extend([head, (await reader.readexactly(size)).decode()])
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/h"
    handler = {
        "type": "http",
        "url": url,
        "headers": {"X-T": "a-$ONE-${TWO}-$NO"},
        "allowedEnvVars": ["ONE", "TWO"],
    }
    made = engine({"PreToolUse": [{"hooks": [handler]}]}, **means)
    s, host = seated(made, str(cwd))
    env = {"ONE": "1", "TWO": "2", "NO": "3"}
    s.parts = msgspec.structs.replace(s.parts, env=env, setting=lambda key, default: {"airGap": gap}.get(key))
    outcome = await made.fire("PreToolUse", **CALL)
    server.close()
    assert [e.exit_code for e in host.of(HookEnded)] == [status if seen else 1]
    return outcome, seen


@pytest.mark.requirement("S1-30", "S1-26")
def test_the_payload_is_posted_and_the_answer_read_like_stdout(tmp_path: Path) -> None:
    outcome, (head, body) = asyncio.run(posted(tmp_path, 200, DENY))
    assert (outcome.verdict, outcome.reason) == ("deny", "no")
    assert json.loads(body)["tool_name"] == "Bash"
    assert head.startswith("POST /h HTTP/1.1\r\n")
    assert "x-t: a-1-2-\r\n" in head.lower()


@pytest.mark.parametrize(("status", "body"), [(500, DENY), (200, "plain"), (200, '{"decision": "maybe"}')])
def test_a_status_alone_or_plain_text_neither_blocks_nor_tells(
    status: int, body: str, tmp_path: Path
) -> None:
    outcome, _ = asyncio.run(posted(tmp_path, status, body))
    assert (outcome.verdict, outcome.told, outcome.errors) == ("", [], 1)


def test_an_empty_answer_is_no_opinion(tmp_path: Path) -> None:
    outcome, _ = asyncio.run(posted(tmp_path, 204, ""))
    assert (outcome.verdict, outcome.errors) == ("", 0)


def test_addresses_that_are_not_allowed_are_not_called(tmp_path: Path) -> None:
    outcome, seen = asyncio.run(posted(tmp_path, 200, DENY, allowed_urls=["https://x.example/*"]))
    assert (outcome.verdict, outcome.errors, seen) == ("", 1, [])
    allowed, _ = asyncio.run(posted(tmp_path, 200, DENY, allowed_urls=["http://127.0.0.1:*"]))
    assert allowed.verdict == "deny"


def test_behind_an_air_gap_no_address_is_called(tmp_path: Path) -> None:
    outcome, seen = asyncio.run(posted(tmp_path, 200, DENY, gap=True))
    assert (outcome.verdict, outcome.errors, seen) == ("", 1, [])
