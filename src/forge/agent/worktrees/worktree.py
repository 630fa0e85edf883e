"""A session moves to a worktree and back: hooks or git make it, directories and instructions follow."""

from __future__ import annotations

import os

import msgspec

from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import tell
from forge.agent.memory import move_memory
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.texts.load import text
from forge.agent.worktrees.checkout import Made, Wanted, WorktreeError, make, owner_note, work_in
from forge.core.reminder import plain
from forge.foundation.gitdir import find_root, main_root

NO_PATH = (
    "WorktreeCreate hook failed: hook succeeded but returned no worktree path (command: echo the path to"
    " stdout; http/callback: return hookSpecificOutput.worktreePath)"
)
NOWHERE = (
    "Cannot create {what}: not in a git repository and no WorktreeCreate hooks are configured. Configure"
    " WorktreeCreate/WorktreeRemove hooks in settings.json to use worktree isolation with other VCS systems."
)


class Tree(msgspec.Struct, frozen=True):
    """A worktree somebody works in. `root` is the main checkout, empty when a hook has made the tree.

    `owned`: whoever works there may remove it.
    """

    made: Made
    root: str = ""
    owned: bool = True


class Visit:
    """The worktree a session is in, and where it was before."""

    def __init__(self) -> None:
        self.tree: Tree | None = None
        self.before = ""


async def create(s: Session, name: str, kind: str = "session") -> Tree:
    """A worktree for a session or an agent; a WorktreeCreate hook takes the place of git."""
    outcome = await s.hooks.fire("WorktreeCreate", name=name)
    if outcome.runs:
        if not outcome.place:
            objections = [(block.label, block.bare) for block in outcome.blocks if not block.by_exit]
            told = [f"{label}: {why}" for label, why in (*outcome.failures, *objections)]
            raise WorktreeError(f"WorktreeCreate hook failed: {'; '.join(told)}" if told else NO_PATH)
        return Tree(Made(os.path.join(s.situation.cwd, outcome.place), "", ""))
    root = repository(s)
    if not root:
        what = "a worktree" if kind == "session" else "agent worktree"
        raise WorktreeError(NOWHERE.replace("{what}", what))
    made = await make(root, name, owner_note(kind, name), wanted(s), s.parts.env)
    return Tree(made, root, owned=not made.other)


def repository(s: Session) -> str:
    """The main checkout of the repository a session works in; empty outside of git."""
    root = find_root(s.situation.cwd)
    return main_root(root) if root else ""


def wanted(s: Session) -> Wanted:
    """What the settings say about new worktrees."""
    get = s.parts.setting
    return Wanted(
        fresh=get("worktree.baseRef", "fresh") != "head",
        online=get("airGap", False) is not True,
        links=get("worktree.symlinkDirectories", []),
        sparse=get("worktree.sparsePaths", []),
    )


def enter(s: Session, tree: Tree) -> None:
    """Makes the worktree the place where the session works; what it knew of the other place stays behind."""
    visit = s.keep(Visit)
    if visit.tree is None:
        visit.before = s.situation.start_dir
    visit.tree = tree
    _move(s, tree.made.path)
    words = text("worktree_entered").replace("{path}", tree.made.path).replace("{before}", visit.before)
    tell(s, [Told("environment_update", words), *_reread(s, tree.made.path)])


def leave(s: Session) -> str:
    """Brings the session back to where it was, and says where that is."""
    visit = s.keep(Visit)
    visit.tree = None
    back = visit.before if os.path.isdir(visit.before) else s.situation.home
    _move(s, back)
    told = _reread(s, back)
    tell(s, [Told("environment_update", text("worktree_left").replace("{path}", back)), *told])
    return back


async def unfinished(s: Session, tree: Tree) -> tuple[int, int] | None:
    """Uncommitted files and own commits in a worktree; None if only its hook could tell."""
    if not tree.root:
        return None
    return await work_in(tree.made, s.parts.env)


def _move(s: Session, path: str) -> None:
    s.situation = s.situation.at(path)
    s.recorder.cwd = path


def _reread(s: Session, path: str) -> list[Told]:
    """Instructions, skills and agents of the new place."""
    news = move_memory(s, path, find_root(path))
    reload = s.keep(Ecosystem).reload
    if reload is not None:
        reload()
    if news is None:
        return []
    return [Told(news.kind, plain(news.text), news.facts)]
