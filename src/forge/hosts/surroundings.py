"""Looks at the working directory once, for the environment reminder; git is asked only in a repository."""

from __future__ import annotations

import asyncio
import os

from forge.agent.prompt import Surroundings
from forge.foundation.git import run_git
from forge.foundation.system.facts import os_version, platform_name
from forge.hosts.configuration import Configuration

GIT_TIMEOUT = 5.0
MAX_STATUS_LINES = 200


async def look_around(c: Configuration) -> Surroundings:
    """The surroundings of a run; a git that is missing or slow leaves its part empty."""
    status = ""
    if c.places.git_root and c.settings.get("includeGitInstructions", True):
        changes, commits = await asyncio.gather(
            _git(c, "--no-optional-locks", "status", "--porcelain=v1", "--branch"),
            _git(c, "log", "--oneline", "-n", "5"),
        )
        status = _status(changes, commits)
    return Surroundings(
        cwd=c.places.cwd,
        is_git=bool(c.places.git_root),
        platform=platform_name(),
        shell=os.path.basename(c.env.get("SHELL", "")) or "bash",
        os_version=os_version(),
        directories=c.directories,
        git_status=status,
    )


def _status(changes: str, commits: str) -> str:
    head, *files = changes.splitlines() or ["## (unknown)"]
    branch = head.removeprefix("## ").removeprefix("No commits yet on ")
    if len(files) > MAX_STATUS_LINES:
        files = [*files[:MAX_STATUS_LINES], f"... and {len(files) - MAX_STATUS_LINES} more"]
    listing = "\n".join(files) or "(clean)"
    return f"Branch: {branch}\n\nStatus:\n{listing}\n\nRecent commits:\n{commits.strip()}"


async def _git(c: Configuration, *args: str) -> str:
    return (await run_git(c.places.cwd, list(args), c.env, GIT_TIMEOUT)).out
