"""The user's own directories, for programs that cannot afford all of `paths`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DIALECTS = (".claude", ".forgecode", ".forge")


def home_dir(env: Mapping[str, str]) -> str:
    """The home directory."""
    return env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")


def claude_dir(env: Mapping[str, str]) -> str:
    """The user's directory of the reference CLI."""
    config = env.get("CLAUDE_CONFIG_DIR", "")
    return os.path.abspath(config) if config else os.path.join(home_dir(env), ".claude")


def forge_home(env: Mapping[str, str]) -> str:
    """The user's directory of this program."""
    return os.path.abspath(env.get("FORGE_HOME") or os.path.join(home_dir(env), ".forge"))


def absolute(text: str, base: str, home: str) -> str:
    """A path as people write it in its normal form: `~` is the home directory, others start from `base`."""
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    return os.path.normpath(os.path.join(base, text))


def user_dirs(env: Mapping[str, str]) -> list[str]:
    """Every directory with settings of the user, from the weakest to the strongest."""
    home, own = home_dir(env), forge_home(env)
    dirs = [claude_dir(env), os.path.join(home, ".forgecode")]
    plain = os.path.join(home, "forge")
    # A checkout that happens to be called ~/forge must not become the user's configuration.
    if not os.path.lexists(os.path.join(plain, ".git")):
        dirs.append(plain)
    return [*(d for d in dirs if d != own), own]
