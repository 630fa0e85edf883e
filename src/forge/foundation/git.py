"""Runs git without questions; a git that is missing or too slow is a failure like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

NO_GIT, TOO_SLOW = 127, 124


class Ran(msgspec.Struct, frozen=True):
    """How a run of git ended, and what it printed."""

    code: int
    out: str
    err: str


async def run_git(cwd: str, args: list[str], env: Mapping[str, str], seconds: float = 120.0) -> Ran:
    """Runs git in a directory, whatever repository the environment names."""
    quiet = {**env, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        quiet.pop(name, None)
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            "git", *args, cwd=cwd, env=quiet, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        return Ran(NO_GIT, "", f"git cannot be started: {error.strerror}")
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate()
    except TimeoutError:
        return Ran(TOO_SLOW, "", f"git {args[0]} took longer than {seconds:.0f} seconds")
    finally:
        if process.returncode is None:
            process.kill()
    return Ran(process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
