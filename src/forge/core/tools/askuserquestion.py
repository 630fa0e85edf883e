"""AskUserQuestion: the host asks the user while it decides on the call; this tells the model the answers."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forge.core.schema_text import custom_issue
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput

_SAME_WORDS = "Question texts must be unique, option labels must be unique within each question"


class Args(msgspec.Struct, frozen=True):
    questions: list[dict[str, Any]]
    answers: dict[str, str] = {}
    annotations: dict[str, dict[str, str]] | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


async def check(args: Args, ctx: ToolContext) -> None:
    """Answers are told apart by the words of the question and of the option, so these must differ."""
    questions = [question["question"] for question in args.questions]
    labels = [[option["label"] for option in question["options"]] for question in args.questions]
    if any(len(set(words)) != len(words) for words in [questions, *labels]):
        raise ToolError(custom_issue(_SAME_WORDS, []))


def prepare(given: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
    """The input as the host gets it: answers are the user's, the model has none to give."""
    return {key: value for key, value in given.items() if key not in ("answers", "annotations")}


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Formats the answers the host filled in."""
    data: dict[str, Any] = {"questions": args.questions, "answers": args.answers}
    notes = args.annotations if isinstance(args.annotations, dict) else {}
    if notes:
        data["annotations"] = notes
    if not args.answers:
        return ToolOutput("The user did not answer the questions.", data)
    known = {question["question"] for question in args.questions}
    answers = {asked: answer for asked, answer in args.answers.items() if asked in known}
    told = ", ".join(_told(asked, answer, notes.get(asked, {})) for asked, answer in answers.items())
    if not notes and _chosen(args):
        words = f"Your questions have been answered: {told}. You can now continue with these answers in mind."
        return ToolOutput(words, data)
    return ToolOutput(
        f"The user answered: {told}. Read the answers carefully — they may request clarification, changes, "
        "or that you not proceed — and follow what they actually say.",
        data,
    )


def _told(question: str, answer: str, note: dict[str, str]) -> str:
    preview = f" selected preview:\n{note['preview']}" if note.get("preview") else ""
    remark = f" notes: {note['notes']}" if note.get("notes") else ""
    return f'"{question}"="{answer}"{preview}{remark}'


def _chosen(args: Args) -> bool:
    """Whether every answer is one of the options (or several, joined by commas), not the user's own words."""
    offered = {q["question"]: {option["label"] for option in q["options"]} for q in args.questions}
    for question, answer in args.answers.items():
        labels = offered.get(question, set())
        if answer not in labels and not labels.issuperset(answer.split(", ")):
            return False
    return True


ACTION: Action[Args] = Action(Args, run, check, prepare)
