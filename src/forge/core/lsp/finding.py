"""What language servers find wrong in a file, and how the model is told."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

MOST_PER_FILE = 10
MOST_AT_ONCE = 30
MOST_CHARS = 4_000
HEADER = "The following new diagnostic issues were detected:"
_CUT = "…[truncated]"
_MARKS = {1: "✘", 2: "⚠", 3: "ℹ", 4: "★"}
_SEVERITIES = {1: "Error", 2: "Warning", 3: "Info", 4: "Hint"}


class Finding(msgspec.Struct, frozen=True):
    """One diagnostic; line and column count from 1, `severity` from 1 (error) to 4 (hint).

    `end` is the place behind it.
    """

    line: int
    column: int
    message: str
    severity: int = 1
    code: str = ""
    source: str = ""
    end: tuple[int, int] | None = None


class News(msgspec.Struct, frozen=True):
    """What the model is told, and the same as the transcript keeps it; both empty if there is nothing."""

    text: str = ""
    files: list[dict[str, Any]] = []


def read_findings(raw: Any) -> list[Finding]:
    """The diagnostics of a message, the worst first; what makes no sense is left out."""
    found = [_read(item) for item in raw if isinstance(item, dict)] if isinstance(raw, list) else []
    return sorted(found, key=lambda finding: finding.severity)


def _read(item: dict[str, Any]) -> Finding:
    line, column = start_of(item.get("range"))
    severity, code = item.get("severity"), item.get("code")
    return Finding(
        line,
        column,
        str(item.get("message", "")),
        severity if isinstance(severity, int) and severity in _MARKS else 1,
        str(code) if isinstance(code, str | int) and code != "" else "",
        str(item.get("source") or ""),
        start_of(item.get("range"), "end"),
    )


def start_of(raw: Any, side: str = "start") -> tuple[int, int]:
    """Line and column, counted from 1, at which a range of the protocol starts."""
    place = raw.get(side) if isinstance(raw, dict) else None
    found = place if isinstance(place, dict) else {}
    line, column = found.get("line", 0), found.get("character", 0)
    return (line if isinstance(line, int) else 0) + 1, (column if isinstance(column, int) else 0) + 1


def tell(found: Mapping[str, Sequence[Finding]]) -> News:
    """What the model is told about files by path."""
    left, listed = MOST_AT_ONCE, {}
    for path, findings in found.items():
        chosen = findings[: min(MOST_PER_FILE, left)]
        left -= len(chosen)
        if chosen:
            listed[path] = chosen
    if not listed:
        return News()
    words = "\n\n".join(
        "\n".join([f"{os.path.basename(path)}:", *(f"  {_line(finding)}" for finding in findings)])
        for path, findings in listed.items()
    )
    if len(words) > MOST_CHARS:
        words = words[: MOST_CHARS - len(_CUT)] + _CUT
    rows = [{"uri": path, "diagnostics": [_row(f) for f in findings]} for path, findings in listed.items()]
    return News(f"<new-diagnostics>{HEADER}\n\n{words}</new-diagnostics>", rows)


def _row(finding: Finding) -> dict[str, Any]:
    """One diagnostic in the transcript; there lines and columns count from 0."""
    end = finding.end or (finding.line, finding.column)
    row: dict[str, Any] = {
        "message": finding.message,
        "severity": _SEVERITIES[finding.severity],
        "range": {
            "start": {"line": finding.line - 1, "character": finding.column - 1},
            "end": {"line": end[0] - 1, "character": end[1] - 1},
        },
    }
    more = {"source": finding.source, "code": finding.code}
    return row | {key: value for key, value in more.items() if value}


def _line(finding: Finding) -> str:
    code = f" [{finding.code}]" if finding.code else ""
    source = f" ({finding.source})" if finding.source else ""
    place = f"[Line {finding.line}:{finding.column}]"
    return f"{_MARKS[finding.severity]} {place} {finding.message}{code}{source}"
