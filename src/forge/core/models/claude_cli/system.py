"""`system` lines: the session, what the CLI is doing, and notices."""

from __future__ import annotations

from collections.abc import Callable

from forge.core.model import Retrying
from forge.core.models.claude_cli.changes import Busy, Notice, SessionKnown, Task
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.threads import child_of, describe
from forge.core.models.claude_cli.values import amount_of, count_of, object_of, text_of


def take_system(run: Run, line: Event) -> None:
    """Maps one system line; about seventy kinds exist and new ones appear all the time."""
    kind = text_of(line, "subtype")
    step = _STEPS.get(kind)
    if step is None:
        run.ignore(f"system/{kind}")
    else:
        step(run, line)


def _init(run: Run, line: Event) -> None:
    run.session_id = text_of(line, "session_id") or run.session_id
    run.model = text_of(line, "model") or run.model
    run.changes.append(SessionKnown(run.session_id or "", run.model or "", line))


def _status(run: Run, line: Event) -> None:
    run.changes.append(Busy(text_of(line, "status")))


def _retry(run: Run, line: Event) -> None:
    run.changes.append(
        Retrying(
            attempt=count_of(line, "attempt"),
            max_retries=count_of(line, "max_retries"),
            delay_ms=amount_of(line, "retry_delay_ms") or 0.0,
            status=count_of(line, "error_status") or None,
            kind=text_of(line, "error") or "unknown",
        )
    )


def _fallback(run: Run, line: Event) -> None:
    old, new = text_of(line, "original_model"), text_of(line, "fallback_model")
    run.changes.append(Notice("model_fallback", f"{old} -> {new}", line))


def _notice(run: Run, line: Event) -> None:
    text = text_of(line, "text") or text_of(line, "content") or text_of(line, "message")
    run.changes.append(Notice(text_of(line, "subtype"), text, line))


def _compacted(run: Run, line: Event) -> None:
    told = object_of(line, "compact_metadata")
    before, after = count_of(told, "pre_tokens"), count_of(told, "post_tokens")
    text = f"{text_of(told, 'trigger')}: {before} tokens" + (f" -> {after}" if after else "")
    run.changes.append(Notice("compact_boundary", text, line))


def _denied(run: Run, line: Event) -> None:
    call = run.calls.get(text_of(line, "tool_use_id"))
    if call is not None:
        call.denied = True


def _task(run: Run, line: Event) -> None:
    event = text_of(line, "subtype").removeprefix("task_")
    call_id, task_id = text_of(line, "tool_use_id"), text_of(line, "task_id")
    if event == "started" and call_id and line.get("task_type") == "local_agent":
        describe(child_of(run, call_id), task_id, text_of(line, "subagent_type"), text_of(line, "prompt"))
    run.changes.append(Task(event, task_id, call_id, line))


def _nothing(run: Run, line: Event) -> None:
    """Known, and of no interest."""


_STEPS: dict[str, Callable[[Run, Event], None]] = {
    "init": _init,
    "status": _status,
    "api_retry": _retry,
    "model_fallback": _fallback,
    "thinking_tokens": _nothing,
    "informational": _notice,
    "notification": _notice,
    "permission_denied": _denied,
    "task_started": _task,
    "task_progress": _task,
    "task_updated": _task,
    "task_notification": _task,
    "background_tasks_changed": _task,
    "compact_boundary": _compacted,
    "hook_started": _nothing,
    "hook_progress": _nothing,
    "hook_response": _nothing,
    "ui_invalidate": _nothing,
}
