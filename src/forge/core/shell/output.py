"""What the model gets to see of a command's output."""

from __future__ import annotations

import os
import re

from forge.core.amount import human_size
from forge.core.shell.execute import Outcome

_PREVIEW = 2000
_EXCERPT = 5000
# An excerpt must save more than its own note costs.
_WORTHWHILE = 1024


def shown_text(outcome: Outcome, limit: int) -> str:
    """The first `limit` bytes of the output as text, without blank lines around it."""
    return _trimmed(outcome.head[:limit].decode("utf-8", "replace"))


def _trimmed(text: str) -> str:
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def saved(outcome: Outcome, path: str) -> str:
    """The file with the whole output, written now unless that was done before; "" if it could not be."""
    if outcome.path or outcome.tail:
        return outcome.path
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(outcome.head)
    except OSError:
        return ""
    return path


def persisted(text: str, size: int, path: str) -> str:
    """The text that stands for an output too large for the model."""
    return (
        f"<persisted-output>\nOutput too large ({human_size(size)}). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{_preview(text)}\n...\n</persisted-output>"
    )


def _preview(text: str) -> str:
    part = text[:_PREVIEW]
    end = part.rfind("\n")
    return part[:end] if end > _PREVIEW // 2 else part


def unsaved(text: str, outcome: Outcome) -> str:
    """The text for an output that is too large and could not be saved either."""
    end = (outcome.tail or outcome.head).decode("utf-8", "replace").rstrip()
    note = "(The output is too large to be shown, and the rest of it could not be saved.)"
    return f"{_excerpt(text, end, outcome.size)}\n{note}"


def failure_text(first_line: str, outcome: Outcome) -> str:
    """The text of a failed command: start and end of its output if it is long."""
    whole = outcome.head.decode("utf-8", "replace")
    if not outcome.tail:
        text = f"{first_line}\n{whole}".rstrip()
        return _excerpt(text, text, len(text))
    end = outcome.tail.decode("utf-8", "replace").rstrip()
    return _excerpt(f"{first_line}\n{whole}", end, outcome.size)


def _excerpt(start: str, end: str, length: int) -> str:
    if length - 2 * _EXCERPT <= _WORTHWHILE:
        return start
    cut = length - 2 * _EXCERPT
    return f"{start[:_EXCERPT]}\n\n... [{cut} characters truncated] ...\n\n{end[-_EXCERPT:]}"
