"""Feedback whose agent had gone when the review was finished: it is kept and goes with the next prompt."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from forge.foundation.lenient import read_as
from forge.foundation.system.liveness import is_alive
from forge.hosts.diffy.surfaces.runtime import write_private

_FOLDER = "undelivered"
_MOST = 20


class Letter(msgspec.Struct, frozen=True, omit_defaults=True):
    """One feedback text. `agent`: process number and start of the agent it is for, zeros when unknown."""

    text: str
    session: str = ""
    agent: tuple[int, int] = (0, 0)


def keep(state: str, letter: Letter, stamp: int) -> str:
    """Writes a letter into diffy's directory `state`; `stamp` orders them. The file's path."""
    folder = os.path.join(state, _FOLDER)
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, f"{stamp:020d}-{os.getpid()}.json")
    write_private(path, msgspec.json.encode(letter))
    for name in sorted(_names(folder))[:-_MOST]:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    return path


def collect(state: str, session: str) -> list[str]:
    """The texts for this session, oldest first. They are removed: each is delivered once.

    A letter for another session is delivered when its agent is gone, because nobody else will ask for it.
    """
    folder = os.path.join(state, _FOLDER)
    texts = []
    for name in sorted(_names(folder)):
        path = os.path.join(folder, name)
        letter = read_as(path, Letter)
        if letter is None or (letter.session not in ("", session) and is_alive(*letter.agent)):
            continue
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue  # another session was faster
        texts.append(letter.text)
    return texts


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".json")]
    except FileNotFoundError:
        return []
