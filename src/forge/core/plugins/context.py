"""What the plugin commands need from whoever runs them, and how they answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from forge.core.plugins.layout import Layout, find_layout
from forge.foundation.errors import ForgeError
from forge.foundation.paths import Places


def _silent(text: str) -> None:
    """Says nothing."""


def _nothing() -> str:
    return ""


class Context(msgspec.Struct, frozen=True):
    """The surroundings of one command.

    `ask` is None where nobody can be asked; then nothing that needs an answer happens. `say` shows progress
    and what is about to be installed. `setting` looks up merged settings by dotted key.
    """

    places: Places
    env: Mapping[str, str]
    setting: Callable[[str, Any], Any]
    ask: Callable[[str], bool] | None = None
    say: Callable[[str], None] = _silent
    warn: Callable[[str], None] = _silent
    read_input: Callable[[], str] = _nothing
    now: Callable[[], float] = time.time

    @property
    def layout(self) -> Layout:
        return find_layout(self.places, self.env)

    @property
    def air_gap(self) -> bool:
        return self.setting("airGap", False) is True


class Outcome(msgspec.Struct, frozen=True):
    """What a command has done: texts for both streams, the exit code, whether plugins must be loaded anew."""

    out: str = ""
    err: str = ""
    code: int = 0
    reload: bool = False


class PluginFailure(ForgeError):
    """A plugin command cannot do what was asked; `code` names the reason for scripts."""

    def __init__(self, message: str, code: str = "error_unknown", **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.more = more
