"""Mends a history that was cut or damaged, so that every model accepts it, and counts what had to go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forge.agent.texts.load import text
from forge.core.message import (
    UNPARSED_INPUT,
    Block,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    decode_block,
)
from forge.foundation.encode import dumps

NO_RESPONSE = "No response requested."

# Blocks with a broken shape of these types would make a provider refuse the whole conversation.
_STRICT = frozenset({"text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})


class Mending:
    """What was left out of one history; `settled`: nothing at its end waits for an answer."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self.replaced = 0
        self.dropped = 0
        self.orphans = 0
        self.settled = False

    def notes(self) -> list[str]:
        """Everything there is to say, in plain words."""
        made = list(self._notes)
        if self.replaced:
            made.append(
                f"replaced damaged characters in {self.replaced} entr{'y' if self.replaced == 1 else 'ies'}"
            )
        if self.dropped:
            made.append(f"left out {self.dropped} piece{'s'[: self.dropped > 1]} of a wrong shape")
        if self.orphans:
            made.append(f"left out {self.orphans} tool result{'s'[: self.orphans > 1]} without a call")
        return made

    def blocks(self, content: str | list[Any]) -> list[Block]:
        """The blocks of a message that make sense."""
        if isinstance(content, str):
            return [Text(content)] if content else []
        found: list[Block] = []
        for raw in content:
            block = self._block(raw)
            if block is not None and not (isinstance(block, Text) and not block.text):
                found.append(block)
        return found

    def _block(self, raw: Any) -> Block | None:
        if isinstance(raw, str) and raw:
            return Text(raw)
        if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
            self.dropped += 1
            return None
        block = decode_block(_plain_result(raw))
        if not isinstance(block, dict) or raw["type"] not in _STRICT:
            return block
        return self._loose(block)

    def _loose(self, raw: dict[str, Any]) -> Block | None:
        """A block of a known type with fields this version does not know, if the known ones are right."""
        kind = raw["type"]
        try:
            if kind == "tool_use":
                return msgspec.convert({**raw, "input": _given(raw.get("input"))}, ToolUse)
            if kind == "tool_result" and isinstance(raw.get("tool_use_id"), str):
                kept: dict[str, Any] = {
                    k: raw[k] for k in ("type", "tool_use_id", "content", "is_error") if k in raw
                }
                return decode_block(kept)
            if kind == "text" and isinstance(raw.get("text"), str) and raw["text"]:
                return raw
            if kind in ("image", "document") and isinstance(raw.get("source"), dict):
                return raw
            if kind == "thinking" and isinstance(raw.get("thinking"), str):
                return raw
        except msgspec.ValidationError:
            pass
        self.dropped += 1
        return None


def repair(history: list[Message], mending: Mending | None = None) -> list[Message]:
    """Answers calls that never got a result and closes a trailing question, as the reference does."""
    mending = mending or Mending([])
    fixed: list[Message] = []
    for message in _with_output(history, mending):
        calls = [c.id for c in fixed[-1].calls] if fixed and fixed[-1].role == "assistant" else []
        if message.role == "assistant":
            _close(fixed, calls)
            _follow(fixed, message)
            continue
        blocks = _answers(message.blocks, calls, mending)
        if blocks:
            fixed.append(Message("user", blocks))
    if fixed and fixed[-1].calls:
        _close(fixed, [c.id for c in fixed[-1].calls])
        mending.settled = False
    if fixed and fixed[-1].role == "user" and not mending.settled:
        fixed.append(Message("assistant", [Text(NO_RESPONSE)], made_by="<synthetic>"))
    return fixed


def _with_output(history: list[Message], mending: Mending) -> Iterator[Message]:
    """The history without replies that hold nothing but thoughts; words around one are heard together."""
    last: Message | None = None
    seen: set[str] = set()
    for message in history:
        if message.role == "assistant":
            message = _made_once(message, seen, mending)
            if all(_is_thought(block) for block in message.blocks):
                continue
        if last is not None and last.role == message.role:
            last = Message(last.role, [*last.blocks, *message.blocks], last.id, last.made_by)
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _made_once(reply: Message, seen: set[str], mending: Mending) -> Message:
    """A reply without calls that were there before: no model accepts the same call twice."""
    kept: list[Block] = []
    for block in reply.blocks:
        if isinstance(block, ToolUse) and block.id in seen:
            mending.dropped += 1
            continue
        if isinstance(block, ToolUse):
            seen.add(block.id)
        kept.append(block)
    return reply if len(kept) == len(reply.blocks) else Message("assistant", kept, reply.id, reply.made_by)


def _is_thought(block: Block) -> bool:
    kind = block.get("type") if isinstance(block, dict) else ""
    return isinstance(block, Thinking | RedactedThinking) or kind in ("thinking", "redacted_thinking")


def _follow(fixed: list[Message], reply: Message) -> None:
    """Adds a reply, which must stand behind a message of the user."""
    if not fixed:
        fixed.append(Message("user", [Text(text("beginning_missing"))]))
    last = fixed[-1]
    if last.role == "assistant":
        fixed[-1] = Message("assistant", [*last.blocks, *reply.blocks], last.id, last.made_by)
    else:
        fixed.append(reply)


def _close(fixed: list[Message], calls: list[str]) -> None:
    """Answers calls that nothing follows."""
    if calls:
        fixed.append(Message("user", [_interrupted(c) for c in dict.fromkeys(calls)]))


def _answers(blocks: list[Block], calls: list[str], mending: Mending) -> list[Block]:
    """The blocks with exactly one result per call, in front, and no result of anything else."""
    results: dict[str, Block] = {}
    rest: list[Block] = []
    for block in blocks:
        if not isinstance(block, ToolResult):
            rest.append(block)
        elif block.tool_use_id in calls and block.tool_use_id not in results:
            results[block.tool_use_id] = block
        else:
            mending.orphans += 1
    missing: list[Block] = [_interrupted(c) for c in dict.fromkeys(calls) if c not in results]
    return [*results.values(), *missing, *rest]


def _given(value: Any) -> dict[str, Any]:
    """The input of a call; what is no object is kept as what the model wrote."""
    if isinstance(value, dict):
        return value
    raw = value if isinstance(value, str) else dumps(value).decode()
    return {UNPARSED_INPUT: {"raw": raw, "len": len(raw)}}


def _interrupted(call: str) -> ToolResult:
    return ToolResult(call, text("session_ended"), True)


def _plain_result(raw: dict[str, Any]) -> dict[str, Any]:
    """A result whose content or flag has a wrong type, as far as it can be used."""
    if raw["type"] != "tool_result":
        return raw
    content, failed = raw.get("content", ""), raw.get("is_error")
    if isinstance(content, list):
        content = [b for b in content if isinstance(b, dict) and isinstance(b.get("type"), str)]
    elif not isinstance(content, str):
        content = "" if content is None else str(content)
    whole = {**raw, "content": content}
    if failed is not None and not isinstance(failed, bool):
        whole["is_error"] = None
    return whole
