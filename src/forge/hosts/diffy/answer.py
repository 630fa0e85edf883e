"""What a hook says to its agent: exit code, standard output and standard error for each way a review ends."""

from __future__ import annotations

import msgspec


class Outcome(msgspec.Struct, frozen=True):
    """What came of a review: `feedback` if something was rejected, else `notes`; `error` if refused."""

    feedback: str = ""
    notes: str = ""
    error: str = ""


class Answer(msgspec.Struct, frozen=True):
    """The end of a hook."""

    code: int = 0
    out: str = ""
    err: str = ""


def answered(outcome: Outcome, output: str) -> Answer:
    """Rejections make the agent go on; remarks on accepted hunks reach the model without blame."""
    if outcome.error:
        return Answer(3, err=f"diffy: {outcome.error}\n")
    if outcome.feedback:
        if output == "json":
            return Answer(out=_json({"decision": "block", "reason": outcome.feedback}))
        return Answer(2, err=outcome.feedback)
    if outcome.notes:
        told = {"hookEventName": "Stop", "additionalContext": outcome.notes}
        return Answer(out=_json({"hookSpecificOutput": told}))
    return Answer()


def noticed(hunks: int, advice: str, surface: str = "") -> Answer:
    """The turn ends without a review, and the user can read that it did."""
    reason = f" ({surface} cannot be used here)" if surface and surface != "none" else ""
    text = f"diffy: {_count(hunks)} not reviewed{reason} — {advice}"
    return Answer(out=_json({"systemMessage": text}), err=f"{text}\n")


def blocked(hunks: int) -> Answer:
    """Nobody is there to review, and that is not to look like success."""
    reason = f"diffy: {_count(hunks)} not reviewed, and nobody is here to do it"
    return Answer(out=_json({"continue": False, "stopReason": reason}))


def _count(hunks: int) -> str:
    return f"{hunks} hunk" if hunks == 1 else f"{hunks} hunks"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode() + "\n"
