"""Shorter output without loss of meaning: repeated lines, blank runs, and tests that passed."""

from __future__ import annotations

import re
from itertools import groupby

# Fewer are cheaper to read than a remark about them.
_REPEATS = 4
_PASSES = 3
_PASSED = re.compile(
    r"\S+::\S.* PASSED(?: +\[ *\d+%\])?\s*"  # pytest -v
    r"|\S+ \(\S+\) \.\.\. ok"  # unittest -v
    r"|=== (?:RUN|PAUSE|CONT) .*|\s*--- PASS: .*"  # go test -v
    r"|test \S.* \.\.\. ok"  # cargo test
    r"|\s*[✓✔√] .*"  # jest, vitest, mocha
    r"|ok \d+(?: .*)?"  # TAP
    r"|\s*Start +\d+: .*|\s*\d+/\d+ Test +#\d+: .* +Passed +[\d.]+ sec"  # ctest
    r"|\S.* > .* PASSED"  # gradle
    r"|\s*Passed \S.* \[[^\]]*\]"  # dotnet test
    r"|\s*(?:Compiling|Checking|Downloaded|Downloading|Fresh) \S+ v\d\S*(?: \(.*\))?"  # cargo build
    r"|Requirement already satisfied: .*"  # pip
)
# What follows is about failures and stays as it is.
_FAILURES = re.compile(
    r"=+ (?:FAILURES|ERRORS|short test summary info) =+|failures:|Failed tests?:.*", re.IGNORECASE
)


def without_repeats(text: str) -> str:
    """Identical lines in a row once, with their number; runs of blank lines as one."""
    lines: list[str] = []
    for line, group in groupby(text.split("\n")):
        count = len(list(group))
        if not line.strip():
            lines += [line] * min(count, 2)
        elif count < _REPEATS:
            lines += [line] * count
        else:
            lines += [line, f"[the line above {count - 1} more times]"]
    return "\n".join(lines)


def without_passes(text: str) -> str:
    """Runs of lines that only say that something went well, as their number."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if _FAILURES.fullmatch(line.strip())), len(lines))
    short: list[str] = []
    for passed, group in groupby(lines[:end], key=lambda line: _PASSED.fullmatch(line) is not None):
        run = list(group)
        short += [f"[{len(run)} lines about success]"] if passed and len(run) >= _PASSES else run
    return "\n".join(short + lines[end:])
