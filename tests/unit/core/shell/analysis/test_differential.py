from __future__ import annotations

import pytest

import shell_fuzz

SAMPLE = 40


@pytest.mark.parametrize("kind", ["general", "heredoc"])
def test_bash_runs_no_command_that_the_analysis_did_not_see(kind: str) -> None:
    if not shell_fuzz.usable():
        pytest.skip("this machine cannot make a namespace in which random commands are safe")
    assert shell_fuzz.hidden(shell_fuzz.snippets(kind, SAMPLE, 20)) == []
