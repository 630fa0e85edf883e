"""Finds the earlier session that --continue or --resume mean."""

from __future__ import annotations

import os
import sys

from forge.agent.resume import Past, find_session, load, newest_session
from forge.foundation.errors import UsageError
from forge.foundation.history.lineage import Link
from forge.foundation.history.transcript import decode_record, read_lines
from forge.foundation.ids import is_uuid
from forge.foundation.paths import Places, projects_dir, slug
from forge.hosts.options import RunOptions

_INTERRUPTED = "[Request interrupted by user"


def find_past(o: RunOptions, places: Places) -> Past | None:
    """The session to go on with, None for a new one; raises UsageError if the one named does not exist."""
    if not o.continue_ and not o.resume:
        return None
    projects = projects_dir(places)
    folder = os.path.join(projects, slug(places.cwd))
    if not o.resume:
        path = newest_session(folder)
        return _told(load(path)) if path else None
    name = str(o.resume)
    path = find_session(projects, folder, name)
    past = load(path, o.resume_session_at or "") if path else None
    if past is None:
        raise UsageError(_missing(name, path, o.resume_session_at))
    if o.resume_drops_turn and o.resume_session_at:
        _check_dropped(past, o.resume_session_at, o.resume_drops_turn)
    return _told(past)


def _check_dropped(past: Past, at: str, turn: str) -> None:
    """What is cut off must be that turn and nothing else: the host might not have seen the rest."""
    whole = load(past.path)
    line = whole.line if whole is not None else []
    kept = next((n for n, link in enumerate(line) if link.uuid == past.leaf), len(line))
    dropped = line[kept + 1 :]
    words = f"Resume rejected by --resume-drops-turn: resuming at {at} would discard entries not attributable"
    first = True
    for number, link in enumerate(dropped):
        if link.kind != "user" or link.results or _is_mark(past.path, link):
            continue
        entry = f"entry {number} [type=user, uuid={link.uuid}]"
        if first and link.uuid != turn:
            why = f"range does not start with the declared turn prompt; first discarded {entry}"
            raise UsageError(f"{words} to turn {turn}: {why}")
        if not first:
            why = f"range contains a user entry not attributable to the declared turn; {entry}"
            raise UsageError(f"{words} to turn {turn}: {why}")
        first = False


def _is_mark(path: str, link: Link) -> bool:
    """Whether an entry was written by the program itself."""
    record = next((decode_record(line) for line in read_lines(path, [(link.at, link.size)])), None) or {}
    message = record.get("message")
    said = message.get("content") if isinstance(message, dict) else None
    if isinstance(said, list) and said and isinstance(said[0], dict):
        said = said[0].get("text")
    return record.get("isMeta") is True or (isinstance(said, str) and said.startswith(_INTERRUPTED))


def _missing(name: str, path: str | None, entry: str | None) -> str:
    if path and entry and load(path) is not None:
        return f"No message found with message.uuid of: {entry}"
    if is_uuid(name):
        return f"No conversation found with session ID: {name}"
    return (
        "Error: --resume requires a valid session ID or session title when used with --print. Usage: forge -p"
        f' --resume <session-id|title>. Provided value "{name}" is not a UUID and does not match any session'
        " title."
    )


def _told(past: Past | None) -> Past | None:
    """Says on standard error what of a damaged transcript could not be used."""
    for note in past.notes if past is not None else ():
        sys.stderr.write(f"Resuming {past.session_id if past else ''}: {note}.\n")
    return past
