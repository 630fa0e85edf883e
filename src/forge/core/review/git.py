"""Runs git so that neither the user's settings nor the surroundings change what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from forge.foundation.errors import ForgeError

SECONDS = 120.0
# Hooks must not run for our private index, and a fast-path daemon must not hide a change.
SETTINGS = (
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.bigFileThreshold=512m",
    "core.splitIndex=false",
    "diff.suppressBlankEmpty=false",
    "submodule.recurse=false",
)
_FLAGS = tuple(word for setting in SETTINGS for word in ("-c", setting))
_KEPT = "GIT_CONFIG_"


class GitError(ForgeError):
    """A git command failed. `code` is its exit code, -1 when it could not be started or took too long."""

    def __init__(self, message: str, code: int = -1) -> None:
        super().__init__(message)
        self.code = code


class Running:
    """A git process whose output is still to come."""

    def __init__(self, args: Sequence[str], cwd: str, env: Mapping[str, str], fed: bool) -> None:
        self._args = args
        try:
            self._process = subprocess.Popen(
                ("git", *_FLAGS, *args),
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be started: {error}") from error

    def result(self, fed: bytes | None = None, codes: Iterable[int] = (0,)) -> bytes:
        """What git printed, once it has ended with one of these exit codes."""
        out, code, err = self.ended(fed)
        if code not in codes:
            message = _first_line(err) or f"exit code {code}"
            raise GitError(f"git {self._args[0]} failed: {message}", code)
        return out

    def ended(self, fed: bytes | None = None) -> tuple[bytes, int, bytes]:
        """What git printed, its exit code, and its complaints."""
        try:
            out, err = self._process.communicate(fed, SECONDS)
        except subprocess.TimeoutExpired:
            raise GitError(f"git {self._args[0]} took longer than {SECONDS:.0f} seconds") from None
        finally:
            if self._process.returncode is None:
                self.kill()
        return out, self._process.returncode, err

    def kill(self) -> None:
        """Ends git and whatever it has started, unless it has ended by itself."""
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def clean_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without variables that point git elsewhere or change its output."""
    kept = {n: value for n, value in env.items() if not n.startswith("GIT_") or n.startswith(_KEPT)}
    # English messages, but the user's encoding: filters are programs of the user.
    return kept | {"LANGUAGE": "en", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def _first_line(err: bytes) -> str:
    lines = [line for line in err.decode("utf-8", "replace").split("\n") if line.strip()]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
