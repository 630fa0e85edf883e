"""Turns the lines the CLI prints into parts, in every dialect its versions speak; no process in here."""

from __future__ import annotations

import logging
from collections.abc import Callable

from forge.core.message import Usage
from forge.core.models.claude_cli.changes import Change, Notice
from forge.core.models.claude_cli.drafts import Draft, Thread
from forge.core.models.claude_cli.lines import Event, Tally, decode
from forge.core.models.claude_cli.parts import Child, Failure, Outcome
from forge.core.models.claude_cli.result import Verdict, judge_exit, last_reason, place_cost, take_result
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.stream import take_stream
from forge.core.models.claude_cli.system import take_system
from forge.core.models.claude_cli.user import take_user
from forge.core.models.claude_cli.values import text_of
from forge.core.models.claude_cli.whole import release_held, take_assistant

log = logging.getLogger("forge.claude_cli")

_EXCERPT = 200


class Mapper:
    """Maps one run. `feed` every line, `end` once; nothing a line holds is ever an exception.

    `cost_before` is the `total_cost` of the previous process of the same session.
    """

    def __init__(self, cost_before: float = 0.0) -> None:
        self._run = Run(cost_before)
        self._tally = Tally()

    @property
    def broken(self) -> bool:
        """Too many lines could not be read: there is no sense in going on."""
        return self._tally.broken

    def feed(self, line: bytes) -> list[Change]:
        """The changes one line makes."""
        if not line or line.isspace():
            return []
        event = decode(line)
        self._tally.count(readable=event is not None)
        if self._tally.broken:
            return []
        if event is not None:
            return self._map(event)
        excerpt = line[:_EXCERPT].decode("utf-8", "replace")
        log.info("not a JSON object: %s", excerpt)
        return [Notice("unread", excerpt)]

    def take(self, event: Event) -> list[Change]:
        """The changes one decoded line makes."""
        self._tally.count(readable=True)
        return [] if self._tally.broken else self._map(event)

    def end(self, exit_code: int | None, *, cancelled: bool = False, stderr: str = "") -> Outcome:
        """How the run has ended, after the last line."""
        run = self._run
        release_held(run)
        finish, error = self._verdict(exit_code, cancelled=cancelled, stderr=stderr)
        cut_short = finish in ("aborted", "error")
        run.close_step(finish if cut_short else "")
        finish = finish or last_reason(run)
        if not run.steps:
            run.open_step(Draft("", run.main))
            run.close_step(finish if cut_short else "error" if error is not None else "")
            place_cost(run, run.unplaced_cost)
        return Outcome(
            parts=tuple(slot.part() for slot in run.main.slots),
            children={name: _child(run, thread) for name, thread in run.children.items()},
            retracted=tuple(run.retracted),
            finish=finish,
            error=error,
            session_id=run.session_id,
            model=run.model,
            cost=run.cost,
            total_cost=run.total_cost,
            usage=_usage(run),
            results=run.results,
            unread_lines=self._tally.unread,
            unknown=run.unknown,
            warnings=tuple(run.warnings),
            result=run.result,
        )

    def rest(self) -> list[Change]:
        """Changes nobody was told yet: after `end`, those it has made itself."""
        changes, self._run.changes = self._run.changes, []
        return changes

    def _map(self, event: Event) -> list[Change]:
        run = self._run
        kind = event.get("type")
        take = _KINDS.get(kind) if type(kind) is str else None
        if take is None:
            run.ignore(kind if type(kind) is str else "")
            return []
        # A growing text may keep its uuid: its lines say for themselves what is new.
        uuid = text_of(event, "uuid") if "partial" not in event else ""
        if uuid and run.is_repeated(uuid, keep=kind != "stream_event"):
            return []
        if run.held is not None and kind in _GOING_ON:
            release_held(run)
        take(run, event)
        return self.rest()

    def _verdict(self, exit_code: int | None, *, cancelled: bool, stderr: str) -> Verdict:
        run, tally = self._run, self._tally
        if cancelled:
            kind = text_of(run.result or {}, "terminal_reason")
            return "aborted", Failure("aborted", None, kind or "cancelled", "interrupted")
        if tally.broken:
            said = f"{tally.unread} of {tally.lines} lines the CLI printed are not JSON objects."
            return "error", Failure("unreadable", None, None, said)
        if run.results and not run.working:
            return run.finish, run.error
        return judge_exit(run, exit_code, stderr)


def _usage(run: Run) -> Usage:
    """The streamed numbers are exact; without them the results', and without those the messages' own."""
    if run.streaming or run.result_usage is None:
        return run.step_usage
    return run.result_usage


def _child(run: Run, thread: Thread) -> Child:
    call = run.calls.get(thread.name)
    given = call.input if call is not None else {}
    return Child(
        agent_id=thread.agent_id,
        agent_type=thread.agent_type or text_of(given, "subagent_type") or None,
        prompt=thread.prompt or text_of(given, "prompt") or None,
        parts=thread.contents(),
    )


def _nothing(run: Run, event: Event) -> None:
    """Known, and for others: the control channel belongs to whoever runs the process."""


_KINDS: dict[str, Callable[[Run, Event], None]] = {
    "stream_event": take_stream,
    "assistant": take_assistant,
    "user": take_user,
    "system": take_system,
    "result": take_result,
    "control_request": _nothing,
    "control_response": _nothing,
    "control_cancel_request": _nothing,
    "command_lifecycle": _nothing,
    "keep_alive": _nothing,
}
_GOING_ON = ("stream_event", "assistant", "user")
