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


class Finding(msgspec.Struct, frozen=True):
    """One diagnostic; line and column count from 1, `severity` from 1 (error) to 4 (hint)."""

    line: int
    column: int
    message: str
    severity: int = 1
    code: str = ""
    source: str = ""


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
    )


def start_of(raw: Any) -> tuple[int, int]:
    """Line and column, counted from 1, at which a range of the protocol starts."""
    start = raw.get("start") if isinstance(raw, dict) else None
    found = start if isinstance(start, dict) else {}
    line, column = found.get("line", 0), found.get("character", 0)
    return (line if isinstance(line, int) else 0) + 1, (column if isinstance(column, int) else 0) + 1


def findings_text(found: Mapping[str, Sequence[Finding]]) -> str:
    """What the model is told about files by path; empty if there is nothing to tell."""
    left, parts = MOST_AT_ONCE, []
    for path, findings in found.items():
        listed = findings[: min(MOST_PER_FILE, left)]
        left -= len(listed)
        if listed:
            lines = "\n".join(f"  {_line(finding)}" for finding in listed)
            parts.append(f"{os.path.basename(path)}:\n{lines}")
    if not parts:
        return ""
    words = "\n\n".join(parts)
    if len(words) > MOST_CHARS:
        words = words[: MOST_CHARS - len(_CUT)] + _CUT
    return f"<new-diagnostics>{HEADER}\n\n{words}</new-diagnostics>"


def _line(finding: Finding) -> str:
    code = f" [{finding.code}]" if finding.code else ""
    source = f" ({finding.source})" if finding.source else ""
    place = f"[Line {finding.line}:{finding.column}]"
    return f"{_MARKS[finding.severity]} {place} {finding.message}{code}{source}"
