"""What the history keeps of a command, before and after it runs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Begun(msgspec.Struct, frozen=True):
    """What is known of a command before it runs. Times are microseconds since 1970."""

    session_id: str
    command: str
    cwd: str
    risk_score: int
    permission_status: str = "auto_approved"
    permission_scope: str | None = None
    pty_session_id: str | None = None
    category: str = ""
    decision: str = ""
    reasons: tuple[str, ...] = ()
    profile: str = ""
    agent: str = ""
    call_id: str = ""
    env_snapshot: Mapping[str, str] = {}


class Finished(msgspec.Struct, frozen=True):
    """What is known afterwards; `stdout` and `stderr` are what was kept of them, sizes what there was."""

    exit_code: int | None
    status: str
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    output_truncated: bool = False
    output_path: str = ""
    error: str = ""
