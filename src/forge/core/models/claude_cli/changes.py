"""What the mapper tells while a run goes on, one change at a time.

`at` is the position in the list of parts at that moment, so a reader that applies the changes in order to a
list of its own has the same list. `child` names the Task call whose sub-agent the list belongs to; "" is the
main thread.
"""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import Usage
from forge.core.model import Retrying
from forge.core.models.claude_cli.parts import Content, Failure


class SessionKnown(msgspec.Struct, frozen=True):
    """The CLI has said which session and model it works with; again for every turn of a live process."""

    session_id: str
    model: str
    init: dict[str, Any]


class StepStarted(msgspec.Struct, frozen=True):
    """A step-start part was added."""

    at: int
    step: int
    message_id: str
    model: str
    usage: Usage


class PartStarted(msgspec.Struct, frozen=True):
    """A text, reasoning or tool part was added."""

    at: int
    part: Content
    child: str = ""


class Grown(msgspec.Struct, frozen=True):
    """The text of a part has become longer."""

    at: int
    text: str
    child: str = ""


class Replaced(msgspec.Struct, frozen=True):
    """The text of a part is another one now."""

    at: int
    text: str
    child: str = ""


class Withdrawn(msgspec.Struct, frozen=True):
    """A part is gone; the ones behind it move up."""

    at: int
    part: Content
    child: str = ""


class InputGrown(msgspec.Struct, frozen=True):
    """A piece of the JSON of a call's input; the whole input comes with `Confirmed`."""

    at: int
    text: str
    child: str = ""


class Confirmed(msgspec.Struct, frozen=True):
    """The block is complete: text, signature or input will not change any more."""

    at: int
    part: Content
    child: str = ""


class Answered(msgspec.Struct, frozen=True):
    """A call has its result, or was denied."""

    at: int
    part: Content
    child: str = ""


class StepFinished(msgspec.Struct, frozen=True):
    """A step-finish part was added. Its cost is known later, with `TurnFinished`."""

    at: int
    step: int
    reason: str
    usage: Usage | None


class TurnFinished(msgspec.Struct, frozen=True):
    """A result line. `finish` and `error` as in `Outcome`; `at` is the step-finish part with the cost."""

    at: int
    finish: str
    error: Failure | None
    cost: float
    result: dict[str, Any]


class Notice(msgspec.Struct, frozen=True):
    """Something a user may want to know: `kind` is a line's subtype, or synthetic, interrupted, unread."""

    kind: str
    text: str
    line: dict[str, Any] | None = None


class Busy(msgspec.Struct, frozen=True):
    """What the CLI is doing: requesting, compacting, or "" for nothing in particular."""

    status: str


class Task(msgspec.Struct, frozen=True):
    """News of a sub-agent or a command in the background. `event` is started, progress, updated, ..."""

    event: str
    task_id: str
    call_id: str
    line: dict[str, Any]


Change = (
    SessionKnown
    | StepStarted
    | PartStarted
    | Grown
    | Replaced
    | Withdrawn
    | InputGrown
    | Confirmed
    | Answered
    | StepFinished
    | TurnFinished
    | Notice
    | Busy
    | Task
    | Retrying
)
