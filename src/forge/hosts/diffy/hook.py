"""`diffy --hook-mode`: what runs when the agent stops. Mostly nothing is new, and it ends at once."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from forge.core.review.repository import NoRepository, find
from forge.foundation.errors import ForgeError
from forge.hosts.diffy.answer import Answer, blocked
from forge.hosts.diffy.opening import open_listing
from forge.hosts.diffy.payload import Payload, read_payload, working_directory
from forge.hosts.diffy.preferences import is_unattended, read_preferences
from forge.hosts.diffy.request import Request

# By name: sockets, surfaces and all the rest are loaded only when there is something to show.
_REVIEW = "forge.hosts.diffy.stop"


def run(wanted: Request, env: Mapping[str, str], payload: Payload | None = None) -> int:
    """Reviews what is new, if anything is; writes the answer and returns the exit code."""
    try:
        answer = respond(wanted, payload or read_payload(), env)
    except ForgeError as error:
        answer = _failed(error.message, 3 if error.exit_code == 3 else 1)
    except OSError as error:
        answer = _failed(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
    _write(1, answer.out)
    _write(2, answer.err)
    return answer.code


def _failed(message: str, code: int) -> Answer:
    # The agent shows this to the user: one line.
    return Answer(code, err=f"diffy: {' '.join(message.split())}\n")


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    # An agent that has closed its end cannot be told anything, and the exit code still counts.
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]


def respond(wanted: Request, payload: Payload, env: Mapping[str, str]) -> Answer:
    """The answer for one event. It is the same for the first and any later stop of a turn."""
    try:
        repo = find(working_directory(payload), env)
    except NoRepository:
        return Answer()
    wanted = msgspec.structs.replace(wanted, session=payload.session_id or wanted.session)
    listing = open_listing(repo, wanted)[1]
    if not listing.hunks:
        return Answer()
    likes = read_preferences(env)
    if is_unattended(env):
        if likes.unattended == "skip":
            return Answer()
        if likes.unattended == "block":
            return blocked(listing.hunks)
    answer = importlib.import_module(_REVIEW).review(repo, wanted, likes, env)
    return answer if isinstance(answer, Answer) else Answer()
