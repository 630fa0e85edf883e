"""The permission question to a tool of an MCP server: --permission-prompt-tool."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.host import Answer, AskPermission, Refuse
from forge.agent.mcp.servers import Servers
from forge.agent.session import Session
from forge.core.mcp.port import Unavailable
from forge.core.mcp.results import is_error, plain_text
from forge.foundation.encode import NOT_JSON
from forge.hosts.control_question import INVALID, read_answer


async def ask_tool(s: Session, name: str, question: AskPermission) -> Answer:
    """What the tool says to a call; whatever is not a permission is a refusal."""
    call = question.call
    try:
        result = await _called(s, name, question)
    except (Unavailable, TimeoutError) as error:
        return _failed(call.name, str(error) or "it did not answer in time")
    words = plain_text(result)
    if is_error(result):
        return _failed(call.name, words)
    try:
        answer = read_answer(msgspec.json.decode(words, type=dict[str, Any]))
    except NOT_JSON:
        answer = Refuse(INVALID)
    if isinstance(answer, Refuse) and answer.message == INVALID:
        return Refuse(INVALID.replace("canUseTool callback", "permission prompt tool"))
    return answer


async def _called(s: Session, name: str, question: AskPermission) -> dict[str, Any]:
    """The tool's result; it is not one of the model's own, so it is looked for among all."""
    tool, mine = s.parts.tools.get(name), s.keep(Servers)
    remote = tool.remote if tool is not None else None
    server = next((each for each in mine.all if remote is not None and each.name == remote.server), None)
    if server is None or remote is None:
        known = ", ".join(c.name for c in s.parts.tools if c.value.remote is not None) or "none"
        raise Unavailable(
            f"Error: MCP tool {name} (passed via --permission-prompt-tool) not found."
            f" Available MCP tools: {known}"
        )
    call = question.call
    given = {"tool_name": call.name, "input": call.input, "tool_use_id": call.id}
    return await server.call(remote.tool, given, call.id)


def _failed(tool: str, why: str) -> Refuse:
    return Refuse(f"<tool_use_error>Error calling tool ({tool}): {why}</tool_use_error>")
