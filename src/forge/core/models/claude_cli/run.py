"""The state of a run and the few things that can happen to it; every one of them is told as a change."""

from __future__ import annotations

from forge.core.message import Usage
from forge.core.models.claude_cli.changes import (
    Change,
    Confirmed,
    Grown,
    PartStarted,
    Replaced,
    StepFinished,
    StepStarted,
    Withdrawn,
)
from forge.core.models.claude_cli.drafts import Call, Draft, Mark, Thread, Writing
from forge.core.models.claude_cli.lines import Event, whole_text
from forge.core.models.claude_cli.parts import Failure, Retraction, StepFinish, StepStart

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "tool_deferred": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
    "pause_turn": "pause",
}


class Run:
    """Everything known so far. `open` is the message of the open step, `current` the one being streamed."""

    def __init__(self, cost_before: float = 0.0) -> None:
        self.changes: list[Change] = []
        self.main = Thread()
        self.children: dict[str, Thread] = {}
        self.calls: dict[str, Call] = {}
        self.early: dict[str, tuple[Event, Event]] = {}
        self.retracted: list[Retraction] = []
        self.unknown: dict[str, int] = {}
        self.warnings: list[str] = []
        self._seen: set[str] = set()
        self._last_uuid = ""
        self.session_id: str | None = None
        self.model: str | None = None
        self.open: Draft | None = None
        self.current: Draft | None = None
        self.steps = 0
        self.last_finish: Mark | None = None
        # Stream events were seen; a turn has begun that has no result yet; the user's interruption was seen.
        self.streaming = self.working = self.interrupted = False
        self.step_usage = Usage()
        self.result_usage: Usage | None = None
        self.results = 0
        self.cost = self.unplaced_cost = 0.0
        self.total_cost = cost_before
        self.held: Event | None = None
        self.api_error: Failure | None = None
        self.finish = "stop"
        self.error: Failure | None = None
        self.result: Event | None = None

    def ignore(self, what: str) -> None:
        """Counts a line or a block of an unknown kind."""
        self.unknown[what] = self.unknown.get(what, 0) + 1

    def is_repeated(self, uuid: str, *, keep: bool) -> bool:
        """Whether a line was there before. Stream events are many: of those only the last is kept in mind."""
        if uuid == self._last_uuid or uuid in self._seen:
            return True
        self._last_uuid = uuid
        if keep:
            self._seen.add(uuid)
        return False

    def message(self, thread: Thread, message_id: str, model: str, usage: Usage | None = None) -> Draft:
        """The message of this id; lines without one continue the message that is open and has none."""
        draft = thread.messages.get(message_id)
        if draft is None or (not message_id and thread is self.main and self.open is not draft):
            draft = thread.messages[message_id] = Draft(message_id, thread, model)
            draft.usage = usage or draft.usage
            if thread is self.main:
                self.open_step(draft)
        return draft

    def open_step(self, draft: Draft) -> None:
        """Begins a step, unless the one that is open has nothing in it and can be used."""
        before = self.open
        if before is draft:
            return
        if before is not None and self._is_void(before):
            draft.streamed = draft.streamed or before.streamed
            self.open = draft
            return
        self.close_step()
        self.steps += 1
        self.working, self.api_error = True, None
        self.open = draft
        at = self.main.add(Mark(StepStart(self.steps)))
        model = draft.model or self.model or ""
        self.changes.append(StepStarted(at, self.steps, draft.id, model, draft.usage))

    def close_step(self, ending: str = "") -> None:
        """Ends the open step; `ending` is the reason if its message was cut short."""
        draft = self.open
        if draft is None:
            return
        for slot in draft.slots:
            if slot.closed and not slot.confirmed:
                # Its whole line may still come, but the stream has told all of it.
                self.changes.append(Confirmed(slot.at, slot.part()))
            elif isinstance(slot, Writing) and not slot.confirmed:
                slot.incomplete = True
        reason = _reason(draft) if draft.stop_reason or not ending else ending
        usage = draft.usage if draft.streamed or (self.streaming and draft.exact) else None
        self.step_usage += draft.usage
        self.last_finish = Mark(StepFinish(self.steps, reason, 0.0, usage))
        at = self.main.add(self.last_finish)
        self.open = None
        self.changes.append(StepFinished(at, self.steps, reason, usage))

    def begin(self, draft: Draft, slot: Writing | Call) -> None:
        """Adds a part to a message."""
        if draft.thread is self.main:
            self.open_step(draft)
        draft.slots.append(slot)
        at = draft.thread.add(slot)
        self.changes.append(PartStarted(at, slot.part(), draft.thread.name))

    def grow(self, thread: Thread, slot: Writing, text: str) -> None:
        """Adds text to a part."""
        if slot.half or "\ud800" <= text[-1] <= "\udfff" or "\ud800" <= text[0] <= "\udfff":
            text = _whole_characters(slot, text)
        if text:
            slot.pieces.append(text)
            self.changes.append(Grown(slot.at, text, thread.name))

    def rewrite(self, thread: Thread, slot: Writing, text: str) -> None:
        """Makes the text of a part the given one, with as small a change as possible."""
        old = slot.text
        if text == old:
            return
        if text.startswith(old):
            self.grow(thread, slot, text[len(old) :])
        else:
            slot.pieces = [text]
            self.changes.append(Replaced(slot.at, text, thread.name))

    def confirm(self, thread: Thread, slot: Writing | Call) -> None:
        """The block of this part is complete."""
        slot.confirmed = True
        self.changes.append(Confirmed(slot.at, slot.part(), thread.name))

    def withdraw(self, draft: Draft, slot: Writing | Call) -> str:
        """Takes a part back; the text it held."""
        draft.slots.remove(slot)
        draft.blocks = {index: held for index, held in draft.blocks.items() if held is not slot}
        draft.thread.remove(slot)
        if isinstance(slot, Call):
            self.calls.pop(slot.id, None)
        self.changes.append(Withdrawn(slot.at, slot.part(), draft.thread.name))
        return slot.text if isinstance(slot, Writing) else ""

    def _is_void(self, draft: Draft) -> bool:
        """Nothing is left of the message; blocks that never got a piece are taken back."""
        if draft.stop_reason or any(slot.confirmed or not _is_blank(slot) for slot in draft.slots):
            return False
        for slot in draft.slots[::-1]:
            self.withdraw(draft, slot)
        return True


def _is_blank(slot: Writing | Call) -> bool:
    return isinstance(slot, Writing) and not slot.text and slot.redacted is None


def _reason(draft: Draft) -> str:
    calls = any(isinstance(slot, Call) for slot in draft.slots)
    return _REASONS.get(draft.stop_reason, "tool-calls" if calls else "stop")


def _whole_characters(slot: Writing, text: str) -> str:
    """Joins halves of characters; one that still waits for its second half is kept back."""
    text = slot.half + text
    slot.half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return whole_text(text[:-1] if slot.half else text)
