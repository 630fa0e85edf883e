"""Where a screen is to be opened from: what every way of opening one needs to know."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping

import msgspec

# Terminals opened by a server have the server's environment: the screen needs these of ours. Others can read
# command lines, so nothing that may be secret is among them.
_PASSED = {
    *("PATH", "HOME", "PYTHONPATH", "LANG", "NO_COLOR", "COLORTERM", "EDITOR", "VISUAL", "TMPDIR", "TZ"),
    *("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "FORGE_HOME", "CLAUDE_CONFIG_DIR", "PYTHONDONTWRITEBYTECODE"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
}
_PASSED_PREFIXES = ("LC_", "DIFFY_")


class Place(msgspec.Struct, frozen=True):
    """One work tree to review, the environment of whoever asks, and the runtime directory."""

    root: str
    env: Mapping[str, str]
    runtime: str


def program() -> list[str]:
    """The start of a command line of this program, whatever the directory it is started in contains."""
    return [sys.executable, "-P", "-m", "forge.hosts.diffy"]


def screen_command(folder: str) -> list[str]:
    """The command line of a screen for a review."""
    return [*program(), "ui", "--review", folder]


def foreign_command(place: Place, folder: str) -> list[str]:
    """The same, for a server that starts it with an environment of its own."""
    kept = [
        f"{name}={value}"
        for name, value in place.env.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    ]
    return ["env", *kept, *screen_command(folder)]


def foreign_line(place: Place, folder: str) -> str:
    """The same as one line for a shell."""
    return shlex.join(foreign_command(place, folder))
