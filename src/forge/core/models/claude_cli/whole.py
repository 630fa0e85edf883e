"""`assistant` lines: complete blocks, or with `partial` the whole text so far."""

from __future__ import annotations

from forge.core.message import UNPARSED_INPUT
from forge.core.models.claude_cli.drafts import Call, Draft, Thread, Writing
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.parts import Failure
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.stream import CALLED, WRITTEN
from forge.core.models.claude_cli.threads import thread_of
from forge.core.models.claude_cli.user import answer
from forge.core.models.claude_cli.values import blocks_of, count_of, object_of, text_of, usage_of

_SYNTHETIC = "<synthetic>"


def take_assistant(run: Run, line: Event) -> None:
    """Maps one line of the model's; errors of the API, which look like one, are only remembered."""
    message = object_of(line, "message")
    thread = _thread(run, line, message)
    if thread is not run.main:
        _take_message(run, thread, line)
    elif line.get("is_api_error_message") is True or (line.get("error") and _is_synthetic(message)):
        run.api_error = _api_error(line, message)
    elif _is_synthetic(message) and not text_of(line, "local_command_source"):
        # Old versions do not mark errors: whether this is one is known with the result.
        run.held = line
    else:
        _take_message(run, thread, line)


def release_held(run: Run) -> None:
    """Maps a line that was held back, as text after all."""
    line, run.held = run.held, None
    if line is not None:
        _take_message(run, run.main, line)


def text_in(message: Event) -> str:
    """The text of a message."""
    return "\n".join(text_of(block, "text") for block in blocks_of(message) if block.get("type") == "text")


def _thread(run: Run, line: Event, message: Event) -> Thread:
    """A call that is given as its own parent belongs to the main thread."""
    parent = line.get("parent_tool_use_id")
    if parent and any(block.get("id") == parent for block in blocks_of(message)):
        return run.main
    return thread_of(run, line)


def _is_synthetic(message: Event) -> bool:
    return message.get("model") == _SYNTHETIC


def _api_error(line: Event, message: Event) -> Failure:
    status, kind = count_of(line, "api_error_status") or None, text_of(line, "api_error_type") or None
    word = text_of(line, "error") or text_of(line, "api_error")
    return Failure("api_error", status, kind, text_in(message), word)


def _take_message(run: Run, thread: Thread, line: Event) -> None:
    message = object_of(line, "message")
    model = "" if _is_synthetic(message) else text_of(message, "model")
    run.model = run.model or model or None
    draft = run.message(thread, text_of(message, "id"), model)
    for position, block in enumerate(blocks_of(message)):
        kind = text_of(block, "type")
        if kind in WRITTEN:
            _take_text(run, draft, position, block, line)
        elif kind in CALLED:
            _take_call(run, draft, block, partial=line.get("partial") is True)
        elif kind.endswith("_tool_result"):
            answer(run, block, line)
        else:
            run.ignore(f"block/{kind}")
    _take_numbers(draft, message)


def _take_numbers(draft: Draft, message: Event) -> None:
    usage, reason = message.get("usage"), text_of(message, "stop_reason")
    if draft.stopped:
        return
    if reason:
        draft.stop_reason = reason
    # Without a stop reason the numbers are those of the message's start: no better than the streamed ones.
    if type(usage) is dict and (reason or not (draft.streamed or draft.exact)):
        draft.usage, draft.exact = usage_of(usage), bool(reason)


def _take_text(run: Run, draft: Draft, position: int, block: Event, line: Event) -> None:
    kind, partial = text_of(block, "type"), line.get("partial") is True
    slot = _find(draft, block, position)
    if slot is None:
        slot = Writing(kind)
        slot.redacted = text_of(block, "data") if kind == "redacted_thinking" else None
        run.begin(draft, slot)
        if partial:
            draft.growing[position] = slot
    run.rewrite(draft.thread, slot, text_of(block, kind))
    slot.signature = text_of(block, "signature") or slot.signature
    if line.get("aborted") is True:
        slot.incomplete = True
    if not partial:
        run.confirm(draft.thread, slot)


def _find(draft: Draft, block: Event, position: int) -> Writing | None:
    """The part a block belongs to: a streamed one that waits for its whole line, or one that grows."""
    kind = text_of(block, "type")
    written = text_of(block, kind)
    waiting = [slot for slot in draft.slots if isinstance(slot, Writing) and slot.is_waiting(kind)]
    if waiting:
        # More than one waits only if a line was lost: then the one whose text this is.
        return next((slot for slot in waiting if written.startswith(slot.text)), waiting[0])
    growing = draft.growing.get(position)
    if growing is not None and growing.kind == kind and not growing.confirmed:
        return growing
    return None


def _take_call(run: Run, draft: Draft, block: Event, *, partial: bool) -> None:
    call_id, given = text_of(block, "id"), block.get("input")
    call = run.calls.get(call_id) if call_id else None
    if call is None:
        call = run.calls[call_id] = Call(call_id, text_of(block, "name"), draft.thread.name)
        run.begin(draft, call)
    call.name = text_of(block, "name") or call.name
    if type(given) is dict:
        call.input = given
    elif given is not None:
        call.input = {UNPARSED_INPUT: given}
    if not partial:
        run.confirm(run.children.get(call.child) or run.main, call)
    early = run.early.pop(call_id, None)
    if early is not None:
        answer(run, *early)
