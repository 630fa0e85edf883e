"""The tool pipeline: decode, check, hooks, permission, run, hooks, bounded result.

Every call gets exactly one result, whatever happens to it; an interrupt ends all calls of the message.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec

from forge.agent.asides.beside import beside_results
from forge.agent.context import CallContext
from forge.agent.done import Done, explained, failure, input_failure
from forge.agent.ending import REJECTED
from forge.agent.event import ToolFinished, ToolStarted
from forge.agent.hooks.results import tell_of_result
from forge.agent.hooks.sites import (
    after_call,
    after_calls,
    as_permitted,
    before_call,
    put_off,
    rewritten,
    take_asides,
)
from forge.agent.lookout import went_elsewhere
from forge.agent.mcp.servers import late_tool
from forge.agent.memory_calls import files_before, memory_of_calls
from forge.agent.order import Order
from forge.agent.permission import Verdict, forbidden, permit
from forge.agent.plugins.diagnostics import show_edits
from forge.agent.reply import with_defaults
from forge.agent.session import Session
from forge.agent.skills.listed import skills_of_calls
from forge.agent.texts.load import text
from forge.agent.toolset import meant, unavailable, unloaded_note, with_schema
from forge.core.message import UNPARSED_INPUT, Block, Text, ToolResult, ToolUse
from forge.core.schema import issues
from forge.core.schema_text import input_error
from forge.core.tool import Action, Tool, ToolError, ToolOutput

log = logging.getLogger("forge.tools")


class Rejected(Exception):
    """The call ends here with this outcome; None if it will be answered another time."""

    def __init__(self, done: Done | None) -> None:
        super().__init__()
        self.done = done


async def run_calls(s: Session, calls: list[ToolUse], *, cut_off: bool = False) -> None:
    """Runs the calls of one reply, side by side if they only look; all results go into one user message."""
    results: dict[str, Done] = {}
    before, memories = files_before(s), list[str]()
    order = Order(s, calls)
    tasks = [order.begin(c.id, _call(s, c, order, results, cut_off=cut_off)) for c in calls]
    try:
        await asyncio.gather(*tasks)
        await show_edits(s, calls, results)
        memories = await memory_of_calls(s, calls, results, before)
        skills_of_calls(s, calls, results)
        await after_calls(s, calls, results)
    except asyncio.CancelledError:
        s.turn.stopped_in_tools = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    finally:
        # In the order they came: so they stand in the transcript, and a resumed request must be the same.
        done = list(results.values())
        blocks: list[Block] = [d.result for d in done]
        blocks += [*(Text(d.note) for d in done if d.note), *map(Text, memories), *take_asides(s)]
        blocks += beside_results(s, [d.result for d in done])
        if blocks:
            s.add_user(blocks)


async def _call(s: Session, call: ToolUse, order: Order, results: dict[str, Done], *, cut_off: bool) -> None:
    given, call = call, with_defaults(s, meant(s, call))
    cancelled: asyncio.CancelledError | None = None
    try:
        await order.turn(call.id)
        done = explained(await _found(s, call, cut_off=cut_off), given)
    except Rejected as rejected:
        if rejected.done is None:
            return
        done = rejected.done
    except asyncio.CancelledError as error:
        cancelled = error
        meta = {"id": call.id, "non_execution_kind": "user-rejected"}
        words = text("interrupted" if call.id in s.turn.begun else "not_run")
        done = Done(ToolResult(call.id, words, True), REJECTED, meta)
    except Exception:  # one call must not end the turn; the traceback is logged
        log.exception("tool %s failed", call.name)
        done = failure(call, f"{call.name} failed unexpectedly; see the debug log.")
    results[call.id] = done
    _finish(s, call, done)
    if cancelled is not None:
        raise cancelled


async def _found(s: Session, call: ToolUse, *, cut_off: bool) -> Done:
    if cut_off and UNPARSED_INPUT in call.input:
        return failure(call, text("cut_off"))
    tool = s.find_tool(call.name) or await late_tool(s, call.name)
    if tool is None:
        return input_failure(call, unavailable(s, call.name))
    return await _pipeline(s, call, tool)


async def _pipeline(s: Session, call: ToolUse, tool: Tool) -> Done:
    s.emit(ToolStarted(call))
    action = tool.load()
    context = CallContext(s, call)
    args = await _checked(call, tool, action, context)
    if action.prepare is not None:
        call = ToolUse(call.id, call.name, action.prepare(call.input, context))
        args = msgspec.convert(call.input, action.args, strict=False)
    before = await before_call(s, ToolUse(call.id, tool.name, call.input))
    if put_off(s, call, before):
        raise Rejected(None)
    if before.updated_input is not None and before.verdict != "deny":
        call, wrong = rewritten(s, call, tool, before.updated_input)
        if wrong is not None:
            return wrong
        args = await _checked(call, tool, action, context)
    verdict = await permit(s, call, tool, before)
    if verdict.refused is not None:
        return verdict.refused
    if verdict.call is not call:
        call, wrong = as_permitted(with_defaults(s, verdict.call), tool)
        if wrong is not None:
            return wrong
        args = await _checked(call, tool, action, context)
    return await _run(s, call, action, args, (context, verdict))


async def _checked(call: ToolUse, tool: Tool, action: Action[Any], context: CallContext) -> Any:
    """The input as the tool's own struct; wrong input ends the call."""
    if UNPARSED_INPUT in call.input:
        raise Rejected(input_failure(call, f"InputValidationError: {text('not_json')}"))
    if not tool.validates and (wrong := issues(tool.schema, call.input)):
        words, data = input_error(tool.name, wrong)
        raise Rejected(input_failure(call, words + unloaded_note(context.session, tool), data))
    try:
        args = msgspec.convert(call.input, action.args, strict=False)
        if action.check is not None:
            await action.check(args, context)
    except msgspec.ValidationError as error:
        raise Rejected(input_failure(call, f"InputValidationError: {error}")) from error
    except ToolError as error:
        words = error.message
        if words.startswith("InputValidationError: "):
            words += unloaded_note(context.session, tool)
        data = error.message if words != error.message and error.data is None else error.data
        raise Rejected(forbidden(context.session, call) or input_failure(call, words, data)) from error
    if refusal := forbidden(context.session, call):
        raise Rejected(refusal)
    return args


async def _run(
    s: Session, call: ToolUse, action: Action[Any], args: Any, by: tuple[CallContext, Verdict]
) -> Done:
    context, verdict = by
    started, before = s.parts.clock(), s.situation.cwd
    s.turn.begun.add(call.id)
    try:
        output: ToolOutput = await action.run(args, context)
    except ToolError as error:
        data = error.data if error.data is not None else f"Error: {error.message}"
        done = Done(ToolResult(call.id, context.bounded(error.message), True), data, verdict.meta)
    else:
        content = context.bounded(output.content) if isinstance(output.content, str) else output.content
        content = content if content != [] else f"({call.name} completed with no output)"
        result = ToolResult(call.id, content, output.is_error)
        done = Done(result, output.data, verdict.meta, output.note)
    if call.name == "Bash":
        await went_elsewhere(s, before, context.went)
    done = await after_call(s, call, done, (s.parts.clock() - started) * 1000)
    return with_schema(s, call, done)


def _finish(s: Session, call: ToolUse, done: Done) -> None:
    uuid = s.parts.new_id()
    decision = (done.meta or {}).get("permission_decision")
    facts = {"permissionDecision": decision} if decision else {}
    s.recorder.result(uuid, done.result, done.data, **facts)
    tell_of_result(s, call.id)
    s.turn.user_events += 1
    s.emit(ToolFinished(uuid, call, done.result, done.data, done.meta))
