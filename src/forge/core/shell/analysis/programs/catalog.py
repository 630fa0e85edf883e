"""Which function judges which program, and what several of them share."""

from __future__ import annotations

import functools

from forge.core.shell.analysis.paths import read, secret_path
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.programs import (
    builtins,
    copying,
    databases,
    deleting,
    filters,
    finding,
    git,
    interpreters,
    network,
    own,
    printing,
    remote,
    shells,
    terminals,
    wrappers,
)
from forge.core.shell.analysis.programs.running import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.core.shell.analysis.state import Frame, Stream, Word

    Judge = Callable[[list[Word], Frame], Stream]

__all__ = ["find", "run_text", "secrets_read"]


def find(name: str) -> Judge | None:
    """The function for a program, None if the tables decide."""
    return _programs().get(name)


def secrets_read(words: list[Word], frame: Frame) -> frozenset[str]:
    """Looks for credentials among the operands of a program that reads files."""
    tags: frozenset[str] = frozenset()
    for word in words:
        text = word.text.rpartition("=")[2] if word.text.startswith("-") else word.text
        text = text.removeprefix("@")
        tags |= word.tags
        if (UNKNOWN not in text and secret_path(text)) or frame.state.links or frame.state.files:
            tags |= read(frame, type(word)(text)).tags
    return tags


@functools.cache
def _programs() -> dict[str, Judge]:
    found: dict[str, Judge] = {}
    for module in (builtins, copying, databases, deleting, filters, finding, git, interpreters, network, own,
                   printing, remote, shells, terminals, wrappers):  # fmt: skip
        for group, judge in module.PROGRAMS.items():
            for name in group.split():
                found[name] = judge
    return found
