from __future__ import annotations

import pytest

from forge.core.shell.guard.glance import only_reads
from unit.core.shell.analysis.judged import corpus, judged


@pytest.mark.parametrize(
    "command", ["ls", "ls -la src", "cat a/b.txt", "echo hi", "grep -rn TODO src", "  pwd  ", "wc -l a b"]
)
def test_plain_reading_needs_no_analysis(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls; rm x",
        "echo $(rm x)",
        "echo hi > f",
        "cat ~/.ssh/id_rsa",
        "cat .env",
        "A=1 ls",
        "rm x",
        "uniq a b",
        "date -s x",
        "ls\nrm x",
        "ls `x`",
        "./ls",
        "ls 'a b'",
        "ls &",
        "cat <f",
        "ls *",
    ],
)
def test_anything_else_is_looked_at(command: str) -> None:
    assert not only_reads(command)


def test_nothing_that_needs_care_is_taken_for_plain_reading() -> None:
    wrong = [
        c for _, _, c in corpus() if only_reads(c) and judged(c).category not in ("read_only", "interactive")
    ]
    assert wrong == []
