from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.core.plan import Plan, plan_path
from forge.core.tools import askuserquestion, enterplanmode, exitplanmode
from unit.core.tools.context import RecordingContext, call, failure

QUESTIONS = [
    {
        "question": "Which?",
        "header": "Pick",
        "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
        "multiSelect": True,
    }
]
CAREFULLY = (
    "Read the answers carefully — they may request clarification, changes, or that you not proceed — and "
    "follow what they actually say."
)


@pytest.mark.parametrize(
    ("filled", "words"),
    [
        ({}, "The user did not answer the questions."),
        ({"answers": {}}, "The user did not answer the questions."),
        (
            {"answers": {"Which?": "B"}},
            'Your questions have been answered: "Which?"="B". You can now continue with these answers in '
            "mind.",
        ),
        (
            {"answers": {"Which?": "A, B"}},
            'Your questions have been answered: "Which?"="A, B". You can now continue with these answers in '
            "mind.",
        ),
        ({"answers": {"Which?": "neither"}}, f'The user answered: "Which?"="neither". {CAREFULLY}'),
        (
            {
                "answers": {"Which?": "A"},
                "annotations": {"Which?": {"notes": "my note", "preview": "pre"}},
            },
            f'The user answered: "Which?"="A" selected preview:\npre notes: my note. {CAREFULLY}',
        ),
    ],
    ids=["nothing", "no answer", "one", "several", "own words", "remarks"],
)
def test_answers_are_told_in_known_words(tmp_path: Path, filled: dict[str, Any], words: str) -> None:
    output = call(askuserquestion.ACTION, RecordingContext(tmp_path), questions=QUESTIONS, **filled)
    assert (output.content, output.data) == (words, {"questions": QUESTIONS, "answers": {}, **filled})


def test_questions_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    kind, _ = failure(askuserquestion.ACTION, RecordingContext(tmp_path), questions=QUESTIONS * 2)
    assert kind == "refused"


def planning(tmp_path: Path, mode: str = "plan") -> tuple[RecordingContext, Path]:
    ctx = RecordingContext(tmp_path)
    ctx.mode = mode
    ctx.keep(Plan).mode = lambda: ctx.mode
    return ctx, Path(plan_path(ctx.session_id, ctx.env, ctx.setting, ctx.start_dir))


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
def test_plan_mode_goes_back_to_the_mode_before(tmp_path: Path, mode: str) -> None:
    ctx, path = planning(tmp_path, mode)
    entered = call(enterplanmode.ACTION, ctx)
    call(enterplanmode.ACTION, ctx)
    assert ctx.mode == "plan"
    left = call(exitplanmode.ACTION, ctx)
    assert ctx.mode == mode
    first = (
        "Entered plan mode. You should now focus on exploring the codebase and designing an implementation "
        "approach."
    )
    assert (str(entered.content).partition("\n")[0], entered.data) == (first, {"message": first})
    assert str(path) in str(entered.content)
    assert (left.content, left.data) == (
        "User has approved exiting plan mode. You can now proceed.",
        {"plan": None, "isAgent": False, "filePath": str(path)},
    )


@pytest.mark.parametrize(
    ("given", "plan", "edited"),
    [
        ({}, "# Plan\n1. y\n", False),
        ({"plan": "# Plan\n1. y\n", "planFilePath": "/x"}, "# Plan\n1. y\n", False),
        ({"plan": "another"}, "another", True),
    ],
    ids=["as written", "echoed", "changed by the user"],
)
def test_the_plan_comes_from_its_file_or_from_the_user(
    tmp_path: Path, given: dict[str, Any], plan: str, edited: bool
) -> None:
    ctx, path = planning(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("# Plan\n1. y\n")
    output = exit_after_question(ctx, given)
    note = " (edited by user)" if edited else ""
    assert output.content == (
        "User has approved your plan. You can now start coding. Start with updating your todo list if "
        f"applicable\n\nYour plan has been saved to: {path}\nYou can refer back to it if needed during "
        f"implementation.\n\n## Approved Plan{note}:\n{plan}"
    )
    told = {"plan": plan, "isAgent": False, "filePath": str(path)}
    assert output.data == (told | {"planWasEdited": True} if edited else told)
    assert path.read_text() == plan


def exit_after_question(ctx: RecordingContext, answered: dict[str, Any]) -> Any:
    """The model calls without input; the host answers the question with another one."""

    async def both() -> Any:
        assert exitplanmode.ACTION.check is not None
        await exitplanmode.ACTION.check(exitplanmode.Args(), ctx)
        changed = msgspec.convert(answered, exitplanmode.Args)
        await exitplanmode.ACTION.check(changed, ctx)
        return await exitplanmode.ACTION.run(changed, ctx)

    return asyncio.run(both())


def test_a_plan_the_model_passes_inline_does_not_count(tmp_path: Path) -> None:
    ctx, path = planning(tmp_path)
    output = call(exitplanmode.ACTION, ctx, plan="1. do it")
    assert (output.data["plan"], path.exists()) == (None, False)


def test_the_user_is_asked_about_the_file_not_about_what_the_model_claims(tmp_path: Path) -> None:
    ctx, path = planning(tmp_path)
    assert exitplanmode.prepare({"plan": "claimed"}, ctx) == {}
    path.parent.mkdir(parents=True)
    path.write_text("real")
    assert exitplanmode.prepare({"plan": "claimed"}, ctx) == {"plan": "real", "planFilePath": str(path)}


def test_only_plan_mode_can_be_left(tmp_path: Path) -> None:
    ctx, _ = planning(tmp_path, "default")
    assert failure(exitplanmode.ACTION, ctx) == (
        "refused",
        "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first. If your plan was "
        "already approved, continue with implementation.",
    )


def test_the_model_has_no_answers_to_give(tmp_path: Path) -> None:
    assert askuserquestion.ACTION.prepare is not None
    given = {"questions": QUESTIONS, "answers": {"Which?": "A"}, "annotations": {}, "metadata": {}}
    shown = askuserquestion.ACTION.prepare(given, RecordingContext(tmp_path))
    assert shown == {"questions": QUESTIONS, "metadata": {}}


def test_a_mode_chosen_with_the_plan_is_kept(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path, {"HOME": str(tmp_path)})
    plan, modes = ctx.keep(Plan), iter(["plan", "acceptEdits", "acceptEdits"])
    plan.mode = lambda: next(modes)
    before = ctx.mode
    call(exitplanmode.ACTION, ctx)
    assert ctx.mode == before
