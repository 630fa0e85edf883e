"""Failures of the CLI in the words of `ModelError`."""

from __future__ import annotations

from forge.core.model import Retrying
from forge.foundation.errors import Answer, ModelError

_LOGIN = "Start `claude` in a terminal and log in, or check the key it uses."
_UNAUTHORIZED = 401


def check_retry(retry: Retrying) -> None:
    """Raises `ModelError` for a failure that trying again for minutes will not mend."""
    if retry.kind == "authentication_failed" or retry.status == _UNAUTHORIZED:
        raise ModelError(
            "Claude Code is not logged in, or its key was refused.",
            kind="authentication_failed",
            answer=Answer(retry.status, retry.kind),
            hint=_LOGIN,
        )
