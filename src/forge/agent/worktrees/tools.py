"""EnterWorktree and ExitWorktree: the model takes the conversation to a checkout of its own, and back."""

from __future__ import annotations

import os

import msgspec

from forge.agent.context import CallContext
from forge.agent.session import Session
from forge.agent.worktrees.checkout import (
    WorktreeError,
    is_directory,
    name_problem,
    random_name,
    remove,
    unlock,
)
from forge.agent.worktrees.checkout import enter as find_existing
from forge.agent.worktrees.worktree import Tree, Visit, create, enter, leave, repository, unfinished
from forge.core.schema_text import custom_issue
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.encode import dumps

IN_ONE = (
    "Already in a worktree session. Pass `path` to switch into another existing worktree, or use ExitWorktree"
    " to leave this one before creating a new worktree."
)
IN_NONE = (
    "No-op: there is no active EnterWorktree session to exit. This tool only operates on worktrees created by"
    " EnterWorktree in the current session — it will not touch worktrees created manually or in a previous"
    " session. No filesystem changes were made."
)
NOW_THERE = (
    "The session is now working in the worktree. Use ExitWorktree to leave mid-session, or exit the session"
    " to be prompted."
)
AS_IT_WAS = (
    "A worktree with this name already existed and was resumed as-is — it may carry an earlier session’s"
    " commits. Pass a different name if you wanted a fresh worktree."
)
CONFIRM = (
    'Confirm with the user, then re-invoke with discard_changes: true{how} — or use action: "keep" to'
    " preserve the worktree."
)


class Enter(msgspec.Struct, frozen=True):
    name: str | None = None
    path: str | None = None


class Exit(msgspec.Struct, frozen=True):
    action: str
    discard_changes: bool = False


async def check_enter(args: Enter, context: ToolContext) -> None:
    """Refuses names that cannot be used, and a second worktree."""
    if args.name is not None and args.path is not None:
        raise ToolError(_wrong("Provide at most one of `name` or `path`, not both.", []))
    if args.name is not None and (problem := name_problem(args.name)):
        raise ToolError(_wrong(problem, ["name"]))
    if args.path is None and context.keep(Visit).tree is not None:
        raise ToolError(IN_ONE)


async def run_enter(args: Enter, context: ToolContext) -> ToolOutput:
    """Makes or finds the worktree and moves the session there."""
    s = _session(context)
    try:
        tree = await _tree(s, args)
    except WorktreeError as error:
        raise ToolError(error.message) from error
    path, branch = tree.made.path, tree.made.branch
    if not is_directory(path):
        raise ToolError(f'Path "{path}" does not exist')
    old = s.keep(Visit).tree
    enter(s, tree)
    if old is not None and old.root and old.owned:
        await unlock(old.root, old.made.path, s.parts.env)
    verb = "Entered" if args.path is not None else "Resumed" if tree.made.resumed else "Created"
    words = f"{verb} worktree at “{path}”" + (f" on branch “{branch}”." if branch else ".")
    words += f" {AS_IT_WAS}" if verb == "Resumed" else ""
    facts: dict[str, object] = {"worktreePath": path, **({"worktreeBranch": branch} if branch else {})}
    return _told(facts, f"{words} {NOW_THERE}")


async def check_exit(args: Exit, context: ToolContext) -> None:
    """Refuses to lose work, and to remove what is not the session's own."""
    visit = context.keep(Visit)
    tree = visit.tree
    if tree is None:
        raise ToolError(IN_NONE)
    if args.action != "remove":
        return
    path = tree.made.path
    if not tree.owned:
        raise ToolError(
            f"This session is not the owner of the worktree at “{path}” — it either entered a pre-existing"
            " worktree via EnterWorktree({path}) or resumed into a checkout whose liveness lock another"
            f' running session still holds — so this tool will not remove it. Use action: "keep" to return to'
            f" “{visit.before}”. If no other session is using it, remove it yourself with `git worktree"
            " remove`; while a live session's lock is present, git will refuse and name the owner."
        )
    if args.discard_changes:
        return
    work = await unfinished(_session(context), tree)
    if work is None:
        raise ToolError(
            f"Could not verify worktree state at “{path}”. Refusing to remove without explicit confirmation."
            f" {CONFIRM.replace('{how}', ' to proceed')}"
        )
    if lost := _counted(work, tree.made.branch):
        words = f"Worktree has {' and '.join(lost)}. Removing will discard this work permanently."
        raise ToolError(f"{words} {CONFIRM.replace('{how}', '')}")


async def run_exit(args: Exit, context: ToolContext) -> ToolOutput:
    """Brings the session back; the worktree stays or goes."""
    s = _session(context)
    tree, before = s.keep(Visit).tree, s.keep(Visit).before
    if tree is None:
        raise ToolError(IN_NONE)
    path, branch = tree.made.path, tree.made.branch
    facts: dict[str, object] = {"action": args.action, "originalCwd": before, "worktreePath": path}
    facts |= {"worktreeBranch": branch} if branch else {}
    if args.action == "remove":
        files, commits = await unfinished(s, tree) or (0, 0)
        await _removed(s, tree)
        facts |= {"discardedFiles": files, "discardedCommits": commits}
        lost = list(reversed(_counted((files, commits), "")))
        words = f"Exited and removed worktree at “{path}”."
        words += f" Discarded {' and '.join(lost)}." if lost else ""
    else:
        if tree.root and tree.owned:
            await unlock(tree.root, path, s.parts.env)
        where = f"“{path}”" + (f" on branch “{branch}”" if branch else "")
        words = f"Exited worktree. Your work is preserved at {where}."
    back = leave(s)
    told = {**facts, "restoredCwd": back, "originalCwdMissing": back != before}
    return _told(told, f"{words} Session is now back in “{back}”.")


ENTER = Action(Enter, run_enter, check_enter)
EXIT = Action(Exit, run_exit, check_exit)


async def _tree(s: Session, args: Enter) -> Tree:
    if args.path is None:
        return await create(s, args.name or random_name(os.urandom(3)))
    root = repository(s)
    if not root:
        raise WorktreeError(f"Cannot enter worktree: {args.path} is not in a git repository.")
    made = await find_existing(root, os.path.join(s.situation.cwd, args.path), s.parts.env)
    return Tree(made, root, owned=False)


async def _removed(s: Session, tree: Tree) -> None:
    if not tree.root:
        await s.hooks.fire("WorktreeRemove", worktree_path=tree.made.path)
        return
    try:
        await remove(tree.root, tree.made, s.parts.env)
    except WorktreeError as error:
        raise ToolError(error.message) from error


def _counted(work: tuple[int, int], branch: str) -> list[str]:
    files, commits = work
    told = [f"{files} uncommitted {'file' if files == 1 else 'files'}"] if files else []
    if commits:
        where = f" on “{branch}”" if branch else ""
        told.append(f"{commits} {'commit' if commits == 1 else 'commits'}{where}")
    return told


def _told(facts: dict[str, object], words: str) -> ToolOutput:
    return ToolOutput(words, {**facts, "message": words})


def _wrong(message: str, path: list[str]) -> str:
    if not path:
        return custom_issue(message, path)
    issue = msgspec.json.format(dumps([{"code": "custom", "message": message, "path": path}]), indent=2)
    return f"InputValidationError: {issue.decode()}"


def _session(context: ToolContext) -> Session:
    if not isinstance(context, CallContext):
        raise ToolError("Worktrees need a session.")
    return context.session
