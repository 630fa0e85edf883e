"""`diffy watch`: a terminal that shows every review of a work tree as it comes."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from forge.core.review.repository import find
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.system.controlling import OWN, usable_terminal
from forge.hosts.diffy.surfaces.opened import Child
from forge.hosts.diffy.surfaces.place import screen_command
from forge.hosts.diffy.surfaces.runtime import runtime_dir, watch_socket
from forge.hosts.diffy.surfaces.signals import Signals
from forge.hosts.diffy.surfaces.wire import OPEN, OPENED, Message, Plug, connect, listen

_SECONDS = 2.0


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy watch [DIRECTORY]`; the exit code."""
    if len(words) > 1:
        raise UsageError("diffy watch takes one directory.", "Write: diffy watch [DIRECTORY]")
    return watch(find(words[0] if words else os.getcwd(), env).root, env)


def watch(root: str, env: Mapping[str, str]) -> int:
    """Waits for reviews until it is interrupted; the exit code."""
    if not usable_terminal():
        raise ForgeError("diffy watch needs a terminal.", "Run it in a terminal window of its own.")
    path = watch_socket(runtime_dir(env), root)
    if (other := connect(path)) is not None:
        other.close()
        raise ForgeError(f"Another diffy already watches {root}.")
    listener = listen(path)
    try:
        with Signals() as signals:
            _say(root)
            while not signals.number:
                ready, _, _ = select.select([listener.fileno(), signals.fileno()], [], [])
                if listener.fileno() in ready:
                    with suppress(BlockingIOError):
                        folder = asked_for(Plug(listener.accept()[0]))
                        if folder:
                            _show(folder, env, signals)
                            _say(root)
            return 0 if signals.exit_code == 130 else signals.exit_code
    finally:
        listener.close()
        with suppress(FileNotFoundError):
            os.unlink(path)


def asked_for(plug: Plug) -> str:
    """The review a hook wants to have shown, which is promised; empty if it said something else."""
    select.select([plug], [], [], _SECONDS)
    found = next((message.review for message in plug.receive() if message.type == OPEN), "")
    if found:
        plug.send(Message(OPENED))
    plug.close()
    return found


def _show(folder: str, env: Mapping[str, str], signals: Signals) -> None:
    child = Child(screen_command(folder), env, OWN)
    while not child.failed():
        ready, _, _ = select.select([signals], [], [], 0.2)
        if ready:
            break
    child.close(hurry=True)


def _say(root: str) -> None:
    sys.stdout.write(f"diffy: waiting for reviews of {root} (Ctrl+C ends)\n")
    sys.stdout.flush()
