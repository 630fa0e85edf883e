"""Output as it looks in the end: progress bars, spinners and colours leave no more than their last state."""

from __future__ import annotations

import re

from forge.core.shell.session.screen import Screen

_MOVING = re.compile(r"[\x1b\b\x7f\x0e\x0f\x9b]|\r(?!\n)")
_ROWS = 24
_MOST_COLUMNS = 100_000
_MOST_LINES = 1_000_000


def settled_text(text: str, *, rows: int = _ROWS) -> str:
    """What a terminal would show at the end, with all that scrolled away; other text unchanged."""
    if _MOVING.search(text) is None:
        return text
    # Wide enough that nothing is wrapped: lines are for reading, not for a window.
    columns = min(max(map(len, text.split("\n"))) + 1, _MOST_COLUMNS)
    screen = Screen(rows, columns, keep=_MOST_LINES, newline=True)
    screen.feed(text.encode("utf-8", "replace"))
    lines = [*screen.kept_lines(), *screen.view().lines]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + ("\n" if text.endswith("\n") and lines else "")
