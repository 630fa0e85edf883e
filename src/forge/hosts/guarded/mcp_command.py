"""`forgecmd mcp`: the guarded shell as an MCP server on standard input and output."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.jsonrpc import METHOD_NOT_FOUND, LineFraming, Peer, Refusal, Streams
from forge.foundation.redact import redact
from forge.hosts.guarded.ground import open_ground
from forge.hosts.guarded.mcp_shell import Shell, ToolFailure
from forge.hosts.guarded.options import VALUE, directory, read_options
from forge.hosts.guarded.permission import Asking, Choice, Question
from forge.version import VERSION

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_INVALID = -32602
_LONGEST_MESSAGE = 64 << 20
_PATIENCE = 600.0
_INSTRUCTIONS = (
    "A guarded shell. `run` for commands; `start`, `send`, `screen`, `wait`, `stop` for programs that want "
    "somebody at the keyboard; `output` and `history` for what ran before. A refusal names the part in "
    "question, the reason and a safer way: take that way, another form of the same command is refused too."
)


def command(argv: list[str], env: Mapping[str, str]) -> int:
    """Serves until the client goes, and returns the exit code."""
    given = read_options(argv[1:], {"cwd": VALUE})
    if not _is_stream(0) or not _is_stream(1):
        raise UsageError("mcp is started by an agent, with pipes as standard input and output")
    asyncio.run(_serve(directory(given), env))
    return 0


def _is_stream(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _serve(cwd: str, env: Mapping[str, str]) -> None:
    ground = await open_ground(env, cwd)
    server = Server(Shell(ground, cwd))
    peer = Peer(await _streams(), LineFraming(), server.answer, server.notice)
    server.peer = peer
    try:
        await peer.serve()
    finally:
        await server.shell.close()
        ground.close()


async def _streams() -> Streams:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_MESSAGE)
    inward, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(0), "rb", buffering=0)
    )
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    outward, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, out)
    return Streams(reader, inward, outward)


class Server:
    """One client's conversation."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.peer: Peer | None = None
        self.shell.ground.agent = "mcp"

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request; Refusal if there is no such method."""
        given = params if isinstance(params, dict) else {}
        if method == "initialize":
            return self._initialized(given)
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": tool_list()}
        if method == "tools/call":
            return await self._called(given)
        raise Refusal(f"Method not found: {method}", METHOD_NOT_FOUND)

    def notice(self, method: str, params: Any) -> None:
        """A client that gives up a call ends what it has started."""
        number = params.get("requestId") if isinstance(params, dict) else None
        if method == "notifications/cancelled" and isinstance(number, int | str) and self.peer is not None:
            self.peer.abandon(number)

    def _initialized(self, given: dict[str, Any]) -> dict[str, Any]:
        capabilities = given.get("capabilities")
        if isinstance(capabilities, dict) and isinstance(capabilities.get("elicitation"), dict):
            self.shell.ask = self._asking()
        client = given.get("clientInfo")
        if isinstance(client, dict) and isinstance(client.get("name"), str):
            self.shell.ground.agent = client["name"][:80]
        wanted = given.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "forgecmd", "title": "forgecmd: a guarded shell", "version": VERSION},
            "instructions": _INSTRUCTIONS,
        }

    async def _called(self, given: dict[str, Any]) -> dict[str, Any]:
        name = given.get("name")
        if not isinstance(name, str) or name not in {tool["name"] for tool in tool_list()}:
            raise Refusal(f"Unknown tool: {name}", _INVALID)
        try:
            text, failed = await self.shell.call(name, given.get("arguments") or {})
        except ToolFailure as failure:
            text, failed = str(failure), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}

    def _asking(self) -> Asking:
        async def ask(question: Question) -> Choice:
            offered = [choice for choice in question.choices if choice is not Choice.ALWAYS]
            if self.peer is None:
                return Choice.NO
            answer = {"type": "string", "title": "Run it?", "enum": [str(choice) for choice in offered]}
            schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
            asked = {"message": _message(question), "requestedSchema": schema}
            try:
                said = await self.peer.request("elicitation/create", asked, seconds=_PATIENCE)
            except (Refusal, TimeoutError):
                return Choice.NO
            return _chosen(said, offered)

        return ask


def _chosen(said: Any, offered: Sequence[Choice]) -> Choice:
    content = said.get("content") if isinstance(said, dict) and said.get("action") == "accept" else None
    word = content.get("answer") if isinstance(content, dict) else None
    return next((choice for choice in offered if word == choice), Choice.NO)


def _message(question: Question) -> str:
    verdict, decision = question.verdict, question.decision
    safer = decision.finding.safer if decision.finding is not None else ""
    lines = [
        f"An agent wants to run: {redact(question.command)}",
        f"{verdict.category}, risk {verdict.risk} of 10: {decision.reason}.",
        f"Safer: {safer}" if safer else "",
    ]
    return "\n".join(line for line in lines if line)


def tool_list() -> list[dict[str, Any]]:
    """The tools with names, descriptions and schemas."""
    raw = resources.files(__package__).joinpath("mcp_tools.json").read_bytes()
    found: list[dict[str, Any]] = msgspec.json.decode(raw)
    return found
