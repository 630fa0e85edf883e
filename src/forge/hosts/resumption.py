"""Finds the earlier session that --continue or --resume mean."""

from __future__ import annotations

import os
import sys

from forge.agent.resume import Past, find_session, load, newest_session
from forge.foundation.errors import UsageError
from forge.foundation.paths import Places, projects_dir, slug
from forge.hosts.options import RunOptions


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
    return _told(past)


def _missing(name: str, path: str | None, entry: str | None) -> str:
    if path and entry and load(path) is not None:
        return f"No message found with message.uuid of: {entry}"
    return f"No conversation found with session ID: {name}"


def _told(past: Past | None) -> Past | None:
    """Says on standard error what of a damaged transcript could not be used."""
    for note in past.notes if past is not None else ():
        sys.stderr.write(f"Resuming {past.session_id if past else ''}: {note}.\n")
    return past
