"""What all actions on sessions share: where sessions are, how one is named, how ages and sizes read."""

from __future__ import annotations

import os
import time

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.history.sessions import find_title, project_folders, transcripts
from forge.foundation.paths import Places, find_places, projects_dir, slug
from forge.hosts.cli.command import Arguments
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen


class Place(msgspec.Struct, frozen=True):
    """The surroundings of one command."""

    places: Places
    screen: Screen
    line: CommandLine
    env: dict[str, str]
    now: float

    @property
    def folder(self) -> str:
        """The sessions of this directory."""
        return os.path.join(projects_dir(self.places), slug(self.places.cwd))

    def folders(self, given: Arguments) -> list[str]:
        """The projects a list is about."""
        return project_folders(projects_dir(self.places)) if given.on("all") else [self.folder]


def open_place(line: CommandLine, env: dict[str, str], given: Arguments) -> Place:
    """Looks up where things are."""
    screen = open_screen(env, plain=given.on("no_color"))
    return Place(find_places(env, os.getcwd()), screen, line, env, time.time())


def find(place: Place, name: str) -> str:
    """The transcript a person means by an id, its beginning, or a title; here first, then everywhere."""
    every = [*project_folders(projects_dir(place.places))]
    for folders in ([place.folder], every):
        paths = [path for folder in folders for path in transcripts(folder)]
        exact = [path for path in paths if session_id(path) == name]
        begun = exact or [path for path in paths if name and session_id(path).startswith(name)]
        if len(begun) > 1 and not exact:
            ids = ", ".join(session_id(path) for path in begun[:5])
            raise UsageError(f"{name!r} is the beginning of {len(begun)} session ids: {ids}")
        titled = begun or [path for folder in folders if (path := find_title(folder, name)) is not None]
        if titled:
            return titled[0]
    raise UsageError(f"There is no session {name!r}.", "See: forge sessions list --all")


def session_id(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s'[: count > 1]} ago"
    return "just now"


def amount(size: int) -> str:
    """A file size."""
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"


def money(cost: float) -> str:
    """An amount in dollars; small ones with more digits."""
    return f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.4f}"


def number(given: Arguments, key: str, default: int) -> int:
    """The whole number a flag was given."""
    text = given.text(key)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise UsageError(f"--{key} takes a whole number, not {text!r}.")
    return value
