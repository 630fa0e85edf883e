"""Signals as something one can wait for: they are noted, and the work at hand is finished first."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Any

_NUMBERS = (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Signals:
    """While this is entered, requests to end only set `number` and make `fileno()` readable."""

    def __init__(self) -> None:
        self.number = 0
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for number in _NUMBERS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, action in self._before.items():
            signal.signal(number, action)
        os.close(self._reading)
        os.close(self._writing)

    def fileno(self) -> int:
        return self._reading

    @property
    def exit_code(self) -> int:
        """What a shell reports for a program that the signal ended."""
        return 128 + self.number

    def _note(self, number: int, _: FrameType | None) -> None:
        self.number = number
        os.write(self._writing, b"x")
