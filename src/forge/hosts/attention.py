"""Asks for the user's attention: a Notification hook, and the terminal's bell where there is one to ring."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TextIO

from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.sites import notify
from forge.agent.session import Session

BELL = "\a"
# A question that is answered sooner needs nobody's attention.
NOTICE_SECONDS = 6.0
# Values of the setting preferredNotifChannel with which nothing is to be heard.
_SILENT = ("notifications_disabled", "none")


def tell_beside(session: Session, kind: str, message: str) -> None:
    """Notification: hooks hear of it while the program goes on; they can only observe."""
    engine = engine_of(session)
    if engine is not None and engine.hooks("Notification"):
        engine.keep_running(notify(session, kind, message))


def tell_later(
    session: Session, kind: str, message: str, seconds: float = NOTICE_SECONDS
) -> asyncio.TimerHandle:
    """The same for what has waited this long; cancel it when nothing waits any more."""
    return asyncio.get_running_loop().call_later(seconds, tell_beside, session, kind, message)


def call_user(session: Session, kind: str, message: str, out: TextIO) -> None:
    """The same for a host with a terminal, which rings too."""
    tell_beside(session, kind, message)
    channel = session.parts.setting("preferredNotifChannel", "auto")
    if may_ring(out, session.parts.env, str(channel)):
        out.write(BELL)
        out.flush()


def may_ring(out: TextIO, env: Mapping[str, str], channel: str = "auto") -> bool:
    """Whether the bell is heard by somebody: on a terminal that is not an editor's, unless switched off."""
    return out.isatty() and env.get("TERM_PROGRAM") != "vscode" and channel not in _SILENT
