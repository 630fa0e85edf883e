"""Carries out a finished review for whoever gets the result: the hook, or a screen whose agent has gone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from forge.core.review.finish import Ending, finish
from forge.core.review.listing import relist
from forge.core.review.model import Review
from forge.core.review.repository import Refused, Repository
from forge.hosts.diffy.answer import Outcome
from forge.hosts.diffy.request import feedback_limit
from forge.hosts.diffy.surfaces.runtime import ReviewState


def conclude(repo: Repository, state: ReviewState, review: Review, env: Mapping[str, str]) -> Outcome:
    """Reverts what was rejected if the review is to be applied, and moves the baseline.

    The draft has served then. A review that does not fit the files any more changes nothing and keeps it.
    """
    ending = Ending(state.apply, state.session, feedback_limit(env), remember=state.remember)
    try:
        done = finish(repo, relist(repo, review.snapshot, state.paths), review, ending)
    except Refused as error:
        return Outcome(error=error.message)
    if state.draft:
        with suppress(FileNotFoundError):
            os.unlink(state.draft)
    return Outcome(feedback=done.feedback) if done.rejected else Outcome(notes=done.feedback)
