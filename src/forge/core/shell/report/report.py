"""Output for the model: settled, condensed, cut; with honest figures of what that saved."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from forge.core.shell.report.condense import without_passes, without_repeats
from forge.core.shell.report.excerpt import excerpt
from forge.core.shell.report.settle import settled_text

LIMIT = 30_000
HARD_LIMIT = 100_000
# What these print is edited from: not one character of it may change.
_READERS = re.compile(
    r"cat|bat|head|tail|sed|g?awk|[ef]?grep|rg|ag|ack|jq|yq|xxd|od|hexdump|strings|diff|cmp|comm|sort|uniq|cut|tr|nl"
    r"|tac|rev|column|less|more|find|fd|ls|tree|stat|file|git|gh|base64|sqlite3|psql"
)


class Report(msgspec.Struct, frozen=True):
    """Text for the model; sizes in bytes before and after; what was done to it."""

    text: str
    before: int
    after: int
    steps: tuple[str, ...] = ()


def make_report(
    output: str, *, verbatim: bool, terminal: bool = False, limit: int = LIMIT, source: str = ""
) -> Report:
    """The output as a model should see it. `verbatim`: only what does not fit may be left out.

    `terminal`: it was printed to one, so that colours and movements are no content.
    """
    steps: list[tuple[str, Callable[[str], str]]] = []
    if terminal or not verbatim:
        steps.append(("settled", settled_text))
    if not verbatim:
        steps += [("passes", without_passes), ("repeats", without_repeats)]
    text = output
    done = []
    for name, step in steps:
        before, text = text, step(text)
        if text != before:
            done.append(name)
    shown = excerpt(text, min(limit, HARD_LIMIT), source=source)
    if shown != text:
        done.append("excerpt")
    return Report(shown, _size(output), _size(shown), tuple(done))


def shows_content(program: str) -> bool:
    """Whether what a program prints is content that must stay as it is."""
    return _READERS.fullmatch(program.rpartition("/")[2]) is not None


def binary_note(kind: str, size: int, path: str) -> str:
    """What stands for output that is no text."""
    where = f" It was saved to {path}." if path else ""
    return f"[The output is {kind}, {size} bytes, and is not shown.{where}]"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
