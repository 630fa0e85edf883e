"""A kind of sub-agent, wherever it was defined."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.components.kinds import PluginRoot


class AgentType(msgspec.Struct, frozen=True, rename="camel"):
    """A kind of sub-agent. `tools` None or `*` means all; `text` names the file of a built-in prompt.

    `model` is empty or `inherit` for the model of whoever starts it.
    """

    name: str
    description: str
    prompt: str = ""
    tools: list[str] | None = None
    disallowed_tools: list[str] = []
    model: str = ""
    effort: str = ""
    permission_mode: str = ""
    max_turns: int | None = None
    skills: list[str] = []
    mcp_servers: list[Any] = []
    hooks: dict[str, Any] = {}
    memory: str = ""
    background: bool = False
    isolation: str = ""
    omit_claude_md: bool = False
    color: str = ""
    initial_prompt: str = ""
    text: str = ""
    plugin: PluginRoot | None = None
