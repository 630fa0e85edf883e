"""Failures of the CLI in the words of `ModelError`. It has tried again itself, so nobody else should."""

from __future__ import annotations

from forge.core.model import Retrying
from forge.core.models.claude_cli.parts import Failure
from forge.core.models.claude_cli.reply import model_error
from forge.foundation.errors import Answer, ModelError

_LOGIN = "Start `claude` in a terminal and log in, or check the key it uses."
_UNAUTHORIZED = 401
_FAILED = ("exit", "killed", "unreadable", "execution")


def check_retry(retry: Retrying) -> None:
    """Raises `ModelError` for a failure that trying again for minutes will not mend."""
    if retry.kind == "authentication_failed" or retry.status == _UNAUTHORIZED:
        raise ModelError(
            "Claude Code is not logged in, or its key was refused.",
            kind="authentication_failed",
            answer=Answer(retry.status, retry.kind),
            hint=_LOGIN,
        )


def failed(failure: Failure) -> ModelError:
    """The error for a run that did not succeed."""
    error = model_error(failure)
    how = {"exit": f" (exit code {failure.status})", "killed": " (killed)"}.get(failure.kind, "")
    words = f"Claude Code failed{how}: {error.message}" if failure.kind in _FAILED else error.message
    hint = _LOGIN if error.kind == "authentication_failed" else error.hint
    return ModelError(words, kind=error.kind, answer=error.answer, hint=hint)


def silent() -> ModelError:
    """The error for a run that ended well and said nothing."""
    return ModelError("Claude Code ended without a reply.", kind="malformed_stream")


def stalled(seconds: float) -> ModelError:
    """The error for a CLI that prints nothing any more."""
    return ModelError(
        f"Claude Code printed nothing for {seconds:g} seconds and was ended.",
        kind="connection",
        hint="The option `idleSeconds` of the provider claude-code says how long to wait.",
    )
