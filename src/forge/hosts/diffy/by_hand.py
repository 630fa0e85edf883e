"""Reviews that a person starts: `diffy` itself, `diffy resume`, and `diffy editor` as an agent's editor."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import msgspec

from forge.core.review import baseline
from forge.core.review.exchange import read_review as read_review_json
from forge.core.review.model import Listing
from forge.core.review.repository import NoRepository, Refused, Repository, find
from forge.foundation.atomic import update_text
from forge.foundation.encode import printable
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.system.controlling import OWN, usable_terminal
from forge.foundation.system.liveness import is_alive
from forge.hosts.diffy.answer import Outcome
from forge.hosts.diffy.conclude import conclude
from forge.hosts.diffy.opening import open_listing
from forge.hosts.diffy.request import Request, below_root
from forge.hosts.diffy.screen.editor import own_editor
from forge.hosts.diffy.stop import draft_file, remembers
from forge.hosts.diffy.surfaces.chain import surfaces
from forge.hosts.diffy.surfaces.link import read_decisions
from forge.hosts.diffy.surfaces.opened import Child
from forge.hosts.diffy.surfaces.place import Place, screen_command
from forge.hosts.diffy.surfaces.post import Ending
from forge.hosts.diffy.surfaces.present import has_screen, present
from forge.hosts.diffy.surfaces.runtime import (
    ReviewState,
    new_id,
    read_review,
    remove_review,
    reviews_of,
    runtime_dir,
    write_review,
    write_review_at,
)
from forge.hosts.diffy.surfaces.signals import Signals


class Sat(msgspec.Struct, frozen=True):
    """A review that a person asked for: what came of it. `code` is 0 unless it was ended."""

    outcome: Outcome | None = None
    code: int = 0
    message: str = ""


def interactive(request: Request, env: Mapping[str, str]) -> int:
    """`diffy`: shows what the request asks for; the feedback goes to standard error, the code is 2 then."""
    repo = find(request.cwd, env)
    listing = open_listing(repo, request)[1]
    if not listing.hunks:
        sys.stdout.write("diffy: nothing to review\n")
        return 0
    sat = sit(repo, listing, env, request)
    if sat.message:
        sys.stderr.write(f"diffy: {sat.message}\n")
    if sat.outcome is None:
        return sat.code
    if sat.outcome.error:
        raise Refused(sat.outcome.error)
    sys.stderr.write(sat.outcome.feedback or sat.outcome.notes)
    return 2 if sat.outcome.feedback else 0


def sit(repo: Repository, listing: Listing, env: Mapping[str, str], request: Request) -> Sat:
    """Shows a listing in the first way that works and carries out what was decided."""
    state = _state(repo, listing, request)
    place = Place(repo.root, env, runtime_dir(env))
    with Signals() as signals:
        shown = present(place, state, surfaces(request.surface), signals)
        if shown.ending is Ending.FINISHED:
            outcome = conclude(repo, state, read_review_json(read_decisions(shown.folder)), env)
            remove_review(shown.folder)
            return Sat(outcome)
        if not has_screen(shown.folder):
            remove_review(shown.folder)
        if shown.ending is None:
            return Sat(code=1, message="there is no terminal and no browser for the review")
        if shown.ending is Ending.SIGNAL:
            return Sat(code=signals.exit_code)
        return Sat(message="the draft is kept; `diffy resume` goes on")


def resume_command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy resume`; the exit code."""
    if words:
        raise UsageError(f"diffy resume does not know {words[0]!r}.", "Write: diffy resume")
    return resume(os.getcwd(), env)


def edit_command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy editor FILE`; the exit code."""
    if len(words) != 1:
        raise UsageError("diffy editor needs one file.", "Set EDITOR='diffy editor' for the agent.")
    return edit(words[0], env)


def resume(cwd: str, env: Mapping[str, str]) -> int:
    """Opens the review of this work tree here: one an agent waits for, or what is still undecided."""
    if not usable_terminal():
        raise ForgeError("diffy resume needs a terminal.", "Run it in a terminal window.")
    repo = find(cwd, env)
    runtime = runtime_dir(env)
    folder = next((path for path in reviews_of(runtime, repo.root) if _is_awaited(path)), "")
    if not folder:
        request = Request(cwd, apply=True)
        listing = open_listing(repo, request)[1]
        if not listing.hunks:
            sys.stdout.write("diffy: nothing to review\n")
            return 0
        folder = write_review(runtime, _state(repo, listing, request))
    else:
        # This terminal is the reviewer's own, wherever the review was before.
        write_review_at(
            folder, msgspec.structs.replace(read_review(folder), surface="resume", stays=True, guard_ms=0)
        )
    child = Child(screen_command(folder), env, OWN)
    with Signals() as signals:
        while not child.failed():
            child.pause(0.2)
            if signals.number:
                break
        child.close(hurry=bool(signals.number))
        return signals.exit_code if signals.number else 0


def edit(path: str, env: Mapping[str, str]) -> int:
    """An agent's `$EDITOR`: reviews and puts the feedback into the file, or opens the user's own editor."""
    try:
        request = Request(os.getcwd(), apply=True, surface="tty")
        repo = find(request.cwd, env)
        listing = open_listing(repo, request)[1]
    except NoRepository:
        return _own_editor(path, env)
    if not listing.hunks or not usable_terminal():
        return _own_editor(path, env)
    sat = sit(repo, listing, env, request)
    outcome = sat.outcome
    text = (outcome.feedback or outcome.notes) if outcome else ""
    if outcome and outcome.error:
        raise ForgeError(outcome.error)
    if text:
        update_text(path, lambda before: f"{before.rstrip()}\n\n{text}" if before.strip() else text)
    return sat.code


def _state(repo: Repository, listing: Listing, request: Request) -> ReviewState:
    return ReviewState(
        id=new_id(),
        root=repo.root,
        base=listing.base,
        snapshot=listing.snapshot,
        session=request.session or baseline.latest(repo),
        paths=tuple(below_root(request, repo.root)),
        apply=request.apply,
        remember=remembers(request),
        draft=draft_file(repo),
        auto_accept=request.auto_accept,
        large=tuple(map(printable, listing.large)),
    )


def _is_awaited(folder: str) -> bool:
    return is_alive(*read_review(folder).hook)


def _own_editor(path: str, env: Mapping[str, str]) -> int:
    words = own_editor(env)
    try:
        return subprocess.run([*words, path], env=dict(env), check=False).returncode
    except OSError as error:
        raise UsageError(f"{words[0]}: {error.strerror}", "Set DIFFY_EDITOR to your editor.") from None
