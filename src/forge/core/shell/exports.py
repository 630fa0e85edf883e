"""Variables that hooks have exported for the commands of a session: files a shell reads before a command."""

from __future__ import annotations

import os


class Exports:
    """The files, in the order in which they are read."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def prelude(self) -> str:
        """Shell text that reads the files that exist; empty if there are none."""
        quoted = ["'" + path.replace("'", "'\\''") + "'" for path in self.files if _filled(path)]
        return "".join(f". {path}; " for path in quoted)


def _filled(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
