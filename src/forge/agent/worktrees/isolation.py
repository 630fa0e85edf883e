"""`isolation: worktree`: a sub-agent works in a checkout of its own, kept only if there is work in it."""

from __future__ import annotations

import os

from forge.agent.session import Session
from forge.agent.worktrees.checkout import WorktreeError, is_directory, make, owner_note, remove, unlock
from forge.agent.worktrees.worktree import Tree, create, unfinished, wanted
from forge.core.tool import ToolError

WORKTREE = "worktree"


async def isolate(s: Session, agent_id: str, isolation: str) -> Tree | None:
    """The worktree of a new agent; None if it works where the conversation does."""
    if isolation != WORKTREE:
        return None
    try:
        tree = await create(s, f"agent-{agent_id}", "agent")
    except WorktreeError as error:
        raise ToolError(error.message) from error
    if not is_directory(tree.made.path):
        raise ToolError(f'Path "{tree.made.path}" does not exist')
    return tree


async def reopen(s: Session, tree: Tree | None) -> None:
    """Makes the worktree of an agent that goes on again, if it was removed after its first work."""
    if tree is None or not tree.root:
        return
    name = os.path.basename(tree.made.path)
    try:
        await make(tree.root, name, owner_note("agent", name), wanted(s), s.parts.env)
    except WorktreeError as error:
        raise ToolError(error.message) from error


async def part(s: Session, tree: Tree | None) -> dict[str, str]:
    """Ends the isolation: a worktree without any work is removed, of others the place is told."""
    if tree is None:
        return {}
    made = tree.made
    if tree.root:
        if await unfinished(s, tree) == (0, 0):
            try:
                await remove(tree.root, made, s.parts.env)
            except WorktreeError:
                pass  # It cannot be removed, so it is kept; what follows says where.
            else:
                return {}
        await unlock(tree.root, made.path, s.parts.env)
    return {"worktreePath": made.path, **({"worktreeBranch": made.branch} if made.branch else {})}
