"""A live CLI: its lines as changes, its questions answered on the side, and what it has been told so far."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from forge.core.message import Block
from forge.core.model import Finished
from forge.core.models.asides import Turn, is_result
from forge.core.models.claude_cli.changes import Change, Notice, StepStarted, TurnFinished
from forge.core.models.claude_cli.control import refusal, success, user_line
from forge.core.models.claude_cli.lines import Splitter, decode
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import Outcome
from forge.core.models.claude_cli.process import Cli, Stalled
from forge.core.models.claude_cli.reply import Reply
from forge.core.models.claude_cli.trouble import failed, silent, stalled
from forge.core.reminder import is_reminder
from forge.foundation.errors import ModelError

log = logging.getLogger("forge.claude_cli")

Asked = dict[str, Any]
# The answer to a request of the CLI; None if it is not understood.
Answers = Callable[[Asked], Awaitable[Asked | None]]


class Talk:
    """`sent` and `said` are the conversation as the CLI knows it: what was asked last, and its reply.

    `key` is everything a running CLI cannot be told anew. `spent`: it cannot be asked again.
    `limits` is what its last result says about its models; `untold` waits for the next prompt.
    """

    def __init__(self, cli: Cli, answers: Answers, key: object, idle: float, history: str = "") -> None:
        self.cli = cli
        self.key = key
        self.mapper = Mapper()
        self.sent: list[Turn] = []
        self.said: Turn | None = None
        self.untold: list[Block] = []
        self.limits: dict[str, Any] = {}
        self.spent = False
        # A turn of its own is under way; a call of it has no result yet.
        self.running = self.waiting = False
        self._answers = answers
        self._idle = idle
        self._history = history
        self._splitter = Splitter()
        self._lines: deque[bytes] = deque()
        self._changes: deque[Change] = deque()
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._over = False

    async def change(self) -> Change | None:
        """The next change, None at the end of the output; raises `ModelError` if nothing comes."""
        while not self._changes:
            if not self._lines and not await self._read():
                return None
            self._take(self._lines.popleft())
            if self.mapper.broken:
                return None
        return self._changes.popleft()

    def tell(self, news: list[Block]) -> bool:
        """Hands over the next message of the user; false if it comes while another turn is under way.

        Results of a turn under way are the CLI's own, and reminders can wait for the next prompt.
        """
        if not self.running:
            self.cli.send(user_line([*self.untold, *news]))
            self.untold = []
            return True
        others = [block for block in news if not is_result(block)]
        self.untold += others
        return all(is_reminder(block) for block in others)

    async def is_ready(self) -> bool:
        """Whether it can be told something: it works, or waits and nothing happened unasked."""
        if self.running:
            return not self.cli.is_gone
        try:
            while chunk := await self.cli.read(0):
                self._lines.extend(self._splitter.feed(chunk))
        except Stalled:
            pass
        else:
            return False
        while self._lines:
            self._take(self._lines.popleft())
        unasked = [c for c in self._changes if isinstance(c, StepStarted | TurnFinished)]
        self._changes.clear()
        return not unasked

    def put_back(self, change: Change) -> None:
        """Makes a change the next one again."""
        self._changes.appendleft(change)

    async def until_result(self) -> None:
        """Waits until a line that is only stored has been taken in."""
        while (change := await self.change()) is not None:
            if isinstance(change, TurnFinished):
                self.note_result(change)
                return
        raise await self.broken_off()

    def note_result(self, change: TurnFinished) -> None:
        """The turn is over; the next one is another run for the mapper."""
        self.running = self.waiting = False
        used = change.result.get("modelUsage")
        self.limits = used if isinstance(used, dict) else {}
        self.mapper = Mapper(self.mapper.end(None).total_cost)
        remove(self._history)

    async def outcome(self) -> Outcome:
        """How the CLI has ended; only after the end of its output."""
        await self.abort() if self.mapper.broken else await self.cli.ended()
        return self.mapper.end(self.cli.code, stderr=self.cli.last_words)

    async def broken_off(self) -> ModelError:
        """The error for a CLI that ended in the middle of its work."""
        error = (await self.outcome()).error
        return failed(error) if error is not None else silent()

    async def abort(self) -> None:
        """Ends the CLI at once, with everything it has started."""
        self._forget()
        await self.cli.abort()

    async def close(self) -> None:
        """Ends a CLI that is not needed any more; one that still works is not waited for."""
        self._forget()
        await (self.cli.abort() if self.running else self.cli.finish())

    def _forget(self) -> None:
        remove(self._history)
        for task in self._asked.values():
            task.cancel()

    async def _read(self) -> bool:
        """More lines; false at the end."""
        while not self._lines and not self._over:
            # Somebody is asked, or a command runs: that may take its time.
            patience = None if self._asked or self.waiting else self._idle
            try:
                chunk = await self.cli.read(patience)
            except Stalled:
                raise stalled(self._idle) from None
            self._over = not chunk
            self._lines.extend(self._splitter.feed(chunk) if chunk else self._splitter.rest())
        return bool(self._lines)

    def _take(self, line: bytes) -> None:
        event = decode(line)
        if event is None:
            self._changes.extend(self.mapper.feed(line))
        elif event.get("type") == "control_request":
            self._answer(str(event.get("request_id")), event.get("request"))
        elif event.get("type") == "control_cancel_request":
            task = self._asked.get(str(event.get("request_id")))
            if task is not None:
                task.cancel()
        else:
            found = self.mapper.take(event)
            self._changes.extend(found)
            for change in found:
                if isinstance(change, Notice):
                    log.info("%s: %s", change.kind, change.text)

    def _answer(self, request_id: str, request: Any) -> None:
        async def reply() -> None:
            answer = await self._answers(request if isinstance(request, dict) else {})
            if answer is None:
                self.cli.send(refusal(request_id, "Unsupported control request"))
            else:
                self.cli.send(success(request_id, answer))

        def answered(task: asyncio.Task[None]) -> None:
            self._asked.pop(request_id, None)
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("a question of the CLI could not be answered", exc_info=error)
                self.cli.send(refusal(request_id, "The question could not be answered."))

        task = self._asked[request_id] = asyncio.ensure_future(reply())
        task.add_done_callback(answered)


def remove(history: str) -> None:
    """Removes a transcript, which is read at the start only; nothing of a conversation stays behind."""
    if history:
        with suppress(OSError):
            os.unlink(history)


def last_reply(talk: Talk, reply: Reply, change: TurnFinished) -> Finished:
    """The reply that ends a turn; raises `ModelError` if the turn went wrong."""
    if change.error is not None:
        raise failed(change.error)
    finished = reply.finish(change.cost)
    talk.note_result(change)
    return finished
