"""Background work of an earlier run that nobody heard the end of: with its process it is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forge.agent.texts.load import text
from forge.core.reminder import reminder
from forge.foundation.history.transcript import Record

_BEGUN = re.compile(
    r"in background with ID: (\w+)|moved to the background \(ID: (\w+)|^Monitor started \(task (\w+)"
)
_LAUNCHED = re.compile(r"^Async agent launched.*\nagentId: (\w+)")
_OUTPUT = re.compile(r"Output is being written to: (\S+)\. |output_file: (\S+)")
_ENDED = re.compile(r"<task-id>(\w+)</task-id>(?:(?!</task-notification>).)*?<status>", re.DOTALL)
_NEWS = "<task-notification>"
# Only results with one of these can say that work has begun.
_HINT, _HEADS = "background", ("Monitor started", "Async agent launched")
# Where in a result it is said that work goes on.
_START, _END = 600, 800


class Lost(msgspec.Struct, frozen=True):
    """A piece of work that began in the background."""

    id: str
    call: str
    agent: bool
    output: str


class LostWork:
    """Looks at records as they pass and remembers what has begun and not ended."""

    def __init__(self) -> None:
        self._open: dict[str, Lost] = {}
        self._stops: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, unchanged."""
        for record in records:
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
                if isinstance(block, dict):
                    self._look(block)
            rendered = record.get("rendered")
            for part in rendered if isinstance(rendered, list) else ():
                self._hear(part.get("content") if isinstance(part, dict) else None)
            yield record

    def told(self) -> list[str]:
        """What the model is to know, one text for each piece of work."""
        return [reminder(f"{text('job_news')}\n\n{self._notice(lost)}") for lost in self._open.values()]

    def _look(self, block: dict[str, Any]) -> None:
        kind, given = block.get("type"), block.get("input")
        if kind == "text":
            self._hear(block.get("text"))
        elif kind == "tool_use" and isinstance(given, dict):
            if block.get("name") == "TaskStop":
                self._stops[str(block.get("id"))] = str(given.get("task_id"))
            elif block.get("name") == "Agent":
                self._names[str(block.get("id"))] = str(given.get("description"))
        elif kind == "tool_result":
            self._answered(block)

    def _answered(self, block: dict[str, Any]) -> None:
        call, content = str(block.get("tool_use_id")), block.get("content")
        if isinstance(content, list):
            content = content[0].get("text") if content and isinstance(content[0], dict) else None
        if block.get("is_error") is True or not isinstance(content, str):
            return
        if self._stops:
            self._open.pop(self._stops.pop(call, ""), None)
        if _HINT not in content and not content.startswith(_HEADS):
            return
        said = content if len(content) < _START + _END else f"{content[:_START]}{content[-_END:]}"
        agent = _LAUNCHED.search(said)
        begun = agent or _BEGUN.search(said)
        if begun is not None:
            identity = next(group for group in begun.groups() if group)
            output = _OUTPUT.search(said)
            path = next((group for group in output.groups() if group), "") if output else ""
            self._open[identity] = Lost(identity, call, agent is not None, path)

    def _hear(self, words: Any) -> None:
        if self._open and isinstance(words, str) and _NEWS in words:
            for identity in _ENDED.findall(words):
                self._open.pop(identity, None)

    def _notice(self, lost: Lost) -> str:
        what = f'agent "{self._names.get(lost.call, "")}"' if lost.agent else "shell command"
        tags = {"task-id": lost.id, "tool-use-id": lost.call, "output-file": lost.output}
        tags |= {"status": "failed" if lost.agent else "stopped"}
        tags |= {"summary": f"Background {what} didn't finish before the previous session ended"}
        tags |= {"note": text("lost_work")}
        body = "".join(f"<{tag}>{value}</{tag}>\n" for tag, value in tags.items() if value)
        return f"{_NEWS}\n{body}</task-notification>"
