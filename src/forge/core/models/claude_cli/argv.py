"""The command line of the CLI for one conversation, as far as its version knows the flags."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from forge.core.model import Options
from forge.core.models.claude_cli.capabilities import Abilities

# Tools of the CLI that leave nothing open: others wait for its terminal, wake it later or move it.
_CONTAINED = (
    *("Agent", "Task", "Bash", "Edit", "Glob", "Grep", "LSP", "MultiEdit", "NotebookEdit", "Read", "Skill"),
    *("TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite", "WebFetch", "WebSearch", "Write"),
)
_DISPLAYS = ("summarized", "omitted", "highlights")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


class Start(msgspec.Struct, frozen=True):
    """How to start. `tools` are those of the CLI it may use, None for none; `history` is a transcript.

    `schema` is what a value it has to hand over must look like.
    """

    model: str
    options: Options
    tools: Sequence[str] | None = None
    history: str = ""
    folders: Sequence[str] = ()
    schema: str = ""


def arguments(start: Start, can: Abilities) -> list[str]:
    """The arguments after the program's name; prompts and the tools of Forge go through stdin."""
    flags = ["-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
    if can.partial:
        flags.append("--include-partial-messages")
    flags += ["--model", start.model, "--permission-prompt-tool", "stdio"]
    if can.isolated:
        # The user's settings of the CLI are not asked: tools, hooks and permissions are Forge's.
        flags += ["--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"]
        flags += ["--no-session-persistence", "--tools", ",".join(_offered(start.tools))]
    for folder in start.folders:
        flags += ["--add-dir", folder]
    if can.wishes:
        flags += _wishes(start.options)
    if start.schema:
        flags += ["--json-schema", start.schema]
    if start.history:
        flags += ["--resume", start.history]
    return flags


def _offered(tools: Sequence[str] | None) -> list[str]:
    return [name for name in tools or () if name in _CONTAINED]


def _wishes(options: Options) -> list[str]:
    flags: list[str] = []
    if options.effort in _EFFORTS:
        flags += ["--effort", options.effort]
    if options.thinking:
        flags += ["--thinking", options.thinking]
    if options.thinking_budget and options.thinking == "enabled":
        flags += ["--max-thinking-tokens", str(options.thinking_budget)]
    if options.thinking_display in _DISPLAYS:
        flags += ["--thinking-display", options.thinking_display]
    return flags
