from __future__ import annotations

import pytest

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.judge import judge
from unit.core.shell.analysis.judged import judged, machine

NESTED = "ls"
for _ in range(10):
    NESTED = "bash -c '" + NESTED.replace("'", "'\\''") + "'"


@pytest.mark.parametrize(
    "command",
    [
        "ls \x07",
        "ls\r-la",
        "ls \u202etxt",
        "l\u200bs",
        "ls\u00a0-la",
        "ls \ue000",
        "echo $(",
        "echo 'a",
        "if true",
        "cat <<$X\nrm\n$X",
        "echo \"${x:-'$(date)'}\"",
        "cat <<EOF\n$(date\nEOF",
        "$PROGRAM --help me",
        'eval "$CODE"',
        "cat unknown.sh | bash",
        'python3 -c "$CODE"',
        "x" * 300_000,
        "$(" * 3000 + ")" * 3000,
    ],
)
def test_what_cannot_be_analysed_is_asked_about(command: str) -> None:
    verdict = judged(command)
    assert (verdict.category, verdict.analysable) == ("caution", False)


def test_deep_nesting_is_dangerous() -> None:
    assert judged(NESTED).category == "dangerous"


def test_no_time_left_is_asked_about() -> None:
    verdict = analyse("ls -la; cat README.md", machine(), -1.0)
    assert (verdict.category, verdict.risk, verdict.analysable) == ("caution", 7, False)


def test_a_failure_of_the_analysis_is_asked_about() -> None:
    around = machine()

    def broken(path: str) -> str:
        raise ValueError(path)

    around.real = broken
    verdict = analyse("rm notes.txt", around)
    assert (verdict.category, verdict.findings[0].reason) == (
        "caution",
        "cannot be analysed: the analysis failed (ValueError)",
    )


def test_a_forbidden_part_of_a_broken_text_stays_forbidden() -> None:
    assert judged("[[ -d / ]] && rm -rf /").category == "forbidden"


def test_a_syntax_error_is_told_in_the_words_of_bash() -> None:
    assert "unexpected EOF" in judged("echo 'a").syntax_error


def test_another_shell_is_asked_about() -> None:
    assert judge("ls", machine(), "fish").category == "caution"


def test_many_commands_are_all_looked_at() -> None:
    assert judged("; ".join(["ls"] * 300 + ["rm -rf /"])).category == "forbidden"
