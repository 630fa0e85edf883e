"""The control channel: what Forge asks the CLI and what it answers, as lines of JSON on stdin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.core.message import Block, Text

Line = dict[str, Any]

SERVER = "forge"
_HOOK = "forge-call"


def initialize(request_id: str, system: Sequence[str], *, server: bool) -> Line:
    """The first request: every call is asked about, and `server` is where Forge's own tools are."""
    hooks = {"PreToolUse": [{"matcher": None, "hookCallbackIds": [_HOOK]}]}
    request: Line = {"subtype": "initialize", "hooks": hooks, "systemPrompt": list(system)}
    if server:
        request["sdkMcpServers"] = [SERVER]
    return {"type": "control_request", "request_id": request_id, "request": request}


def user_line(content: Sequence[Block], *, query: bool = True) -> Line:
    """A message of the user, taken as it is: neither commands nor file names in it mean anything."""
    message = {"role": "user", "content": [_no_command(block) for block in content]}
    line: Line = {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""}
    line["client_composed"] = True
    if not query:
        line["shouldQuery"] = False
    return line


def _no_command(block: Block) -> Block:
    """Versions that do not know `client_composed` take a text for a command unless a blank precedes it."""
    return Text(f" {block.text}") if isinstance(block, Text) and block.text.startswith("/") else block


def assistant_line(message: Line) -> Line:
    """A reply of the past, which is only stored."""
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": ""}


def success(request_id: str, response: Line) -> Line:
    """The answer to a request of the CLI."""
    told = {"subtype": "success", "request_id": request_id, "response": response}
    return {"type": "control_response", "response": told}


def refusal(request_id: str, words: str) -> Line:
    """The answer to a request nobody here understands."""
    told = {"subtype": "error", "request_id": request_id, "error": words}
    return {"type": "control_response", "response": told}


def hook_answer(decision: str) -> Line:
    """What a hook says of a call: ask or defer."""
    output = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": output}
