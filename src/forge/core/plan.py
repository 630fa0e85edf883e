"""The plan of a session: its file and the permission mode to go back to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from forge.foundation.paths import find_places

_WORDS = os.path.join(os.path.dirname(__file__), "plan_words.txt")


class Plan:
    """State of plan mode. `mode` tells the session's permission mode; whoever makes the session sets it.

    `known` is whether the model takes itself to be in plan mode. `submitted` is the plan the model itself
    passed to the call that `asker` stands for. `instructions` of a host say how a plan is made.
    """

    def __init__(self) -> None:
        self.mode: Callable[[], str] = lambda: "default"
        self.mode_before = "default"
        self.known = False
        self.submitted: str | None = None
        self.asker: object = None
        self.instructions = ""

    def after_compaction(self) -> str:
        """Nothing to add, but what plan mode means has to be said again."""
        self.known = False
        return ""

    def begin_anew(self) -> None:
        """Another conversation knows nothing of the mode."""
        self.known, self.submitted = False, None


def plan_path(session_id: str, env: Mapping[str, str], setting: Callable[[str, Any], Any], cwd: str) -> str:
    """The plan file of a session: the same words for the same session, so a resumed one finds its plan."""
    chosen = setting("plansDirectory", None)
    places = find_places(env, cwd)
    if isinstance(chosen, str) and chosen:
        home = places.home + chosen[1:] if chosen == "~" or chosen.startswith("~/") else chosen
        folder = os.path.normpath(os.path.join(places.project_root, home))
    else:
        folder = os.path.join(places.claude_dir, "plans")
    return os.path.join(folder, f"{slug(session_id)}.md")


def slug(session_id: str) -> str:
    """Four words that stand for a session."""
    with open(_WORDS, encoding="utf-8") as file:
        columns = [line.split() for line in file.read().splitlines() if line]
    drawn = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).digest()
    return "-".join(words[number % len(words)] for words, number in zip(columns, drawn, strict=False))


def read_plan(path: str) -> str | None:
    """The plan as it is written down; None if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read() or None
    except OSError:
        return None
