"""`--worktree [NAME]`: the run takes place in a worktree, which is made or found before anything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from forge.agent.host import Host
from forge.agent.session import Session
from forge.agent.worktrees.checkout import WorktreeError, is_directory, name_problem, random_name
from forge.agent.worktrees.worktree import Tree, Visit, create
from forge.foundation.errors import UsageError
from forge.hosts.build import outline_session
from forge.hosts.configuration import load_configuration
from forge.hosts.options import RunOptions


class Gone(msgspec.Struct, frozen=True):
    """Where a run goes: its worktree, and the directory it came from."""

    tree: Tree
    before: str


async def go_there(o: RunOptions, env: Mapping[str, str], cwd: str, host: Host) -> Gone:
    """The worktree of a run; an error ends the program before it has begun."""
    c = load_configuration(o, env, cwd)
    name = o.worktree if isinstance(o.worktree, str) else random_name(os.urandom(3))
    if problem := name_problem(name):
        raise UsageError(f"Error creating worktree: {problem}")
    session = outline_session(o, c, host)
    engine_hooks = getattr(session.hooks, "hooks", None)
    if not c.places.git_root and not (engine_hooks and engine_hooks("WorktreeCreate")):
        raise UsageError(
            f"Error: Can only use --worktree in a git repository, but {c.places.cwd} is not a git repository."
            " Configure a WorktreeCreate hook to use --worktree with other VCS systems."
        )
    try:
        tree = await create(session, name)
    except WorktreeError as error:
        raise UsageError(f"Error creating worktree: {error.message}") from error
    finally:
        await _forget(session)
    if not is_directory(tree.made.path):
        raise UsageError(
            f"Error: worktree directory {tree.made.path} does not exist or is not a directory. The path came"
            " from a WorktreeCreate hook — the hook must print the directory it created as the last line of"
            " its stdout."
        )
    if tree.made.other:
        session.warn(f"The worktree {tree.made.path} is in use by another session (pid {tree.made.other}).")
    if sys.stderr.isatty():
        session.warn(f"Worktree [Ready] {tree.made.path}")
    return Gone(tree, c.places.cwd)


def arrive(session: Session, gone: Gone | None) -> None:
    """Lets the session know that it works in a worktree, so that it can leave it."""
    if gone is None:
        return
    visit = session.keep(Visit)
    visit.tree, visit.before = gone.tree, gone.before


async def _forget(session: Session) -> None:
    """The session was only there for hooks: what it has written down belongs to no conversation."""
    session.recorder.close()
    await session.model.close()
    transcript = session.recorder.transcript
    if transcript is not None:
        with suppress(OSError):
            os.remove(transcript.path)
