"""A stop of an agent with something to review: shows it, waits, carries out what was decided."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import msgspec

from forge.core.review.exchange import read_review as read_review_json
from forge.core.review.model import Listing
from forge.core.review.repository import Repository
from forge.foundation.encode import printable
from forge.foundation.system.liveness import is_alive
from forge.foundation.system.locks import locked
from forge.hosts.diffy.answer import Answer, Outcome, answered, noticed
from forge.hosts.diffy.conclude import conclude
from forge.hosts.diffy.opening import open_listing
from forge.hosts.diffy.payload import agent_process
from forge.hosts.diffy.preferences import Preferences, is_unattended
from forge.hosts.diffy.request import Request, below_root
from forge.hosts.diffy.surfaces.chain import surfaces
from forge.hosts.diffy.surfaces.link import read_decisions
from forge.hosts.diffy.surfaces.place import Place
from forge.hosts.diffy.surfaces.post import Ending
from forge.hosts.diffy.surfaces.present import Shown, has_screen, present, rejoin
from forge.hosts.diffy.surfaces.runtime import (
    ReviewState,
    new_id,
    read_review,
    remove_review,
    runtime_dir,
    tree_dir,
)
from forge.hosts.diffy.surfaces.signals import Signals
from forge.hosts.diffy.undelivered import Letter, keep

GUARD_MS = 400
_LOCK_SECONDS = 0.25
# After this many reviews in one stop the agent gets its answer whatever has changed meanwhile.
_MOST_ROUNDS = 50


class _Stop(msgspec.Struct, frozen=True):
    """One stop of an agent."""

    repo: Repository
    place: Place
    wanted: Request
    likes: Preferences


def review(repo: Repository, wanted: Request, likes: Preferences, env: Mapping[str, str]) -> Answer:
    """The answer to the agent once a person has looked at what is new, or could not."""
    stop = _Stop(repo, Place(repo.root, env, runtime_dir(env)), wanted, likes)
    with Signals() as signals, _tree_lock(stop.place, signals):
        if signals.number:
            return Answer(signals.exit_code)
        # Listed only now: until the lock was ours, another review may have settled all of it.
        return _review(stop, _news(stop), signals)


def _news(stop: _Stop) -> Listing:
    return open_listing(stop.repo, stop.wanted)[1]


def _review(stop: _Stop, listing: Listing, signals: Signals) -> Answer:
    shown = rejoin(stop.place, agent_process(stop.place.env), signals)
    for _ in range(_MOST_ROUNDS):
        rejoined = shown is not None
        if shown is None:
            if not listing.hunks:
                return Answer()
            shown = _present(stop, listing, signals)
        if shown.ending is not Ending.FINISHED:
            return _unfinished(stop, shown, listing.hunks, signals)
        outcome = _concluded(stop, shown.folder)
        if outcome.feedback or outcome.notes or outcome.error or not rejoined:
            return _final(stop, outcome, signals)
        # The review was about an earlier stop: what came since then is still to be looked at.
        shown, listing = None, _news(stop)
    return Answer()


def _present(stop: _Stop, listing: Listing, signals: Signals) -> Shown:
    likes, env = stop.likes, stop.place.env
    unattended = is_unattended(env)
    only = "web" if unattended else stop.wanted.surface or likes.surface
    state = ReviewState(
        id=new_id(),
        root=stop.repo.root,
        base=listing.base,
        snapshot=listing.snapshot,
        session=stop.wanted.session,
        paths=tuple(below_root(stop.wanted, stop.repo.root)),
        apply=stop.wanted.apply,
        remember=remembers(stop.wanted),
        guard_ms=GUARD_MS,
        agent=agent_process(env),
        draft=draft_file(stop.repo),
        auto_accept=stop.wanted.auto_accept,
        large=tuple(map(printable, listing.large)),
    )
    ways = [] if only == "none" else surfaces(only, web=likes.web)
    return present(stop.place, state, ways, signals)


def remembers(request: Request) -> bool:
    """Whether what was accepted is settled: a review of the index or of another baseline settles nothing."""
    return not request.staged and not request.base


def draft_file(repo: Repository) -> str:
    """Where the decisions of a running review of this work tree are kept."""
    return os.path.join(repo.state, "draft.json")


def _concluded(stop: _Stop, folder: str) -> Outcome:
    state = read_review(folder)
    review = read_review_json(read_decisions(folder))
    outcome = conclude(stop.repo, state, review, stop.place.env)
    remove_review(folder)
    return outcome


def _final(stop: _Stop, outcome: Outcome, signals: Signals) -> Answer:
    output = "json" if "json" in (stop.wanted.hook_output, stop.likes.hook_output) else "exit2"
    text = outcome.feedback or outcome.notes
    agent = agent_process(stop.place.env)
    gone = bool(agent[0]) and not is_alive(*agent)
    if text and (signals.number or gone):
        # Whoever sent the signal no longer listens.
        keep(stop.repo.state, Letter(text, stop.wanted.session, agent), time.time_ns())
        return Answer(signals.exit_code if signals.number else 0)
    return answered(outcome, output)


def _unfinished(stop: _Stop, shown: Shown, hunks: int, signals: Signals) -> Answer:
    """Nothing was decided: the draft is kept, and the user is told, never the model."""
    if not has_screen(shown.folder):
        remove_review(shown.folder)
    if shown.ending in (Ending.SIGNAL, Ending.ALONE):
        return Answer(signals.exit_code if signals.number else 0)
    if shown.ending is None:
        forced = stop.wanted.surface or stop.likes.surface
        return noticed(hunks, "run `diffy` in another terminal", forced)
    return noticed(hunks, "`diffy resume` goes on where you left")


@contextmanager
def _tree_lock(place: Place, signals: Signals) -> Iterator[None]:
    """One review at a time in a work tree."""
    directory = tree_dir(place.runtime, place.root)
    waited = False
    with ExitStack() as held:
        while not signals.number:
            try:
                held.enter_context(locked(directory, _LOCK_SECONDS if waited else 0.0))
                break
            except TimeoutError:
                waited = True
        yield
