"""What was decided about a call that runs a command."""

from __future__ import annotations

import msgspec


class Grant(msgspec.Struct, frozen=True):
    """A judged command. `profile` is its sandbox, "" for none; `reasons` are the findings in words.

    `lines` may be typed into a program; `precious` is copied before the command runs, and `repository` says
    that the tracked files are, too.
    """

    command: str
    category: str = ""
    risk: int = 0
    decision: str = ""
    reasons: tuple[str, ...] = ()
    status: str = "auto_approved"
    scope: str | None = None
    profile: str = ""
    programs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    precious: tuple[str, ...] = ()
    repository: bool = False
