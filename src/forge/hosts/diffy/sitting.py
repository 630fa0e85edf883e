"""One sitting over a review: what a screen of any kind needs to begin, to keep every decision, and to end."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import msgspec

from forge.core.review.draft import Draft, dump, load, review_of
from forge.core.review.exchange import review_json
from forge.core.review.listing import relist
from forge.core.review.model import Listing
from forge.core.review.repository import find
from forge.hosts.diffy.conclude import conclude
from forge.hosts.diffy.opening import by_rules
from forge.hosts.diffy.surfaces.link import Link, News
from forge.hosts.diffy.surfaces.runtime import (
    ReviewState,
    folder_of,
    read_review,
    remove_review,
    runtime_dir,
    write_private,
)
from forge.hosts.diffy.undelivered import Letter, keep

SENT = "sent to the agent"
QUEUED = "the agent no longer waits: the result goes with your next prompt"
CLEAN = "nothing was rejected"


class Sitting:
    """A review, its listing and its draft, and the connection to whoever waits for the result.

    `state.guard_ms`: how long after the screen appears keys do not count. `news()` is to be read about twice
    a second, or when `fileno()` is readable.
    """

    def __init__(self, folder: str, env: Mapping[str, str], *, report: bool = True) -> None:
        self.folder = folder
        self.state: ReviewState = read_review(folder)
        self.repo = find(self.state.root, env)
        found = relist(self.repo, self.state.snapshot, self.state.paths)
        self.listing = msgspec.structs.replace(found, large=self.state.large)
        self.draft: Draft = read_draft(self.state.draft)
        self.draft.take_rules(by_rules(self.listing, self.state.auto_accept))
        self._env = env
        self._link: Link | None = None
        self._asked = False
        if report:
            self.report()

    def report(self) -> None:
        """Tells the hook that a screen is there."""
        self._link = Link(self.folder)

    @property
    def waiting(self) -> bool:
        """Whether an agent waits for the result."""
        return self._link is not None and self._link.waiting

    def fileno(self) -> int:
        """For select; -1 while nobody waits."""
        return self._link.fileno() if self._link else -1

    def news(self) -> list[News]:
        """What the screen must know: the agent has gone, is back, or the screen must close."""
        if self._link is None:
            return []
        return self._link.news() if self._link.waiting else self._link.retry()

    def poll(self) -> str | None:
        """The same for a screen that asks every half second: gone, back, close or nothing."""
        if not self._asked and not self.waiting:
            self._asked = True
            return News.GONE.value
        self._asked = True
        return next((news.value for news in self.news()), None)

    def save(self) -> None:
        """Keeps the draft; called after every decision."""
        if self.state.draft:
            os.makedirs(os.path.dirname(self.state.draft), exist_ok=True)
            write_private(self.state.draft, dump(self.draft))

    def finish(self, rest: str, listing: Listing | None = None) -> str:
        """Ends the review; what to tell the user.

        `rest` is what becomes of hunks without a verdict; `listing` is another one if the user chose another
        baseline.
        """
        self.save()
        review = review_of(self.draft, listing or self.listing, rest)
        if self._link is not None and self._link.finish(review_json(review)):
            return SENT
        outcome = conclude(self.repo, self.state, review, self._env)
        remove_review(self.folder)
        text = outcome.feedback or outcome.notes
        if not text:
            return outcome.error or CLEAN
        keep(self.repo.state, Letter(text, self.state.session, self.state.agent), time.time_ns())
        return QUEUED

    def leave(self) -> None:
        """The user goes away; the draft is kept, and the agent is told."""
        self.save()
        if self._link is not None:
            self._link.leave()

    def close(self) -> None:
        """Ends the connection."""
        if self._link is not None:
            self._link.close()


def open_sitting(review: str, env: Mapping[str, str], *, report: bool = True) -> Sitting:
    """The sitting for a review's id or directory."""
    return Sitting(folder_of(runtime_dir(env), review), env, report=report)


def read_draft(path: str) -> Draft:
    """The draft in a file; an empty one if there is none."""
    try:
        with open(path, "rb") as file:
            return load(file.read())
    except OSError:
        return Draft()
