"""What a host may show: one union of events. Emitting one never blocks and never fails."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.job import Job, JobEnd, JobView
from forge.core.message import Block, ToolResult, ToolUse, Usage
from forge.core.model import Delta, Retrying


class TurnStarted(msgspec.Struct, frozen=True):
    """A prompt was accepted; the session's state is what the model will see. `record`: see `Prompt`."""

    prompt_uuid: str
    record: dict[str, Any] = {}


class Requesting(msgspec.Struct, frozen=True):
    """A model request is about to be sent."""


class Streaming(msgspec.Struct, frozen=True):
    """One delta of the reply under way."""

    delta: Delta
    message_id: str
    first_token_ms: float | None = None


class Retried(msgspec.Struct, frozen=True):
    retry: Retrying


class Replied(msgspec.Struct, frozen=True):
    """A block of the reply is complete, or `aborted`; `envelope`: the message as announced, no content."""

    uuid: str
    envelope: dict[str, Any]
    block: Block
    request_id: str = ""
    thinking_ms: float | None = None
    aborted: bool = False


class ApiFailed(msgspec.Struct, frozen=True):
    """The model could not be asked; `text` is what the user reads."""

    uuid: str
    text: str
    kind: str
    status: int | None = None
    error_type: str | None = None
    request_id: str | None = None


class ToolStarted(msgspec.Struct, frozen=True):
    call: ToolUse


class ToolProgress(msgspec.Struct, frozen=True):
    call: ToolUse
    text: str


class Denied(msgspec.Struct, frozen=True):
    """A call was refused without anybody having been asked."""

    call: ToolUse
    message: str
    reason_type: str | None = None
    reason: str | None = None
    reason_code: str | None = None


class ToolFinished(msgspec.Struct, frozen=True):
    """A call has its result. `data` is the structured result, `meta` how it was permitted or refused."""

    uuid: str
    call: ToolUse
    result: ToolResult
    data: Any = None
    meta: dict[str, Any] | None = None


class Noted(msgspec.Struct, frozen=True):
    """A text that entered the history as the user's without being typed; `synthetic`: it is Forge's own."""

    uuid: str
    text: str
    synthetic: bool = False


class Folded(msgspec.Struct, frozen=True):
    """A queued prompt entered the running turn."""

    uuid: str
    prompt_uuid: str


class ModeChanged(msgspec.Struct, frozen=True):
    mode: str


class Warned(msgspec.Struct, frozen=True):
    """Something the user should know that does not stop the work."""

    text: str


class Compacting(msgspec.Struct, frozen=True):
    """The history is being summarised."""

    trigger: str = "auto"


class Compacted(msgspec.Struct, frozen=True):
    """The history is now a summary. `facts` are the numbers of the transcript's boundary record."""

    boundary_uuid: str
    summary_uuid: str
    summary: str
    facts: dict[str, Any]
    logical_parent: str | None = None


class CompactionSkipped(msgspec.Struct, frozen=True):
    """The history stays as it is; `why` says who did not want a summary, or how it `failed`."""

    why: str
    failed: bool = False


class LocalOutput(msgspec.Struct, frozen=True):
    """What a local command had to say; one without a name only tells that it is over."""

    uuid: str
    text: str
    command: str = ""
    arguments: str = ""
    failed: bool = False


class Restarted(msgspec.Struct, frozen=True):
    """The conversation begins anew as session `session_id`; this is the last event of the old one."""

    uuid: str
    session_id: str
    prompt_uuid: str


class JobStarted(msgspec.Struct, frozen=True):
    """A job goes on beside the conversation; `moved`: until now a call has waited for it."""

    job: Job
    moved: bool = False


class JobEnded(msgspec.Struct, frozen=True):
    """A job is over; `job` as it was started, `end` how it ended."""

    job: Job
    end: JobEnd


class JobsChanged(msgspec.Struct, frozen=True):
    """The set of running jobs is another."""

    running: list[JobView]


class AgentSaid(msgspec.Struct, frozen=True):
    """Something happened in a sub-agent's conversation; `final` repeats its last text when it has ended."""

    job: Job
    event: Event
    final: bool = False


class AgentProgress(msgspec.Struct, frozen=True):
    """A sub-agent calls a tool; `activity` says what it is about."""

    job: Job
    activity: str
    tool_name: str
    usage: dict[str, Any]


class HookStarted(msgspec.Struct, frozen=True):
    """A hook was started; `status` is what its author wants shown meanwhile."""

    id: str
    name: str
    event: str
    status: str = ""


class HookProgress(msgspec.Struct, frozen=True):
    """What a running hook has printed so far."""

    id: str
    name: str
    event: str
    output: str
    stdout: str
    stderr: str


class HookEnded(msgspec.Struct, frozen=True):
    """A hook is over; `outcome` is success, error or cancelled."""

    id: str
    name: str
    event: str
    output: str
    stdout: str
    stderr: str
    exit_code: int | None
    outcome: str


class HookSaid(msgspec.Struct, frozen=True):
    """Something the user should read because of a hook; `facts` are further fields of the record."""

    text: str
    level: str
    facts: dict[str, Any] = {}
    uuid: str = ""


class HookNotice(msgspec.Struct, frozen=True):
    """A short notice about hooks for the status line."""

    key: str
    text: str
    facts: dict[str, Any] = {}


class ScreenStale(msgspec.Struct, frozen=True):
    """Something a screen shows is no longer so; hosts without one pass it on."""


class TitleChanged(msgspec.Struct, frozen=True):
    """The session has another title."""

    title: str


class Denial(msgspec.Struct, frozen=True):
    tool_name: str
    tool_use_id: str
    tool_input: dict[str, Any]


class ModelSpend(msgspec.Struct, frozen=True):
    """What one model has used."""

    usage: Usage
    cost: float


class TurnEnded(msgspec.Struct, frozen=True):
    """The turn is over. `subtype` and `terminal_reason` are the protocol's words."""

    subtype: str
    terminal_reason: str
    is_error: bool
    num_turns: int
    stop_reason: str | None
    usage: Usage
    result: str = ""
    errors: list[str] = []
    denials: list[Denial] = []
    structured: Any = None
    api_status: int | None = None
    api_error_type: str | None = None
    duration_ms: float = 0
    api_ms: float = 0
    first_token_ms: float | None = None
    request_ms: float | None = None
    spent_before: dict[str, ModelSpend] = {}
    prompt_uuids: list[str] = []
    origin: dict[str, str] | None = None
    local_command: str = ""
    deferred: dict[str, Any] | None = None


Event = (
    TurnStarted
    | Requesting
    | Streaming
    | Retried
    | Replied
    | ApiFailed
    | ToolStarted
    | ToolProgress
    | Denied
    | ToolFinished
    | Noted
    | Folded
    | ModeChanged
    | Warned
    | Compacting
    | Compacted
    | CompactionSkipped
    | LocalOutput
    | Restarted
    | JobStarted
    | JobEnded
    | JobsChanged
    | AgentSaid
    | AgentProgress
    | HookStarted
    | HookProgress
    | HookEnded
    | HookSaid
    | HookNotice
    | TitleChanged
    | ScreenStale
    | TurnEnded
)
