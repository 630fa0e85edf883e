"""The hook point of the loop and the tool pipeline: what fires there and what an answer may do."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

GONE = "Stream closed"
# What only the host program could have checked does not happen without it.
NOT_EXECUTED = " The tool call was not executed; other configured hooks may not have completed."


class Block(msgspec.Struct, frozen=True):
    """One hook's objection. `by_exit`: by its exit code, so `text` names the hook already.

    `bare` is what the hook itself said; `failed` is how it failed, if its failures block.
    """

    label: str
    text: str
    by_exit: bool = False
    bare: str = ""
    failed: str = ""


class Told(msgspec.Struct, frozen=True):
    """A text for the model; `kind` and `facts` are what the transcript says of it."""

    kind: str
    text: str
    facts: dict[str, Any] = {}


class Outcome(msgspec.Struct, frozen=True):
    """The folded answer of all hooks of one event, masked by what the event allows.

    `verdict` is allow, ask, defer, deny or "" (no opinion); `told` holds texts ready for the model.
    `failures` names the hooks that did not work and says how.
    """

    verdict: str = ""
    reason: str = ""
    blocks: list[Block] = []
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[dict[str, Any]] | None = None
    interrupt: bool = False
    context: list[str] = []
    plain: list[str] = []
    end_turn: bool = False
    stop_reason: str = ""
    tool_output: Any = msgspec.UNSET
    watch: list[str] = []
    title: str = ""
    first_prompt: str = ""
    suppress_prompt: bool = False
    display: str | None = None
    action: str = ""
    content: dict[str, Any] | None = None
    place: str = ""
    retry: bool = False
    errors: int = 0
    told: list[Told] = []
    runs: list[dict[str, Any]] = []
    failures: list[tuple[str, str]] = []


NOTHING = Outcome()


def added_at_end(contexts: list[str]) -> str:
    """What hooks add at the end of a turn, as the model hears it."""
    return "\n\n".join(f"Stop hook additional context: {context}" for context in contexts)


class Hooks(Protocol):
    """Runs the hooks of an event and folds their answers."""

    async def fire(self, event: str, /, **payload: Any) -> Outcome: ...


class NoHooks:
    """No hooks are configured."""

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        return NOTHING
