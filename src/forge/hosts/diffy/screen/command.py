"""`diffy ui` and `diffy lines`: a review on the terminal, as a screen or line by line, and what comes of it.

The toolkit is loaded only for the screen, and where it is missing or fails the lines take its place."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Mapping, Sequence

from forge.foundation.errors import UsageError
from forge.hosts.diffy.lines import review_lines
from forge.hosts.diffy.screen.contents import contents_of
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.editor import edit
from forge.hosts.diffy.screen.opening import Ended
from forge.hosts.diffy.screen.rows import View
from forge.hosts.diffy.sitting import SENT, Sitting, open_sitting

_SCREEN = "forge.hosts.diffy.screen.show"
_FAILED = "the screen failed; the review goes on line by line\n"


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy ui --review ID`; the exit code."""
    return _run(words, env, lines=env.get("TERM", "dumb") == "dumb")


def lines_command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy lines --review ID`; the exit code."""
    return _run(words, env, lines=True)


def _run(words: Sequence[str], env: Mapping[str, str], *, lines: bool) -> int:
    if len(words) != 2 or words[0] != "--review":
        raise UsageError("diffy ui needs a review.", "`diffy` starts one.")
    # Until the first frame everything stays: looking for garbage in it would cost a tenth of the time.
    gc.disable()
    sitting = open_sitting(words[1], env)
    contents = contents_of(sitting.listing)
    desk = Desk(contents, sitting.draft, View(hide=sitting.draft.hide), lambda _draft: sitting.save())
    ended: Ended | None = None
    if not lines:
        ended = _screen(sitting, desk, env)
        if ended is None:
            sys.stdout.write(_FAILED)
    if ended is None:
        ended = review_lines(desk, _ask, _say, lambda text, path: edit(text, path, env))
    if ended.finished:
        told = sitting.finish(ended.rest, desk.contents.listing)
        if told != SENT:  # else whoever waited says what came of it
            sys.stdout.write(f"diffy: {told}\n")
    else:
        sitting.leave()
    sitting.close()
    return 0


def _screen(sitting: Sitting, desk: Desk, env: Mapping[str, str]) -> Ended | None:
    """How the screen ended; None if it could not be shown."""
    try:
        show = importlib.import_module(_SCREEN).show
    except ImportError:
        return None
    ended = show(sitting, desk, env)
    return ended if isinstance(ended, Ended) else None


def _ask(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
