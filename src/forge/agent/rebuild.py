"""Builds the history of a conversation out of its records, in the order in which a model was told.

What stands in which message is decided as the reference decides it: a reply is one message even where
results were written between its blocks, and reminders stand behind results but before words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forge.agent.mending import Mending
from forge.agent.texts.load import text
from forge.core.message import Aside, Block, Message, Text, ToolResult
from forge.core.reminder import names_tools, plain, reminder, result_before
from forge.foundation.encode import dumps
from forge.foundation.history.transcript import Record

_COMMAND_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")
_ENDED = ("hook_stopped_continuation", "max_turns_reached")
_NEWS = "<task-notification>"
_TOOL_LOADED = "Tool loaded."
# The reference keeps some calls with more than the model has said.
_SAID = {"SendMessage": ("to", "summary", "message")}


def messages(line: Iterable[Record], mending: Mending | None = None) -> list[Message]:
    """The history of a chain of records; neighbours of one role become one message."""
    telling = _Telling(mending or Mending([]))
    for record in line:
        telling.add(record)
    return telling.history


class _Telling:
    """The history so far; `front`: how many blocks of the last message of the user are not words."""

    def __init__(self, mending: Mending) -> None:
        self.history: list[Message] = []
        self._mending = mending
        self._front = 0
        self._ended = False

    def add(self, record: Record) -> None:
        kind = record.get("type")
        if kind == "attachment":
            self._attach(record)
            self._ended = self._ended or _ends(record)
            self._mending.settled = self._mending.settled or self._ended
        elif kind == "system":
            self._command_output(record)
        elif kind in ("user", "assistant"):
            self._ended = self._ended and kind == "user" and _is_result(record)
            failed = bool(record.get("isApiErrorMessage"))
            if kind == "user" or failed:
                self._mending.settled = failed or self._ended or _expects_nothing(record)
            if not failed:
                self._message(record, kind)

    def _command_output(self, record: Record) -> None:
        """What a command of the program has said, which the reference keeps as a record of its own."""
        words = record.get("content")
        if record.get("subtype") == "local_command" and isinstance(words, str) and words:
            self._hear([Text(words)])
            self._mending.settled = True

    def _message(self, record: Record, kind: str) -> None:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, str | list):
            self._mending.dropped += 1
            return
        blocks = self._mending.blocks(_said(content) if kind == "assistant" else _told(record, content))
        if not blocks:
            return
        if kind == "user":
            self._hear(blocks)
        else:
            self._reply(record, message, blocks)

    def _reply(self, record: Record, message: dict[str, Any], blocks: list[Block]) -> None:
        self._mending.settled = True
        identity = str(message.get("id") or "")
        at = self._same_reply(identity, record.get("apiBlockIndex"))
        if at is not None:
            last = self.history[at]
            self.history[at] = Message("assistant", [*last.blocks, *blocks], last.id, last.made_by)
        else:
            self.history.append(Message("assistant", blocks, identity, _maker(record, message)))

    def _same_reply(self, identity: str, index: Any) -> int | None:
        """Where the message is that a block belongs to, if it is there already."""
        history = self.history
        if history and history[-1].role == "assistant":
            return len(history) - 1
        # Some servers name all their messages alike: a first block begins a message.
        if len(history) < 2 or not identity or index == 0 or history[-2].id != identity:
            return None
        only_results = self._front == len(history[-1].blocks)
        return len(history) - 2 if only_results else None

    def _hear(self, blocks: list[Block]) -> None:
        """Adds words and results of the user's side: results come first in a message that answers calls."""
        results: list[Block] = [b for b in blocks if isinstance(b, ToolResult)]
        words = [b for b in blocks if not isinstance(b, ToolResult)]
        if any(isinstance(b, ToolResult) and names_tools(b.content) for b in results):
            results.append(Text(_TOOL_LOADED))
        before = self._before()
        at = sum(1 for b in before if isinstance(b, ToolResult))
        self._front += len(results)
        self._put([*before[:at], *results, *before[at:], *words])

    def _attach(self, record: Record) -> None:
        """Reminders stand before the words of the prompt they were written after, but behind results."""
        blocks = _attached(record, self._mending)
        if not blocks:
            return
        before = self._before()
        about = result_before(before[: self._front])
        blocks = [Aside(b.text, about) if isinstance(b, Aside) else b for b in blocks]
        before[self._front : self._front] = blocks
        self._front += len(blocks)
        self._put(before)

    def _before(self) -> list[Block]:
        """The blocks of the message of the user that is being told; a new one begins behind a reply."""
        if self.history and self.history[-1].role == "user":
            return list(self.history[-1].blocks)
        self._front = 0
        return []

    def _put(self, blocks: list[Block]) -> None:
        if self.history and self.history[-1].role == "user":
            self.history[-1] = Message("user", blocks)
        else:
            self.history.append(Message("user", blocks))


def _attached(record: Record, mending: Mending) -> list[Block]:
    """What a model was told with an attachment."""
    rendered, facts = record.get("rendered"), record.get("attachment")
    if not isinstance(rendered, list):
        return _picture(facts, mending) if isinstance(facts, dict) else []
    aside = record.get("renderedRole") == "system"
    # A plain block never becomes a part of the result before it.
    beside = record.get("renderedBesideToolResult") is True
    blocks: list[Block] = []
    for part in rendered:
        content = part.get("content") if isinstance(part, dict) else None
        if isinstance(content, str) and content:
            told: Block = {"type": "text", "text": content} if beside else Text(content)
            blocks.append(Aside(plain(content)) if aside else told)
        elif isinstance(content, list):
            blocks += mending.blocks(content)
    return blocks


def _picture(facts: dict[str, Any], mending: Mending) -> list[Block]:
    """An image a prompt has mentioned; the reference keeps only its data."""
    content, name = facts.get("content"), facts.get("filename")
    file = content.get("file") if isinstance(content, dict) and content.get("type") == "image" else None
    if facts.get("type") != "file" or not isinstance(file, dict) or not isinstance(name, str):
        return []
    call = f"Called the Read tool with the following input: {dumps({'file_path': name}).decode()}"
    source = {"type": "base64", "media_type": file.get("type"), "data": file.get("base64")}
    image = mending.blocks([{"type": "image", "source": source}])
    return [Text(reminder(call)), *image] if image else []


def _ends(record: Record) -> bool:
    """Whether a hook or a limit has ended the turn here."""
    attached = record.get("attachment")
    return isinstance(attached, dict) and attached.get("type") in _ENDED


def _is_result(record: Record) -> bool:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def _expects_nothing(record: Record) -> bool:
    """Whether nobody waits for an answer to an entry: a summary, or what a command of the program said."""
    if record.get("isCompactSummary") is True:
        return True
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return isinstance(content, str) and content.startswith(_COMMAND_OUTPUT)


def _told(record: Record, content: str | list[Any]) -> str | list[Any]:
    """News of background work is marked as such; the reference keeps it without the mark."""
    origin = record.get("origin")
    news = isinstance(origin, dict) and origin.get("kind") == "task-notification"
    if news and isinstance(content, str) and content.startswith(_NEWS):
        return reminder(f"{text('job_news')}\n\n{content}")
    return content


def _said(content: str | list[Any]) -> str | list[Any]:
    """The calls as the model has made them."""
    if isinstance(content, str):
        return content
    return [_as_said(block) if isinstance(block, dict) else block for block in content]


def _as_said(block: dict[str, Any]) -> dict[str, Any]:
    said = _SAID.get(str(block.get("name"))) if block.get("type") == "tool_use" else None
    given = block.get("input")
    if said is None or not isinstance(given, dict) or "recipient" not in given:
        return block
    return {**block, "input": {key: value for key, value in given.items() if key in said}}


def _maker(record: Record, message: dict[str, Any]) -> str:
    made_by = record.get("madeBy")
    if isinstance(made_by, str) and "/" in made_by:
        return made_by
    model = message.get("model")
    return f"anthropic/{model}" if isinstance(model, str) and model != "<synthetic>" else ""
