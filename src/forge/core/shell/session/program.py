"""A program in a terminal of its own: driven by keys, seen as a screen."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress

import msgspec

from forge.core.shell.session.capture import Ring
from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.prompts import Line, asks_for_secret, looks_like_question
from forge.core.shell.session.screen import Screen
from forge.core.shell.session.typed import Typing, lines_of
from forge.foundation.system.keeping import Held
from forge.foundation.system.terminal import Waiting, hides_input, set_size, signal_front, waiting

_BLOCK = 1 << 16
_MOST_PER_TURN = 1 << 20
SETTLED = 0.12
# What is typed faster than a program reads.
_MOST_UNSENT = 1 << 20


class Seen(msgspec.Struct, frozen=True):
    """A screen and what is known about its program. `exit_code` is None while it runs."""

    text: str
    cursor: tuple[int, int]
    title: str
    alternate: bool
    waiting: bool
    password: bool
    exit_code: int | None = None


class NotSent(Exception):
    """Keys were not sent; the text says why."""


class Program:
    """A program that has been started; `watcher` hears all output, so that a user can look on."""

    def __init__(self, held: Held, master: int, size: tuple[int, int], command: str) -> None:
        self.command = command
        self.typing = Typing(command)
        self.held = held
        self.screen = Screen(*size)
        self.output = Ring()
        self.watcher: Callable[[bytes], None] | None = None
        self._master = master
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self.used = self._loop.time()
        self._last_output = 0.0
        self._loop.add_reader(master, self._read)

    async def seen(self) -> Seen:
        """The screen as it is now."""
        view = self.screen.view()
        if self._master < 0 and self.held.exit_code is None:
            await self.held.wait()
        state = waiting(self._master) if self._master >= 0 else Waiting.BUSY
        reads = state is Waiting.READING or (state is Waiting.PERHAPS and self._is_quiet())
        if state is Waiting.UNKNOWN:
            reads = self._is_quiet() and looks_like_question(view.cursor_line())
        return Seen(
            view.text(),
            view.cursor,
            view.title,
            view.alternate,
            reads,
            self.asks_password(),
            self.held.exit_code,
        )

    def asks_password(self) -> bool:
        """Whether the program reads something that nobody may see, a model least of all."""
        if self._master < 0:
            return False
        view = self.screen.view()
        hidden = hides_input(self._master)
        return hidden and (asks_for_secret(view.cursor_line()) or waiting(self._master) is Waiting.READING)

    def send(self, keys: str, *, check: Callable[[Line], str] | None = None, by_user: bool = False) -> None:
        """Types keys. NotSent at a password prompt unless the user types, and if `check` refuses.

        `check` gets each line that a shell or interpreter would run; it answers why it must not, or "".
        UnclearLine if it cannot be told which line that would be.
        """
        self.used = self._loop.time()
        if self._master < 0:
            raise NotSent("The program has ended.")
        parsed = parse_keys(keys, application=self.screen.application_keys)
        if not by_user:
            if self.asks_password() and any(key.text for key in parsed):
                raise NotSent("The program asks for a password. Only the user may type it: ask the user.")
            lines = lines_of(parsed, self.screen.view(), self.typing)
            for found in lines if check is not None else ():
                if check is not None and (reason := check(found)):
                    raise NotSent(reason)
        else:
            lines = []
        self.typing.took(lines, parsed)
        # What the keys bring about comes later: until then the screen has not settled.
        self._last_output = self._loop.time()
        self.write("".join(key.sent for key in parsed).encode("utf-8", "surrogateescape"))

    def write(self, data: bytes) -> None:
        """Sends bytes to the program as it takes them."""
        if len(self._unsent) + len(data) > _MOST_UNSENT:
            raise NotSent("The program does not read what is typed.")
        if not self._unsent and data and self._master >= 0:
            self._loop.add_writer(self._master, self._flush)
        self._unsent += data

    async def wait(self, until: str, seconds: float) -> bool:
        """Whether it happens in time: `settled`, `exit`, or a regular expression found on the screen."""
        self.used = self._loop.time()
        pattern = None if until in ("settled", "exit") else re.compile(until, re.MULTILINE)
        try:
            async with asyncio.timeout(seconds):
                while not (pause := self._has_happened(until, pattern)) < 0:
                    await self._moved(pause)
        except TimeoutError:
            return False
        finally:
            self.used = self._loop.time()
        return True

    def _has_happened(self, until: str, pattern: re.Pattern[str] | None) -> float:
        """Negative if it has; else how long nothing need be looked at, 0 for until something moves."""
        ended = self._master < 0
        if pattern is not None:
            view = self.screen.view()
            lines = list(view.lines)
            lines[view.cursor[0]] = view.cursor_line()
            return -1 if pattern.search("\n".join(lines).rstrip("\n")) else 0
        if until == "exit":
            return -1 if ended else 0
        if ended:
            return -1
        quiet = self._loop.time() - self._last_output
        # An empty screen is no settled screen: the program has not begun yet.
        return 0 if not self.output.size else -1 if quiet >= SETTLED else SETTLED - quiet

    async def _moved(self, pause: float) -> None:
        self._changed.clear()
        if not pause:
            await self._changed.wait()
            return
        try:
            async with asyncio.timeout(pause):
                await self._changed.wait()
        except TimeoutError:
            return

    def resize(self, rows: int, columns: int) -> None:
        """Another size of the terminal."""
        if self._master >= 0:
            set_size(self._master, rows, columns)
        self.screen.resize(rows, columns)

    async def stop(self, grace: float = 1.0) -> int:
        """Ends the program and all it has started; the exit code."""
        if self._master >= 0:
            self.held.terminate()
            signal_front(self._master, signal.SIGHUP)  # shells at a prompt heed nothing else
            await self.wait("exit", grace)
        if self._master < 0:
            # It has left its terminal: a moment later its own exit code is known.
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self.held.wait()
        code = await self.held.killed()
        self._close()
        return code

    def _is_quiet(self) -> bool:
        return self.output.size > 0 and self._loop.time() - self._last_output >= SETTLED

    def _read(self) -> None:
        self._last_output = self._loop.time()
        self._changed.set()
        taken = 0
        while taken < _MOST_PER_TURN:
            try:
                block = os.read(self._master, _BLOCK)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                block = b""
            if not block:
                self._close()
                return
            taken += len(block)
            self._take(block)

    def _take(self, block: bytes) -> None:
        self.output.add(block)
        self.screen.feed(block)
        if self.watcher is not None:
            self.watcher(block)
        if replies := self.screen.take_replies():
            self.write(replies)

    def _flush(self) -> None:
        try:
            sent = os.write(self._master, self._unsent)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._master)

    def _close(self) -> None:
        if self._master >= 0:
            self._loop.remove_reader(self._master)
            self._loop.remove_writer(self._master)
            os.close(self._master)
            self._master = -1
        self._changed.set()
