"""Hooks that run beside the conversation and wake it up when they object (`asyncRewake`)."""

from __future__ import annotations

from forge.agent.hooks.command import Order, Tell, run_command
from forge.agent.hooks.run import Firing
from forge.agent.session import Prompt, Session
from forge.agent.texts.load import text
from forge.core.reminder import reminder

_ORIGIN = {"kind": "task-notification", "producer": "session-task"}
_RECORD = {"promptSource": "system", "turnOrigin": "task_notification"}


async def run_and_wake(firing: Firing, order: Order, tell: Tell | None, identity: str) -> None:
    """Waits for the end of a hook nobody else waits for; exit code 2 is a prompt of its own."""
    run = await run_command(order, None, tell)
    main = firing.engine.session or firing.session
    firing.tell_end(identity, run)
    if run.exit_code == 2:
        main.wake(_prompt(main, firing, order, run.stderr))


def _prompt(s: Session, firing: Firing, order: Order, said: str) -> Prompt:
    fields = order.hook.fields
    summary = fields.get("rewakeSummary") or "Stop hook feedback"
    opening = fields.get("rewakeMessage") or f'Stop hook blocking error from command "{firing.name}":'
    note = f"<task-notification>\n<summary>{summary}</summary>\n</task-notification>\n"
    note += reminder(f"{opening} {said}")
    # What it contains may not end the reminder.
    note = note.replace("</system-reminder>", "&lt;/system-reminder&gt;")
    words = reminder(f"{text('job_news')}\n\n{note}")
    return Prompt(words, s.parts.new_id(), verbatim=True, origin=_ORIGIN, record=_RECORD)
