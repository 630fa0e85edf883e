"""Every file location, per scope and dialect (.claude, .forgecode, .forge). Nothing else reads HOME & co."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.gitdir import find_root, main_root
from forge.foundation.homes import DIALECTS as DIALECTS
from forge.foundation.homes import claude_dir as claude_dir_of
from forge.foundation.homes import forge_home, home_dir, user_dirs
from forge.foundation.origin import Scope
from forge.foundation.system.locks import DEFAULT_TEMP, MANAGED_DIRS

_SLUG_LIMIT = 200


class Places(msgspec.Struct, frozen=True):
    """Where things are for one start directory; lists go from the weakest to the strongest."""

    home: str
    cwd: str
    git_root: str
    repository: (
        str  # the main checkout when git_root is a linked worktree; trust and local settings live there
    )
    project_root: str
    claude_dir: str
    claude_state: str
    forge_home: str
    user_dirs: list[str]
    project_dirs: list[str]
    local_dirs: list[str]
    managed_dirs: list[str]
    temp_dir: str


def find_places(env: Mapping[str, str], cwd: str, managed_root: str | None = None) -> Places:
    """Looks up all places; `managed_root` replaces the system directories of managed settings."""
    cwd = os.path.realpath(cwd)
    home = home_dir(env)
    claude_dir = claude_dir_of(env)
    git_root = find_root(cwd)
    repository = main_root(git_root) if git_root else ""
    names = ("claude-code", "forgecode", "forge")
    return Places(
        home=home,
        cwd=cwd,
        git_root=git_root,
        repository=repository,
        project_root=git_root or cwd,
        claude_dir=claude_dir,
        claude_state=os.path.join(claude_dir if env.get("CLAUDE_CONFIG_DIR") else home, ".claude.json"),
        forge_home=forge_home(env),
        user_dirs=user_dirs(env),
        project_dirs=[os.path.join(cwd, name) for name in DIALECTS],
        local_dirs=_local_dirs(cwd, repository),
        managed_dirs=[os.path.join(managed_root, n) for n in names] if managed_root else list(MANAGED_DIRS),
        temp_dir=_temp_dir(env),
    )


def trust_key(p: Places) -> str:
    """The directory that workspace trust and the project entries of `.claude.json` are kept under."""
    return p.repository or p.cwd


def slug(path: str) -> str:
    """The directory name of a project's sessions, as the reference builds it."""
    # The reference counts UTF-16 units: a character outside the basic plane becomes two dashes.
    raw = path.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(raw[i : i + 2], "big") for i in range(0, len(raw), 2)]
    name = re.sub("[^a-zA-Z0-9]", "-", "".join(map(chr, units)))
    if len(name) <= _SLUG_LIMIT:
        return name
    hashed = 0
    for unit in units:
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    return f"{name[:_SLUG_LIMIT]}-{_base36(min(hashed, 2**32 - hashed))}"


def projects_dir(p: Places) -> str:
    """Sessions are shared with the reference CLI on purpose."""
    return os.path.join(p.claude_dir, "projects")


def session_file(p: Places, session_id: str, cwd: str) -> str:
    """The transcript of a session started in `cwd`."""
    return os.path.join(projects_dir(p), slug(cwd), f"{session_id}.jsonl")


def results_dir(p: Places, session_id: str, cwd: str) -> str:
    """Where a session keeps outputs too large for the conversation."""
    return os.path.join(projects_dir(p), slug(cwd), session_id, "tool-results")


def settings_file(p: Places, scope: Scope) -> str:
    """The settings file Forge writes for a scope."""
    if scope is Scope.USER:
        return os.path.join(p.forge_home, "settings.json")
    if scope is Scope.PROJECT:
        return os.path.join(p.cwd, ".forge", "settings.json")
    if scope is Scope.LOCAL:
        return os.path.join(trust_key(p), ".forge", "settings.local.json")
    raise UsageError(f"Settings of scope {scope.value} cannot be written", "Use user, project or local.")


def _local_dirs(cwd: str, repository: str) -> list[str]:
    roots = [cwd] if repository in ("", cwd) else [cwd, repository]
    return [os.path.join(root, dialect) for dialect in DIALECTS for root in roots]


def _temp_dir(env: Mapping[str, str]) -> str:
    for name in ("CLAUDE_CODE_TMPDIR", "TMPDIR", "TEMP", "TMP"):
        if env.get(name):
            return env[name]
    return DEFAULT_TEMP


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not number:
            return digits
