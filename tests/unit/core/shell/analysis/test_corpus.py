from __future__ import annotations

import pytest

from forge.core.shell.analysis.decide import Thresholds, decide
from forge.core.shell.analysis.record import CATEGORIES
from forge.core.shell.analysis.rules import RuleSet
from unit.core.shell.analysis.judged import corpus, judged

# Known answers of another kind that are right as well: an interactive program that also needs caution.
INTERACTIVE = {"docker run --rm -it alpine sh", "less ~/.aws/credentials"}


@pytest.mark.parametrize("category", [*CATEGORIES, "interactive"])
def test_commands_get_the_category_they_should(category: str) -> None:
    wrong = [
        f"{command!r}: {verdict.category} {verdict.risk}"
        for expect, also, command in corpus()
        if expect == category and command not in INTERACTIVE
        if (verdict := judged(command)).category not in (expect, *also)
    ]
    assert wrong == []


def test_nothing_dangerous_runs_without_a_question_and_nothing_harmless_is_refused() -> None:
    silent, refused = [], []
    for expect, also, command in corpus():
        answer = decide(judged(command), RuleSet(), Thresholds()).verdict
        if expect in ("dangerous", "forbidden") and answer not in ("ask", "deny"):
            silent.append(command)
        if expect in ("read_only", "safe_write") and "caution" not in also and answer in ("ask", "deny"):
            refused.append(command)
    assert (silent, refused) == ([], [])


def test_the_corpus_is_large_and_has_no_doubles() -> None:
    commands = [command for _, _, command in corpus()]
    assert len(commands) >= 400
    assert [c for c in set(commands) if commands.count(c) > 1] == []
