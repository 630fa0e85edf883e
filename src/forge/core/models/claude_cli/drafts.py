"""The parts of a run while they may still change, their messages, and the lists they stand in."""

from __future__ import annotations

from typing import Any

from forge.core.message import Usage
from forge.core.models.claude_cli.parts import (
    Content,
    ReasoningPart,
    StepFinish,
    StepStart,
    TextPart,
    ToolPart,
)


class Mark:
    """The place of a step-start or step-finish part."""

    __slots__ = ("at", "value")

    def __init__(self, value: StepStart | StepFinish) -> None:
        self.at = -1
        self.value = value

    def part(self) -> StepStart | StepFinish:
        return self.value


class Writing:
    """Text or reasoning. `kind` is the block's type; `closed` once no more pieces are expected.

    `half` is the first half of a character whose second half comes with the next piece.
    """

    __slots__ = (
        "at",
        "closed",
        "confirmed",
        "half",
        "incomplete",
        "kind",
        "pieces",
        "redacted",
        "signature",
        "streamed",
    )

    def __init__(self, kind: str, *, streamed: bool = False) -> None:
        self.at = -1
        self.kind = kind
        self.streamed = streamed
        self.pieces: list[str] = []
        self.signature = ""
        self.redacted: str | None = None
        self.half = ""
        self.confirmed = self.closed = self.incomplete = False

    @property
    def text(self) -> str:
        if len(self.pieces) != 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]

    def is_waiting(self, kind: str) -> bool:
        """Whether this is a streamed block of that kind whose whole line has not come yet."""
        return self.streamed and not self.confirmed and self.kind == kind

    def part(self) -> TextPart | ReasoningPart:
        if self.kind == "text":
            return TextPart(self.text, self.incomplete)
        return ReasoningPart(self.text, self.signature, self.redacted)


class Call:
    """A tool call; `raw` are the streamed pieces of its input."""

    __slots__ = (
        "at",
        "child",
        "closed",
        "confirmed",
        "denied",
        "id",
        "images",
        "input",
        "name",
        "output",
        "raw",
        "result",
        "status",
    )

    def __init__(self, call_id: str, name: str, child: str) -> None:
        self.at = -1
        self.id = call_id
        self.name = name
        self.child = child
        self.input: dict[str, Any] = {}
        self.raw: list[str] = []
        self.status = "pending"
        self.output: str | None = None
        self.images: tuple[dict[str, Any], ...] = ()
        self.result: Any = None
        self.confirmed = self.closed = self.denied = False

    def part(self) -> ToolPart:
        return ToolPart(
            self.id, self.name, self.input, self.status, self.output, images=self.images, result=self.result
        )


Slot = Mark | Writing | Call


class Draft:
    """One model message. `blocks` by their streamed index, `growing` by the position in whole lines."""

    __slots__ = (
        "blocks",
        "exact",
        "growing",
        "id",
        "model",
        "slots",
        "stop_reason",
        "stopped",
        "streamed",
        "thread",
        "usage",
    )

    def __init__(self, message_id: str, thread: Thread, model: str = "") -> None:
        self.id = message_id
        self.thread = thread
        self.model = model
        self.blocks: dict[int, Writing | Call] = {}
        self.growing: dict[int, Writing] = {}
        self.slots: list[Writing | Call] = []
        self.stop_reason = ""
        self.usage = Usage()
        self.streamed = False
        # `exact`: the usage is final; `stopped`: the stream itself gave the stop reason, which counts most.
        self.exact = self.stopped = False


class Thread:
    """The parts of the main conversation, or of one sub-agent (`name` is then the id of its call)."""

    __slots__ = ("agent_id", "agent_type", "messages", "name", "prompt", "slots")

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.slots: list[Slot] = []
        self.messages: dict[str, Draft] = {}
        self.agent_id: str | None = None
        self.agent_type: str | None = None
        self.prompt: str | None = None

    def add(self, slot: Slot) -> int:
        """Appends a part; its position."""
        slot.at = len(self.slots)
        self.slots.append(slot)
        return slot.at

    def remove(self, slot: Slot) -> None:
        """Takes a part out; the ones behind it move up."""
        del self.slots[slot.at]
        for later in self.slots[slot.at :]:
            later.at -= 1

    def contents(self) -> tuple[Content, ...]:
        """The parts as they are now, without steps."""
        return tuple(slot.part() for slot in self.slots if not isinstance(slot, Mark))
