"""What the tool pipeline and the loop do with the answers of hooks: tell the model, rewrite, end the turn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.done import Done, failure, input_failure
from forge.agent.event import Denial, HookSaid, Noted, TitleChanged
from forge.agent.hooks.port import Outcome, Told
from forge.agent.hooks.state import HookState
from forge.agent.session import Session
from forge.agent.team.crew import Seat
from forge.core.message import Aside, Block, Text, ToolResult, ToolUse, decode_blocks
from forge.core.schema import issues
from forge.core.schema_text import input_error
from forge.core.tool import Tool
from forge.foundation.encode import dumps
from forge.foundation.permissions.places import resolve
from forge.foundation.permissions.situation import Decision

STOPPED = "hook_stopped_continuation"
DEFERRED_TOOL = "hook_deferred_tool"
RETRY = "The PermissionDenied hook indicated you may retry this tool call."


def tell(s: Session, told: list[Told], result_of: str = "") -> None:
    """Writes texts for the model down; they reach it with the results of the calls under way."""
    for each in told:
        s.recorder.reminder(each.kind, each.text, each.facts, aside=True)
        s.turn.asides.append(Aside(each.text, result_of))


def take_asides(s: Session) -> list[Block]:
    """What has been told since the last message of the user."""
    taken, s.turn.asides = s.turn.asides, []
    return taken


def tell_now(s: Session, told: list[Told]) -> None:
    """Puts texts for the model into the history at once."""
    tell(s, told)
    if asides := take_asides(s):
        s.add_user(asides)


def hook_input(s: Session, call: ToolUse) -> dict[str, Any]:
    """The input as hooks see it: in the order of the tool's schema, with absolute file names."""
    tool = s.find_tool(call.name)
    order = [key for key in (tool.schema.get("properties") or () if tool else ()) if key in call.input]
    given = {key: call.input[key] for key in [*order, *call.input]}
    for field in ("file_path", "notebook_path"):
        path = given.get(field)
        if isinstance(path, str) and path and not os.path.isabs(path):
            given[field] = resolve(path, s.situation)
    return given


async def before_call(s: Session, call: ToolUse) -> Outcome:
    """PreToolUse: what hooks say to a call; one that ends the turn lets this call run first."""
    if call.name in ("TaskCreate", "TaskUpdate"):
        _watch_tasks(s)
    outcome = await s.hooks.fire(
        "PreToolUse",
        tool_name=call.name,
        tool_input=hook_input(s, call),
        tool_use_id=call.id,
        **server_of(s, call),
    )
    # That the turn ends is told when the call has its result.
    s.keep(HookState).ends += [told for told in outcome.told if told.kind == STOPPED]
    tell(s, [told for told in outcome.told if told.kind != STOPPED])
    if outcome.end_turn:
        s.turn.end_after_calls = True
    return outcome


def suggestions(s: Session, decision: Decision) -> dict[str, Any]:
    """What hooks hear of the changes that would spare the question.

    Where nobody is asked, a rule for the very command is not one of them if its path is what matters.
    """
    means = getattr(getattr(s.hooks, "outer", s.hooks), "means", None)
    found = decision.suggestions
    if decision.blocked_path and not (means and means.asks):
        found = [one for one in found if one.get("destination") != "localSettings"]
    return {"permission_suggestions": found} if found else {}


def put_off(s: Session, call: ToolUse, outcome: Outcome) -> bool:
    """Whether a call waits for another run of the program; sub-agents cannot wait."""
    if outcome.verdict != "defer" or s.keep(Seat).depth:
        return False
    s.turn.deferred = {"id": call.id, "name": call.name, "input": call.input}
    about = {"toolUseID": call.id, "toolName": call.name, "toolInput": call.input}
    s.recorder.attach({"type": DEFERRED_TOOL, **about, "hookName": "settings", "hookEvent": "PreToolUse"})
    return True


def rewritten(
    s: Session, call: ToolUse, tool: Tool, given: dict[str, Any], event: str = "PreToolUse"
) -> tuple[ToolUse, Done | None]:
    """The call with the input a hook wants, or the result that says what is wrong with that input."""
    call, problem = _fitted(call, tool, given)
    if not problem:
        return call, None
    s.turn.denials.append(Denial(call.name, call.id, given))
    return call, failure(
        call,
        f"{event} hook for {tool.name} returned updatedInput that failed schema validation: {problem}\n"
        "The tool input from the model was valid; the hook has to be corrected.",
    )


def as_permitted(call: ToolUse, tool: Tool) -> tuple[ToolUse, Done | None]:
    """The call with the input whoever was asked wants, or the result that says what is wrong with it."""
    call, problem = _fitted(call, tool, call.input)
    if not problem:
        return call, None
    words = f"The permission handler returned updatedInput for {tool.name} that failed schema validation:"
    return call, input_failure(
        call,
        f"{words} {problem}\nThe tool input from the model was valid; whoever answers the permission question"
        " has to be corrected.",
        f"InputValidationError: permission handler updatedInput failed schema for {tool.name}",
    )


def _fitted(call: ToolUse, tool: Tool, given: dict[str, Any]) -> tuple[ToolUse, str]:
    """The call with that input, without what the tool does not know, and what is wrong with the rest."""
    found = [] if tool.validates else issues(tool.schema, given)
    unknown = {key for issue in found if not issue.path for key in issue.keys}
    wrong = [issue for issue in found if not issue.keys]
    call = ToolUse(call.id, call.name, {k: v for k, v in given.items() if k not in unknown})
    return call, input_error(tool.name, wrong)[0].removeprefix("InputValidationError: ") if wrong else ""


async def after_call(s: Session, call: ToolUse, done: Done, took_ms: float) -> Done:
    """PostToolUse or PostToolUseFailure: the result, perhaps another one."""
    facts: dict[str, Any] = {"tool_name": call.name, "tool_input": hook_input(s, call)}
    facts["tool_use_id"] = call.id
    facts |= {"duration_ms": round(took_ms), **server_of(s, call)}
    if done.result.is_error:
        error = _text(done.result)
        outcome = await s.hooks.fire("PostToolUseFailure", **facts, error=error, is_interrupt=False)
    else:
        outcome = await s.hooks.fire("PostToolUse", **facts, tool_response=done.data)
    s.keep(HookState).of_results[call.id] = outcome.told
    if outcome.end_turn:
        s.turn.end_after_calls = True
    return _replaced(call, done, outcome.tool_output)


async def after_calls(s: Session, calls: list[ToolUse], results: Mapping[str, Done]) -> None:
    """PostToolBatch: all calls of a reply have their results."""
    rows = [
        {
            "tool_name": call.name,
            "tool_input": call.input,
            "tool_use_id": call.id,
            "tool_response": results[call.id].result.content,
        }
        for call in calls
        if call.id in results
    ]
    outcome = await s.hooks.fire("PostToolBatch", tool_calls=rows)
    state = s.keep(HookState)
    ends, state.ends = state.ends, []
    tell(s, [*outcome.told, *ends])
    if outcome.end_turn or outcome.blocks:
        s.turn.end_after_calls = True


async def refused_call(s: Session, call: ToolUse, reason: str) -> None:
    """PermissionDenied: a call was refused without anybody having been asked; a hook may allow a retry."""
    outcome = await s.hooks.fire(
        "PermissionDenied",
        tool_name=call.name,
        tool_input=call.input,
        tool_use_id=call.id,
        reason=reason,
        **server_of(s, call),
    )
    if outcome.retry:
        uuid = s.parts.new_id()
        s.recorder.prompt(uuid, [Text(RETRY)], isMeta=True)
        s.turn.asides.append(Text(RETRY))
        s.turn.user_events += 1
        s.emit(Noted(uuid, RETRY))


def tell_unchecked(s: Session) -> None:
    """Tells the user once that auto mode has no check here and refuses what would need one."""
    state = s.keep(HookState)
    if state.told_unchecked:
        return
    state.told_unchecked = True
    through = s.parts.env.get("ANTHROPIC_BASE_URL", "").partition("://")[2].partition("/")[0]
    why = f", and your requests go through {through}, which doesn't pass it through" if through else ""
    words = (
        f"Auto mode can't check actions in this session. Its safety check runs on the server{why}."
        " Nobody can be asked to approve actions, so those that need it are denied."
    )
    s.emit(HookSaid(words, "warning", {"isMeta": False, "tag": "auto_mode_no_server_check"}))


async def notify(s: Session, kind: str, message: str) -> None:
    """Notification: Forge wants somebody's attention."""
    await s.hooks.fire("Notification", message=message, notification_type=kind)


async def displayed(s: Session, block: Block) -> Block:
    """MessageDisplay: a text of the model as it is shown, which is not always what it said."""
    if not isinstance(block, Text) or not block.text:
        return block
    outcome = await s.hooks.fire(
        "MessageDisplay",
        turn_id=s.keep(HookState).prompt_id,
        message_id=s.parts.new_id(),
        index=0,
        final=True,
        delta=block.text,
    )
    s.turn.display = outcome.display
    return block if outcome.display is None else Text(outcome.display)


def late_texts(s: Session) -> None:
    """What hooks in the background have said reaches the model with the next request."""
    take = getattr(s.hooks, "take_late", None)
    texts = take() if take is not None else []
    if texts:
        tell_now(s, [Told("async_hook_response", text) for text in texts])


def give_title(s: Session, title: str) -> None:
    """The title a hook has chosen."""
    if title:
        s.recorder.side("custom-title", customTitle=title)
        s.emit(TitleChanged(title))


def server_of(s: Session, call: ToolUse) -> dict[str, Any]:
    """Where a tool of an MCP server comes from."""
    tool = s.find_tool(call.name)
    remote = tool.remote if tool is not None else None
    return {"mcp_server": {"name": remote.server, "source": remote.source}} if remote is not None else {}


def _text(result: ToolResult) -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(b.text for b in result.content if isinstance(b, Text))


def _replaced(call: ToolUse, done: Done, given: Any) -> Done:
    """The result a hook wants instead; one that does not fit the tool is ignored."""
    if given is msgspec.UNSET or given is None or not _fits(call, done, given):
        return done
    result = ToolResult(call.id, _rendered(call.name, given), done.result.is_error)
    return msgspec.structs.replace(done, result=result, data=given)


def _rendered(name: str, given: Any) -> str | list[Block]:
    """A structured result as the model reads it."""
    if isinstance(given, list) and given and all(isinstance(part, dict) and "type" in part for part in given):
        return decode_blocks(given)
    if name == "Bash":
        return "\n".join(str(given[key]) for key in ("stdout", "stderr") if given[key])
    file = given.get("file") if name == "Read" and isinstance(given, dict) else None
    if isinstance(file, dict) and isinstance(file.get("content"), str):
        first = file.get("startLine")
        lines = enumerate(file["content"].split("\n"), first if isinstance(first, int) else 1)
        return "\n".join(f"{number}\t{line}" for number, line in lines)
    return given if isinstance(given, str) else dumps(given).decode()


def _fits(call: ToolUse, done: Done, given: Any) -> bool:
    if call.name.startswith("mcp__"):
        return True
    shape = msgspec.to_builtins(done.data) if isinstance(done.data, msgspec.Struct) else done.data
    if not isinstance(given, dict) or not isinstance(shape, dict):
        return False
    return set(_REQUIRED.get(call.name, shape)) <= set(given)


_REQUIRED = {"Bash": ("stdout", "stderr", "interrupted")}


def _watch_tasks(s: Session) -> None:
    """Tasks tell hooks before they are put on the list or taken off it."""
    watch = s.keep(import_module("forge.core.tools.tasks").TaskWatch)

    async def object_to(event: str, task: Any) -> str:
        outcome = await s.hooks.fire(
            event, task_id=task.id, task_subject=task.subject, task_description=task.description
        )
        return "\n".join(f"{event} hook feedback:\n{block.text}" for block in outcome.blocks).rstrip()

    watch.object_to = object_to
