"""What a hook says for each end of a review."""

from __future__ import annotations

import pytest

from forge.hosts.diffy.answer import Answer, Outcome, answered, blocked, noticed

FEEDBACK = "[diffy review result]\nrejected 1 of 2 hunks.\n"
NOTES = "[diffy review result]\nall accepted.\n"

ENDS = [
    (Outcome(), "exit2", Answer()),
    (Outcome(), "json", Answer()),
    (Outcome(feedback=FEEDBACK), "exit2", Answer(2, err=FEEDBACK)),
    (
        Outcome(feedback=FEEDBACK),
        "json",
        Answer(out='{"decision":"block","reason":"[diffy review result]\\nrejected 1 of 2 hunks.\\n"}\n'),
    ),
    (
        Outcome(notes=NOTES),
        "exit2",
        Answer(
            out='{"hookSpecificOutput":{"hookEventName":"Stop",'
            '"additionalContext":"[diffy review result]\\nall accepted.\\n"}}\n'
        ),
    ),
    (Outcome(error="a.py has changed"), "exit2", Answer(3, err="diffy: a.py has changed\n")),
]


@pytest.mark.requirement("S3-16")
@pytest.mark.parametrize(("outcome", "output", "answer"), ENDS)
def test_each_outcome_has_its_answer(outcome: Outcome, output: str, answer: Answer) -> None:
    assert answered(outcome, output) == answer


@pytest.mark.requirement("S3-09")
def test_user_is_told_what_was_not_reviewed() -> None:
    text = "diffy: 1 hunk not reviewed — run `diffy` in another terminal"
    assert noticed(1, "run `diffy` in another terminal") == Answer(
        out=f'{{"systemMessage":"{text}"}}\n', err=f"{text}\n"
    )
    assert "(kitty cannot be used here)" in noticed(3, "x", "kitty").out


def test_unreviewed_work_of_an_unattended_run_does_not_look_like_success() -> None:
    assert blocked(2).out == (
        '{"continue":false,"stopReason":"diffy: 2 hunks not reviewed, and nobody is here to do it"}\n'
    )
