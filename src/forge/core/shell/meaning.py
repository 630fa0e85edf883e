"""What is known about a command before and after it runs: pointless waiting, silence, harmless exit codes."""

from __future__ import annotations

import re

from forge.core.schema_text import custom_issue
from forge.core.shell.words import Simple, simple_commands
from forge.core.tool import ToolError
from forge.foundation.permissions.syntax import word_set

_SILENT = word_set("mv cp rm mkdir rmdir chmod chown chgrp touch ln cd export unset wait")
_SUBSTITUTION = re.compile(r"<\([^()]*\)")
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONGEST_SLEEP = 25
_NO_MATCHES, _DIFFER = "No matches found", "Files differ"
_EXIT_ONE = {
    "grep": _NO_MATCHES,
    "egrep": _NO_MATCHES,
    "fgrep": _NO_MATCHES,
    "rg": _NO_MATCHES,
    "diff": _DIFFER,
    "find": "Some directories were inaccessible",
    "test": "Condition is false",
    "[": "Condition is false",
    "git diff": _DIFFER,
    "git grep": _NO_MATCHES,
}


def refuse_hidden(command: str) -> None:
    """Refuses characters that whoever is asked about the command would not see."""
    if _HIDDEN.search(command):
        words = "command contains control characters that would be hidden in the approval dialog"
        raise ToolError(custom_issue(words, ["command"]))


def pointless_wait(commands: list[Simple] | None) -> str:
    """Why a command that begins with a long sleep is refused; "" if it is not."""
    if not commands or len(commands[0].words) != 2 or commands[0].words[0] != "sleep":
        return ""
    length = commands[0].words[1]
    if re.fullmatch(r"\d+(\.\d+)?", length) is None or float(length) < _LONGEST_SLEEP:
        return ""
    rest = " ".join(c.source for c in commands[1:])
    what = f"sleep {length} followed by: {rest}" if rest else f"standalone sleep {length}"
    return (
        f"Blocked: {what}. To wait for a condition, use Monitor with an until-loop (e.g. `until <check>; do "
        "sleep 2; done`). To wait for a command you started, use run_in_background: true. Do not chain "
        "shorter sleeps to work around this block."
    )


def is_silent(commands: list[Simple] | None) -> bool:
    """Whether a command that succeeds prints nothing."""
    return bool(commands) and all(c.words[0] in _SILENT for c in commands or ())


def plain_commands(text: str) -> list[Simple] | None:
    """The simple commands of a text in which files may be made of other commands: `diff <(a) <(b)`."""
    return simple_commands(_SUBSTITUTION.sub("file", text)) if "<(" in text else None


def exit_meaning(commands: list[Simple] | None, exit_code: int) -> str:
    """What a non-zero exit code says when it is an answer and not a failure; else ""."""
    if exit_code != 1 or not commands:
        return ""
    words = commands[-1].words
    return _EXIT_ONE.get(_git_command(words) if words[0] == "git" else words[0], "")


def edits_in_place(text: str) -> bool:
    """Whether a command uses sed to change files, which are then no longer as the model has read them."""
    return re.search(r"\bsed[ \t]+(?:[^\s;&|]+[ \t]+)*?(?:-[a-zA-Z]*i|--in-place)", text) is not None


def _git_command(words: tuple[str, ...]) -> str:
    rest = iter(words[1:])
    for word in rest:
        if word in ("-C", "-c"):
            next(rest, None)
        elif not word.startswith("-"):
            return f"git {word}"
    return "git"
