"""A review as a screen: what it needs from the repository, and the terminal around it."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from contextlib import suppress

from forge.core.review import baseline
from forge.core.review.git import GitError
from forge.core.review.listing import list_changes
from forge.foundation.errors import UsageError
from forge.foundation.system.controlling import OWN
from forge.foundation.system.fullscreen import borrow
from forge.hosts.diffy.screen.app import ReviewApp
from forge.hosts.diffy.screen.contents import Contents, Piece, contents_of
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.editor import edit
from forge.hosts.diffy.screen.opening import Ended, Opening
from forge.hosts.diffy.screen.palette import Palette, theme_for
from forge.hosts.diffy.screen.why import reason
from forge.hosts.diffy.sitting import Sitting


def show(sitting: Sitting, desk: Desk, env: Mapping[str, str]) -> Ended | None:
    """How the screen ended; None if it could not be shown."""
    kept = baselines(sitting)
    opening = Opening(
        base=next((name for name, tree in kept.items() if tree == sitting.listing.base), ""),
        bases=tuple(kept),
        relist=lambda name: relisted(sitting, kept[name]),
        why=lambda path, piece: why(sitting, env, path, piece),
        editor=lambda text, path: edit(text, path, env),
        waiter=sitting,
        size=lambda: os.get_terminal_size(1),
        ready=_collect,
        guard=sitting.state.guard_ms / 1000,
    )
    theme = theme_for(env)
    if theme == "plain":
        os.environ["NO_COLOR"] = "1"  # for the toolkit
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # those of the agent's window, not of this one
    if not _is_there(terminal := _terminal()):
        return None
    with borrow(terminal, lambda _number: sitting.save()):
        app = ReviewApp(desk, Palette(theme), opening)
        return app.run()


def _collect() -> None:
    """From now on garbage is looked for, but not among what was there before the first frame."""
    gc.freeze()
    gc.enable()


def _terminal() -> str:
    return os.ttyname(0) if os.isatty(0) else OWN


def _is_there(terminal: str) -> bool:
    try:
        os.close(os.open(terminal, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def why(sitting: Sitting, env: Mapping[str, str], path: str, piece: Piece) -> str:
    """What is known about the reason for a change."""
    added = [text for kind, text in zip(piece.kinds, piece.texts, strict=True) if kind == "+"]
    return reason(env, sitting.state.session, path, added)


def baselines(sitting: Sitting) -> dict[str, str]:
    """The trees one may compare with, by name."""
    kept = baseline.read(sitting.repo, sitting.state.session)
    found = {name: str(getattr(kept, name)) for name in baseline.NAMES if getattr(kept, name)}
    with suppress(GitError, UsageError):
        found["HEAD"] = baseline.resolve(sitting.repo, "HEAD")
    return found


def relisted(sitting: Sitting, tree: str) -> Contents:
    """What differs from another baseline."""
    return contents_of(list_changes(sitting.repo, tree, sitting.listing.new, sitting.state.paths))
