"""diffy without a screen: carries out decisions from a file, exports, restores."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

import msgspec

from forge.core.review.backup import list_backups
from forge.core.review.exchange import listing_json
from forge.core.review.export import export
from forge.core.review.feedback import name
from forge.core.review.finish import Ending, Outcome, finish
from forge.core.review.model import PENDING, Review
from forge.core.review.repository import Repository, find
from forge.core.review.restore import restore
from forge.hosts.diffy.answer import Answer
from forge.hosts.diffy.opening import decided, open_listing, read_decisions, ruled
from forge.hosts.diffy.request import Request


def listed(request: Request, env: Mapping[str, str]) -> int:
    """Prints what there is to review."""
    repo = find(request.cwd, env)
    return _end(Answer(out=listing_json(open_listing(repo, request)[1]).decode()))


def decide(request: Request, env: Mapping[str, str]) -> int:
    """Carries out the decisions a request names."""
    repo = find(request.cwd, env)
    listing, review = decided(repo, request, _given(request))
    review = ruled(listing, request, review)
    remember = request.apply or request.hook_mode
    ending = Ending(request.apply, request.session, request.limit, remember)
    with ending_cleanly():
        outcome = finish(repo, listing, review, ending)
    return _end(_answer(outcome, request))


def exported(request: Request, env: Mapping[str, str]) -> int:
    """Prints a review as a document; without decisions everything is still open."""
    repo = find(request.cwd, env)
    if request.decisions:
        listing, review = decided(repo, request, _given(request))
    else:
        listing, review = open_listing(repo, request)[1], Review(default=PENDING)
    return _end(Answer(out=export(listing, ruled(listing, request, review), request.export).decode()))


def restored(request: Request, env: Mapping[str, str]) -> int:
    """Undoes a review, or lists those that can be undone."""
    repo = find(request.cwd, env)
    if request.list:
        return _end(Answer(out=backups_text(repo)))
    with ending_cleanly():
        done = restore(repo, request.restore or "", request.force)
    paths = [f"  {name(path)}" for path in done.paths]
    many = "1 path" if len(paths) == 1 else f"{len(paths)} paths"
    lines = [f"diffy: restored {many} (backup {done.id})", *paths]
    return _end(Answer(out="\n".join([*lines, *(f"diffy: {note}" for note in done.notes)]) + "\n"))


def backups_text(repo: Repository) -> str:
    """The backups there are, newest last."""
    rows = []
    for backup in list_backups(repo):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(backup.time))
        paths = [name(saved.path.decode("utf-8", "surrogateescape")) for saved in backup.paths]
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        rows.append(f"{backup.id}  {when}  {', '.join(paths[:3])}{more}\n")
    return "".join(rows)


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Being asked to end becomes an exception: a half-written work tree is put back first."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _end(answer: Answer) -> int:
    sys.stderr.buffer.write(answer.err.encode("utf-8", "replace"))
    sys.stderr.flush()
    sys.stdout.buffer.write(answer.out.encode("utf-8", "replace"))
    sys.stdout.flush()
    return answer.code


def _given(request: Request) -> bytes:
    return read_decisions(request.decisions, sys.stdin.buffer.read() if request.decisions == "-" else None)


def _answer(outcome: Outcome, request: Request) -> Answer:
    notes = "".join(f"diffy: {note}\n" for note in outcome.notes)
    if not request.hook_mode:
        if outcome.rejected:
            return Answer(2, notes, outcome.feedback)
        return Answer(0, notes + (outcome.feedback or _accepted(outcome)))
    if outcome.rejected:
        if request.hook_output == "json":
            return Answer(out=_json({"decision": "block", "reason": outcome.feedback}))
        return Answer(2, err=outcome.feedback)
    if outcome.feedback:
        told = {"hookEventName": "Stop", "additionalContext": outcome.feedback}
        return Answer(out=_json({"hookSpecificOutput": told}))
    return Answer()


def _accepted(outcome: Outcome) -> str:
    return f"rejected 0 of {outcome.total} hunks.\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode() + "\n"
