"""The end of a review: what was rejected is undone, what was accepted is remembered, the model is told."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import msgspec

from forge.core.review import disk
from forge.core.review.backup import Backup, drop, keep_newest, record, save, state
from forge.core.review.baseline import latest, mark
from forge.core.review.choose import Choice, choose
from forge.core.review.feedback import LIMIT, write
from forge.core.review.index import digest, follow_files, staged_paths
from forge.core.review.model import REJECT, Listing, Review
from forge.core.review.plan import Plan, make_plan
from forge.core.review.repository import Refused, Repository
from forge.core.review.restore import recover
from forge.core.review.reviewed import reviewed_tree
from forge.core.review.tidy import tidy
from forge.core.review.write import carry_out
from forge.foundation.errors import ForgeError
from forge.foundation.system.locks import locked


class Ending(msgspec.Struct, frozen=True):
    """How a review ends. Without `apply` nothing is written to the work tree.

    `remember`: what was accepted is not shown again in the session named (the last one, without a name).
    """

    apply: bool
    session: str = ""
    limit: int = LIMIT
    remember: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """What came of a review. `backup` names the way back; `notes` are for the user."""

    rejected: int
    total: int
    feedback: str = ""
    backup: str = ""
    applied: bool = False
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """What diffy's exit code says about it: 2 if something was rejected."""
        return 2 if self.rejected else 0


def finish(repo: Repository, listing: Listing, review: Review, ending: Ending) -> Outcome:
    """Ends a review; raises Refused if the files are not as reviewed or decisions exclude each other."""
    choices = choose(listing, review)
    rejected = sum(choice.verdict == REJECT for choice in choices.values())
    feedback = write(listing, review, ending.apply, ending.limit)
    backup, notes = _apply(repo, listing, choices) if ending.apply else ("", [])
    if ending.remember:
        notes += _remember(repo, listing, choices, ending.session)
    return Outcome(rejected, listing.hunks, feedback, backup, ending.apply, tuple(notes))


def _remember(
    repo: Repository, listing: Listing, choices: Mapping[str, Choice], session: str
) -> tuple[str, ...]:
    now = time.time()
    try:
        mark(repo, session or latest(repo), now, reviewed=reviewed_tree(repo, listing, choices))
        tidy(repo, now)
    except (ForgeError, OSError) as error:
        # The files are settled; the next review only shows more than it must.
        return (f"what you accepted will be shown again: {error}",)
    return ()


def _apply(repo: Repository, listing: Listing, choices: Mapping[str, Choice]) -> tuple[str, list[str]]:
    os.makedirs(repo.state, exist_ok=True)
    try:
        with locked(repo.state):
            recover(repo)
            plan = make_plan(repo, listing, choices)
            notes = [f"{path} is a submodule and was not reverted" for path in plan.left]
            if not plan.steps:
                return "", notes
            return _write(repo, listing, plan, notes)
    except TimeoutError as error:
        raise Refused("another diffy is writing to this work tree", "Try again.") from error
    except OSError as error:
        raise ForgeError(f"{error.filename or repo.state}: {error.strerror}") from error


def _write(repo: Repository, listing: Listing, plan: Plan, notes: list[str]) -> tuple[str, list[str]]:
    staged = staged_paths(repo, listing, plan.steps)
    backup = save(repo, plan.steps, time.time())
    try:
        carry_out(repo, plan.steps, backup.id)
    except BaseException:
        drop(repo, backup)
        raise
    notes += follow_files(repo, staged)
    record(repo, _finished(repo, backup, digest(repo) if staged else ""))
    keep_newest(repo)
    return backup.id, notes


def _finished(repo: Repository, backup: Backup, index: str) -> Backup:
    paths = tuple(
        msgspec.structs.replace(saved, after=state(disk.look(repo.root, os.fsdecode(saved.path))))
        for saved in backup.paths
    )
    return msgspec.structs.replace(backup, paths=paths, index=index, done=True)
