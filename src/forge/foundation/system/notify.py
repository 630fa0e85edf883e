"""Who says that something has happened on disk; where nobody does, one has to look again and again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Protocol


class Notifier(Protocol):
    """Calls back when something happens in the followed directories."""

    def follow(self, folders: Iterable[str]) -> bool: ...

    def close(self) -> None: ...


def open_notifier(wake: Callable[[], None]) -> Notifier | None:
    """The notifier of this system; None if there is none or it refuses."""
    if sys.platform != "linux":
        return None
    from forge.foundation.system.inotify import Inotify  # only where it exists

    try:
        return Inotify(wake)
    except (OSError, AttributeError):
        return None
