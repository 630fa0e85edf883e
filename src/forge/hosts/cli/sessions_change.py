"""`forge sessions rename`, `delete` and `cleanup`."""

from __future__ import annotations

import os
import sys

from forge.foundation.errors import UsageError
from forge.foundation.history.retention import DAY, remove_session
from forge.foundation.history.sessions import project_folders, summary, transcripts
from forge.foundation.history.transcript import Transcript
from forge.foundation.paths import projects_dir
from forge.hosts.cli.command import Arguments, print_json, take_words
from forge.hosts.cli.sessions import COMMAND
from forge.hosts.cli.sessions_place import Place, age, amount, find, number, session_id
from forge.hosts.configuration import load_configuration
from forge.hosts.options import read_options
from forge.hosts.tidying import kept_days


def rename(place: Place, given: Arguments) -> int:
    """Gives a session a title to find and resume it by."""
    name, title = take_words(COMMAND, given.words, ("ID", "TITLE"))
    if not title.strip():
        raise UsageError("A title must not be empty.")
    path = find(place, name)
    status = os.stat(path)
    transcript = Transcript(path)
    transcript.append({"type": "custom-title", "customTitle": title, "sessionId": session_id(path)})
    transcript.close()
    # A new title is no new turn: the session keeps its place in lists.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    place.screen.line(f"{session_id(path)} is now called {title!r}.")
    return 0


def delete(place: Place, given: Arguments) -> int:
    """Removes sessions with everything that belongs to them."""
    if not given.words:
        raise UsageError("Say which session to delete.", "See: forge sessions list")
    paths = list(dict.fromkeys(find(place, name) for name in given.words))
    return _remove(place, given, paths)


def cleanup(place: Place, given: Arguments) -> int:
    """Removes the sessions of all directories that have not been used for a long time."""
    if given.words:
        raise UsageError("cleanup takes no words.", "See: forge sessions --help")
    c = load_configuration(read_options(place.line), place.env, place.places.cwd)
    days = number(given, "days", kept_days(c))
    if days < 1:
        raise UsageError("--days must be at least 1.")
    folders = project_folders(projects_dir(place.places))
    old = [
        path
        for folder in folders
        for path in transcripts(folder)
        if place.now - os.stat(path).st_mtime > days * DAY
    ]
    if given.on("dry_run") or not old:
        _tell(given, old, "Would delete", place)
        if not old and not given.on("json"):
            place.screen.line(f"No session is older than {days} days.")
        return 0
    return _remove(place, given, old)


def _remove(place: Place, given: Arguments, paths: list[str]) -> int:
    if not _agreed(place, given, paths):
        return 1
    for path in paths:
        remove_session(place.places.claude_dir, path)
    _tell(given, paths, "Deleted", place)
    return 0


def _agreed(place: Place, given: Arguments, paths: list[str]) -> bool:
    """Whether deleting is wanted: --yes, or a person who says so."""
    if given.on("yes"):
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was deleted: there is nobody to ask.", "Add --yes to delete without asking."
        )
    for path in paths:
        place.screen.say(_line(place, path), first="  ")
    place.screen.write(f"Delete {len(paths)} session{'s'[: len(paths) != 1]} for good? [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    place.screen.line("Nothing was deleted.")
    return False


def _tell(given: Arguments, paths: list[str], what: str, place: Place) -> None:
    if given.on("json"):
        print_json({"sessions": [session_id(path) for path in paths], "deleted": what == "Deleted"})
        return
    for path in paths:
        gone = what == "Deleted"
        place.screen.say(f"{what} {session_id(path) if gone else _line(place, path)}")


def _line(place: Place, path: str) -> str:
    row = summary(path)
    if row is None:
        return f"{session_id(path)} (no conversation)"
    return f"{row.id} {row.title} ({age(place.now - row.modified)}, {amount(row.size)})"
