"""What a run of the CLI consists of: steps with text, reasoning and tool calls, and how it ended."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import Usage


class StepStart(msgspec.Struct, frozen=True):
    """One model message begins."""

    step: int


class TextPart(msgspec.Struct, frozen=True):
    """`incomplete`: the run ended before the text did."""

    text: str
    incomplete: bool = False


class ReasoningPart(msgspec.Struct, frozen=True):
    """Thinking; `redacted` is the opaque text of a block nobody may read."""

    text: str
    signature: str = ""
    redacted: str | None = None


class ToolPart(msgspec.Struct, frozen=True):
    """A call. `status` is pending, completed, error or denied; `output` None until it is answered.

    `images` are the image blocks of the result, `result` the tool's own structured result.
    """

    call_id: str
    name: str
    input: dict[str, Any]
    status: str = "pending"
    output: str | None = None
    images: tuple[dict[str, Any], ...] = ()
    result: Any = None


class StepFinish(msgspec.Struct, frozen=True):
    """One model message is over. `usage` is None when nobody told the exact numbers of this step.

    `reason` is stop, tool-calls, length, content-filter, pause, error or aborted.
    """

    step: int
    reason: str
    cost: float = 0.0
    usage: Usage | None = None


Content = TextPart | ReasoningPart | ToolPart
Part = StepStart | TextPart | ReasoningPart | ToolPart | StepFinish


class Child(msgspec.Struct, frozen=True):
    """What a sub-agent did, as far as the CLI tells."""

    agent_id: str | None
    agent_type: str | None
    prompt: str | None
    parts: tuple[Content, ...]


class Retraction(msgspec.Struct, frozen=True):
    """Streamed blocks the CLI gave up."""

    message: str
    from_block: int
    text: str


class Failure(msgspec.Struct, frozen=True):
    """Why a run did not succeed.

    `kind` is api_error, max_turns, budget, structured_output, execution, aborted, killed, exit or unreadable.
    `status` is the HTTP status or, for `exit`, the exit code; `word` is the CLI's own name for the failure.
    """

    kind: str
    status: int | None
    type: str | None
    message: str
    word: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """The whole run. `finish` is a step's reason, or max-turns or budget.

    `cost` is what this run added; `total_cost` what the CLI last reported for its session, to be given to the
    mapper of the next process of the same session.
    """

    parts: tuple[Part, ...]
    children: dict[str, Child]
    retracted: tuple[Retraction, ...]
    finish: str
    error: Failure | None
    session_id: str | None
    model: str | None
    cost: float
    total_cost: float
    usage: Usage
    results: int
    unread_lines: int
    unknown: dict[str, int]
    warnings: tuple[str, ...]
    result: dict[str, Any] | None = None
