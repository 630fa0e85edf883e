"""Where a command would run: the facts about the machine that the analysis may use."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Surroundings:
    """Home, workspace, temporary directories and working directory; all absolute and normalised."""

    __slots__ = ("cwd", "deny", "extra", "home", "real", "temp", "user", "workspace")

    def __init__(self, cwd: str, home: str, workspace: str = "", user: str = "") -> None:
        self.cwd = os.path.normpath(cwd)
        self.home = os.path.normpath(home)
        self.workspace = os.path.normpath(workspace or cwd)
        self.user = user or os.path.basename(self.home)
        self.temp: tuple[str, ...] = ()
        self.extra: tuple[str, ...] = ()
        # Patterns below the workspace that are as protected as .git/hooks.
        self.deny: tuple[str, ...] = ()
        # Follows links on disk; tests and foreign machines may have none.
        self.real: Callable[[str], str] = os.path.realpath


def surroundings(cwd: str, env: Mapping[str, str]) -> Surroundings:
    """The facts of this machine for a command in `cwd`."""
    home = env.get("HOME") or os.path.expanduser("~")
    found = Surroundings(cwd, home_of(cwd, home), user=env.get("USER", ""))
    temp = env.get("TMPDIR", "")
    if temp and os.path.isabs(temp):
        found.temp = (os.path.normpath(temp),)
    return found


def home_of(cwd: str, home: str) -> str:
    """The home directory `cwd` belongs to; `home` unless the path itself names another one."""
    parts = cwd.split("/")
    if len(parts) > 2 and parts[1] in ("home", "Users") and not cwd.startswith(home + "/"):
        return "/".join(parts[:3])
    return home
