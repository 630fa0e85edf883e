"""Presents a review: opens a screen in the first way that works and waits for its end."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from forge.foundation.system.liveness import is_alive, process_start
from forge.hosts.diffy.surfaces.chain import Surface
from forge.hosts.diffy.surfaces.link import read_screen
from forge.hosts.diffy.surfaces.place import Place
from forge.hosts.diffy.surfaces.post import Ending, Post
from forge.hosts.diffy.surfaces.runtime import (
    ReviewState,
    read_review,
    remove_review,
    reviews_of,
    write_review,
    write_review_at,
)
from forge.hosts.diffy.surfaces.signals import Signals

# A screen needs a fraction of this even on a machine that has other things to do.
_APPEARS = 15.0
_RETURNS = 4.0


class Shown(msgspec.Struct, frozen=True):
    """How a review went. `ending` is None when there was no way to show it."""

    ending: Ending | None
    surface: str = ""
    folder: str = ""


def present(place: Place, review: ReviewState, ways: Sequence[Surface], signals: Signals) -> Shown:
    """Tries the ways in order; the review's directory is kept for whoever looks at it."""
    review = msgspec.structs.replace(review, hook=_this_process())
    folder = write_review(place.runtime, review)
    post = Post(folder, signals)
    try:
        for way in ways:
            if not way.offered(place):
                continue
            write_review(place.runtime, msgspec.structs.replace(review, surface=way.name, stays=way.stays))
            opened = way.open(place, folder)
            if opened is None:
                continue
            ending = post.ending(review.agent) if post.appears(_APPEARS, opened.failed) else None
            opened.close(hurry=ending in (None, Ending.SIGNAL, Ending.ALONE))
            if ending is not None or signals.number:
                return Shown(ending or Ending.SIGNAL, way.name, folder)
        return Shown(None, "", folder)
    finally:
        post.close()


def rejoin(place: Place, agent: tuple[int, int], signals: Signals) -> Shown | None:
    """Waits for a review whose agent has gone while its screen is still open; None if there is none.

    Reviews that nobody looks at any more are removed. The caller holds the lock of the work tree.
    """
    for folder in reviews_of(place.runtime, place.root):
        if not has_screen(folder):
            remove_review(folder)
            continue
        write_review_at(
            folder, msgspec.structs.replace(read_review(folder), hook=_this_process(), agent=agent)
        )
        post = Post(folder, signals)
        try:
            if post.appears(_RETURNS, lambda: False):
                return Shown(post.ending(agent), read_review(folder).surface, folder)
        finally:
            post.close()
    return None


def _this_process() -> tuple[int, int]:
    return os.getpid(), process_start(os.getpid())


def has_screen(folder: str) -> bool:
    """Whether a screen shows this review."""
    pid, start = read_screen(folder)
    return is_alive(pid, start) and pid != os.getpid()
