"""`user` lines: results of calls, the prompts of sub-agents, and notes the CLI writes to the model."""

from __future__ import annotations

from forge.core.models.claude_cli.changes import Answered, Notice
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.threads import describe, thread_of
from forge.core.models.claude_cli.values import blocks_of, object_of, objects_of, text_of

INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")

_NOT_ALLOWED = ("user-rejected", "permission-rule")


def take_user(run: Run, line: Event) -> None:
    """Maps one line of the user's side; an echo of what the host itself has sent is nothing new."""
    if line.get("isReplay") is True:
        return
    blocks = blocks_of(object_of(line, "message"))
    for block in blocks:
        if block.get("type") == "tool_result":
            answer(run, block, line)
    text = "\n".join(text_of(block, "text") for block in blocks if block.get("type") == "text")
    thread = thread_of(run, line)
    if thread is not run.main:
        describe(thread, "", "", "" if line.get("isSynthetic") is True else text)
    elif text in INTERRUPTED:
        run.interrupted = True
        run.changes.append(Notice("interrupted", text, line))
    elif text and line.get("isSynthetic") is True:
        run.changes.append(Notice("synthetic", text, line))


def answer(run: Run, block: Event, line: Event) -> None:
    """Completes the call a result belongs to; a result that came too early waits for its call."""
    call_id = text_of(block, "tool_use_id")
    call = run.calls.get(call_id)
    if call is None:
        run.early[call_id] = (block, line)
        return
    blocks = blocks_of(block)
    call.output = "\n".join(text_of(part, "text") for part in blocks if part.get("type") == "text")
    call.images = tuple(part for part in blocks if part.get("type") == "image")
    call.result = line.get("tool_use_result")
    if _was_denied(call_id, line) or call.denied:
        call.status = "denied"
    else:
        call.status = "error" if block.get("is_error") is True else "completed"
    run.changes.append(Answered(call.at, call.part(), call.child))


def _was_denied(call_id: str, line: Event) -> bool:
    notes = objects_of(line, "tool_result_meta")
    return any(n.get("id") == call_id and n.get("non_execution_kind") in _NOT_ALLOWED for n in notes)
