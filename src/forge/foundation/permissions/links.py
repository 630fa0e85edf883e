"""Symbolic links that no permission lifts: none is written through, and none is followed in a circle."""

from __future__ import annotations

import errno
import os

from forge.foundation.permissions.situation import Decision

_UNKNOWN = "on disk could not be determined"


def misleading(tool_name: str, path: object) -> Decision | None:
    """The refusal of a call whose file is such a link; `path` is absolute."""
    if not isinstance(path, str):
        return None
    if tool_name in ("Write", "Edit") and os.path.islink(path):
        target = _shown(os.path.realpath(path))
        words = f"it is a symbolic link. Write to the link's target path instead: {target}."
        return _deny(f"Refusing to write {_shown(path)}: {words}", "Write target is a symbolic link")
    if tool_name == "Read" and _is_endless(path):
        rest = "on the way could not be examined, or the links do not resolve)"
        message = f"Refusing to read {_shown(path)}: where it leads {_UNKNOWN} (a link {rest}."
        return _deny(message, f"Where {_shown(path)} leads {_UNKNOWN} (a link or directory {rest}")
    return None


def _deny(message: str, reason: str) -> Decision:
    return Decision("deny", message, reason_type="other", reason=reason)


def _is_endless(path: str) -> bool:
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    except ValueError:  # no name of a file at all: NUL, half a surrogate pair
        return False
    return False


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
