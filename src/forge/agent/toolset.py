"""Which tools a run has, which of them a request carries, and what the model is told about the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.done import Done
from forge.agent.mcp.servers import Servers
from forge.agent.planning import prepare_plan
from forge.agent.session import Reminder, Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.structured import NAME as STRUCTURED
from forge.agent.team.crew import Crew, Seat
from forge.agent.texts.load import text
from forge.core.job import background_allowed
from forge.core.message import Message, ToolResult, ToolUse
from forge.core.model import ModelCard
from forge.core.reminder import reminder
from forge.core.search import Searcher
from forge.core.shelf import Shelf
from forge.core.tool import Tool
from forge.core.tools.builtin import ROWS

SEARCH = "ToolSearch"
DEFERRED = "deferred_tools"
_TASKS = frozenset({"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"})
_BACKGROUND = "run_in_background"
# Search tools are not always offered; the shell has their work done by programs.
_IN_THE_SHELL = {
    "Grep": "search file contents with `grep` via the Bash tool",
    "Glob": "find files with `find` via the Bash tool",
}
_AS_TEXT = frozenset({"Brief", "SendUserMessage"})
# Tools of other programs and hosts that models know.
_ELSEWHERE = frozenset({"LSP", "PushNotification", "RemoteTrigger"})
_NOT_FOR_AGENTS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ScheduleWakeup"})
_OFF = ("0", "false", "no", "off")


class Circumstances(msgspec.Struct, frozen=True):
    """What decides whether a tool makes sense in a run. `answers`: somebody can be asked.

    `guarded`: the run has the tools of the guarded shell.
    """

    card: ModelCard
    env: Mapping[str, str]
    setting: Callable[[str, Any], Any]
    answers: bool
    guarded: bool = False


def absence(tool: Tool, c: Circumstances) -> str:
    """Why a run does not have this tool; empty if it has it."""
    if tool.needs_host and not c.answers:
        return "nobody can answer questions in this run"
    if tool.name == SEARCH and not defers(c.card, c.env):
        return "all tools are sent at once (ENABLE_TOOL_SEARCH)"
    if tool.name == "WebSearch" and not c.card.web_search:
        return _no_search(c)
    if tool.name == "Monitor" and not background_allowed(c.env):
        return "nothing goes on in the background (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS)"
    if tool.name in _TASKS or tool.name == "TodoWrite":
        return _no_list(tool.name, c)
    return ""


def fitted(tool: Tool, c: Circumstances) -> Tool:
    """The tool as a run has it: without what the circumstances rule out."""
    properties = tool.schema.get("properties", {})
    if background_allowed(c.env) or _BACKGROUND not in properties:
        return tool
    kept = {name: schema for name, schema in properties.items() if name != _BACKGROUND}
    return msgspec.structs.replace(tool, schema={**tool.schema, "properties": kept})


def defers(card: ModelCard, env: Mapping[str, str]) -> bool:
    """Whether schemas of rarely used tools are left out until the model asks for them."""
    wanted = env.get("ENABLE_TOOL_SEARCH", "true").lower() not in _OFF
    return wanted and card.provider == "anthropic" and not card.id.startswith("claude-3")


def sent(tools: list[Tool], loaded: set[str]) -> list[Tool]:
    """The tools a request carries: all that are not deferred, and those the model has loaded."""
    if not any(tool.name == SEARCH for tool in tools):
        return tools
    return [tool for tool in tools if not tool.deferred or tool.name in loaded]


def sent_now(s: Session) -> list[Tool]:
    """The tools of the next request of a session."""
    tools = s.tools()
    if not defers(s.model.card, s.parts.env):
        return [tool for tool in tools if tool.name != SEARCH]
    shelf = s.keep(Shelf)
    shelf.tools = s.tools
    if not shelf.looked_back:
        shelf.loaded |= discovered(s.messages)
        shelf.looked_back = True
    return sent(tools, shelf.loaded)


def meant(s: Session, call: ToolUse) -> ToolUse:
    """The call with the name of the tool the host wants it to go to."""
    name = s.keep(Ecosystem).tool_names.get(call.name)
    return call if name is None else ToolUse(call.id, name, call.input)


def discovered(messages: list[Message]) -> set[str]:
    """The tools that were loaded earlier in a conversation."""
    results = [b for m in messages for b in m.blocks if isinstance(b, ToolResult)]
    inner = [b for result in results if not isinstance(result.content, str) for b in result.content]
    return {
        str(b.get("tool_name")) for b in inner if isinstance(b, dict) and b.get("type") == "tool_reference"
    }


def unloaded_note(s: Session, tool: Tool) -> str:
    """What a wrong call of a tool that was never loaded adds to its error; empty for others."""
    if any(t.name == tool.name for t in sent_now(s)):
        return ""
    schema = msgspec.json.encode(tool.schema).decode()
    return "\n\n" + text("not_loaded").replace("{name}", tool.name).replace("{schema}", schema)


def with_schema(s: Session, call: ToolUse, done: Done) -> Done:
    """A tool of a server that was never loaded: the first call it objects to gets its schema along."""
    servers, tool, said = s.keep(Servers), s.find_tool(call.name), done.result.content
    objected = call.id in servers.objections and call.name not in servers.explained
    servers.objections.discard(call.id)
    if not objected or not isinstance(said, str) or tool is None:
        return done
    servers.explained.add(call.name)
    result = ToolResult(call.id, said + unloaded_note(s, tool), True)
    return msgspec.structs.replace(done, result=result)


def unavailable(s: Session, name: str) -> str:
    """Why a call of a tool the session does not have fails, and what to do instead."""
    words = f"Error: No such tool available: {name}"
    near = [tool.name for tool in s.tools() if tool.name.lower() == name.lower()]
    if near:
        return f"{words}. Tool names are case-sensitive: call {near[0]} instead."
    why = _why_unavailable(s, name)
    return f"{words}. {name} {why}" if why else words


def _why_unavailable(s: Session, name: str) -> str:
    """The sentence about a tool that exists elsewhere, without its name; empty if there is no such tool."""
    if name in _AS_TEXT:
        return "is not enabled in this session — write your message as normal assistant text instead."
    known = {row.name for row in ROWS} | _ELSEWHERE | {tool.name for tool in s.parts.tools}
    if name.startswith(("mcp__", STRUCTURED)) or name not in known:
        return ""
    if name in _IN_THE_SHELL and s.find_tool("Bash") is not None:
        return f"is not available in this session — {_IN_THE_SHELL[name]} instead."
    seat = s.keep(Seat)
    if seat.depth and name in _NOT_FOR_AGENTS:
        return (
            "is not available inside subagents. Complete the task with the tools provided and return "
            "findings to the orchestrator."
        )
    root = seat.root or s
    if (seat.depth and name in {tool.name for tool in s.parts.tools}) or root.keep(Crew).spare >= {name}:
        return "is not among the tools available here. Continue with the tools you have."
    return "is disabled for this session, in subagents as well as here."


def equip(s: Session) -> None:
    """Gives the tools of a session what they need of it, and the model what it must hear about them first."""
    prepare_plan(s)
    s.keep(Searcher).ask = lambda query, how: import_module("forge.agent.searching").search(s, query, how)
    tell_held_back(s)


def tell_held_back(s: Session) -> None:
    """Names the tools whose schemas are left out in front of the first prompt."""
    put_first(s, DEFERRED, held_back(s))


def put_first(s: Session, kind: str, words: str) -> None:
    """A reminder in front of the conversation, in the place of one of its kind; none without words."""
    known = [Reminder(kind, reminder(words))] if words else []
    s.standing = [*(r for r in s.standing if r.kind != kind), *known]
    if not s.messages:
        s.reminders = [*(r for r in s.reminders if r.kind != kind), *known]


def held_back(s: Session) -> str:
    """What the model hears about tools it gets without their schemas; empty if there are none."""
    carried = sent_now(s)
    names = [tool.name for tool in s.tools() if tool.deferred and tool not in carried]
    return "\n".join([text("deferred_tools"), *names]) if names else ""


def _no_search(c: Circumstances) -> str:
    """Why nobody can search the web if the model's provider does not; empty if somebody can."""
    unable = "the model's provider does not search the web"
    if c.setting("airGap", False):
        return f"{unable}, and airGap keeps Forge from asking anybody else"
    chosen = c.setting("webSearch", None)
    if not isinstance(chosen, dict) or not chosen.get("endpoint"):
        return f"{unable}, and there is no search endpoint (webSearch.endpoint in the settings)"
    return ""


def _no_list(name: str, c: Circumstances) -> str:
    if c.setting("todoFeatureEnabled", True) is False:
        return "task lists are switched off (todoFeatureEnabled in the settings)"
    legacy = c.env.get("CLAUDE_CODE_ENABLE_TASKS", "1").lower() in ("0", "false")
    if name == "TodoWrite" and not legacy:
        return "the Task tools take its place (CLAUDE_CODE_ENABLE_TASKS=0 brings it back)"
    if name != "TodoWrite" and legacy:
        return "TodoWrite takes its place (CLAUDE_CODE_ENABLE_TASKS=0)"
    return ""
