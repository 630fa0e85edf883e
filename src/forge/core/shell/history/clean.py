"""What may be written to the history: no secrets, and not more than it keeps."""

from __future__ import annotations

from collections.abc import Sequence

from forge.core.shell.history.kinds import Finished
from forge.foundation.redact import redact

_LIMIT = 1 << 20


def clean_text(text: str, secrets: Sequence[str]) -> str:
    """A text without secrets, as it can be stored."""
    return redact(text, secrets).encode("utf-8", "replace").decode()


def clean_output(data: bytes, secrets: Sequence[str]) -> bytes:
    """Output without secrets, cut in the middle if it is too long."""
    if len(data) > _LIMIT:
        data = data[: _LIMIT // 2] + data[-_LIMIT // 2 :]
    # Bytes that are no text survive in this form.
    text = data.decode("utf-8", "surrogateescape")
    return redact(text, secrets).encode("utf-8", "surrogateescape")


def is_cut(what: Finished) -> bool:
    """Whether not all of the output of a command is kept."""
    return len(what.stdout) > _LIMIT or len(what.stderr) > _LIMIT
