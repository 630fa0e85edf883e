"""Standard output of a headless run: whole lines, written at once; text goes to standard error."""

from __future__ import annotations

import os
from typing import Any

from forge.foundation.encode import dumps
from forge.hosts.line import encode_line


class Sink:
    """Writes records to a file descriptor. A reader that went away makes `closed` true, nothing else."""

    def __init__(self, out: int = 1, err: int = 2) -> None:
        self._out, self._err = out, err
        self.closed = False

    def record(self, record: dict[str, Any]) -> None:
        """One JSON line."""
        self._write(self._out, encode_line(record) + b"\n")

    def mirror(self, path: str, entry: dict[str, Any]) -> None:
        """A transcript entry for hosts that keep transcripts themselves."""
        self.record({"type": "transcript_mirror", "filePath": path, "entries": [entry]})

    def records(self, records: list[dict[str, Any]]) -> None:
        """All records as one JSON array."""
        self._write(self._out, dumps(records) + b"\n")

    def text(self, text: str) -> None:
        """Plain text on standard output."""
        self._write(self._out, text.encode("utf-8", "replace"))

    def complain(self, text: str) -> None:
        """A line for the person who started the run."""
        self._write(self._err, f"{text}\n".encode("utf-8", "replace"))

    def _write(self, fd: int, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(fd, view) :]
        except BrokenPipeError:
            self.closed = self.closed or fd == self._out
