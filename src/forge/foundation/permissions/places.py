"""Where a path leads: working directories, links, and the places that no rule opens for writing."""

from __future__ import annotations

import os.path

from forge.foundation.homes import absolute
from forge.foundation.inside import is_inside
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from forge.foundation.permissions.situation import Situation

PROTECTED_DIRECTORIES = frozenset(
    {".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude"}
)
PROTECTED_FILES = word_set(
    """.gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc
    .zprofile .zshenv .zlogin .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs
    .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc
    .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
    gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc
    pyrightconfig.json .mcp.json .claude.json"""
)
LONGEST_PATH = 4096
FREE_BELOW_CLAUDE = "worktrees"


def resolve(text: str, s: Situation, base: str = "") -> str:
    """The absolute, normalised form of a path as a tool or a command names it."""
    path = absolute(text, base or s.cwd, s.home)
    return path[1:] if path.startswith("//") else path


def forms(path: str) -> list[str]:
    """The path itself and, where links lead elsewhere, the place it really is."""
    if len(path) > LONGEST_PATH:
        return [path]
    real = _real(path.replace("\0", ""))
    return [path] if real == path else [path, real]


def _real(path: str) -> str:
    """The path without links; below a name that does not exist there is no need to look for any."""
    end = path.find("/", 1)
    while end > 0 and os.path.lexists(path[:end]):
        end = path.find("/", end + 1)
    if end < 0:
        return os.path.realpath(path)
    return os.path.realpath(path[:end]) + path[end:]


def within(path: str, directories: Iterable[str]) -> bool:
    """Whether the path, and what it links to, lie in one of the directories."""
    tops = [top for directory in directories for top in forms(directory)]
    return all(any(is_inside(form, top) for top in tops) for form in forms(path))


def inside(path: str, s: Situation) -> bool:
    """Whether the path lies in a working directory, links included."""
    return within(path, s.directories)


def is_plan(path: str, s: Situation) -> bool:
    """Whether the path is the file the session writes its plan to, and not a link to another one."""
    return bool(s.plan_file) and path == s.plan_file and not os.path.islink(path)


def protected(path: str) -> bool:
    """Whether writing here could make other programs run code, so that no rule may approve it."""
    return any(_protected(form) for form in forms(path))


def _protected(path: str) -> bool:
    parts = [part.lower() for part in path.split("/")]
    if parts[-1] in PROTECTED_FILES:
        return True
    for at, part in enumerate(parts):
        following = parts[at + 1] if at + 1 < len(parts) else ""
        if part == ".claude" and following == FREE_BELOW_CLAUDE:
            continue
        if part in PROTECTED_DIRECTORIES or (part == ".config" and following == "git"):
            return True
    return False


def own_configuration(path: str) -> bool:
    """Whether a protected path is the agent's own settings, commands, agents or skills."""
    found, tail = path.rpartition("/.claude")[1:]
    parts = tail.split("/")
    return bool(found) and (tail == "" or (parts[0] == "" and parts[1] in _OWN))


_OWN = frozenset({"commands", "agents", "skills", "settings.json", "settings.local.json"})
