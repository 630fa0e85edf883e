"""`diffy mark`: keeps the state of the work tree as a baseline, and delivers feedback that still waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence

import msgspec

from forge.core.review import baseline
from forge.core.review.repository import NoRepository, Repository, find
from forge.core.review.snapshot import take
from forge.foundation.errors import UsageError
from forge.hosts.diffy.payload import Payload, read_payload, working_directory
from forge.hosts.diffy.undelivered import collect

_BY_HAND = "by hand"


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """Marks the baseline of the event on standard input; the exit code. Outside of git nothing is done."""
    if unknown := [word for word in words if word != "--deliver"]:
        raise UsageError(f"diffy mark does not know {unknown[0]!r}.", "Write: diffy mark [--deliver]")
    deliver = "--deliver" in words
    payload = read_payload()
    try:
        repo = find(working_directory(payload), env)
    except NoRepository:
        return 0
    mark(repo, payload, time.time())
    texts = collect(repo.state, payload.session_id) if deliver else []
    if texts:
        sys.stdout.write(delivery(texts, payload.hook_event_name or "UserPromptSubmit") + "\n")
    return 0


def mark(repo: Repository, payload: Payload, now: float) -> None:
    """A session begins (unless it goes on), or a turn."""
    session = payload.session_id or baseline.latest(repo) or _BY_HAND
    known = baseline.read(repo, session)
    tree = take(repo).tree
    trees = {"turn": tree} if payload.hook_event_name != "SessionStart" or not known.turn else {}
    if not known.session or payload.source == "startup":
        trees["session"] = tree
    baseline.mark(repo, session, now, **trees)


def delivery(texts: list[str], event: str) -> str:
    """The answer of a hook that gives the model texts together with the prompt."""
    context = "\n\n".join(texts)
    return msgspec.json.encode(
        {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    ).decode()
