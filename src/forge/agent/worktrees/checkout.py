"""Worktrees of a git repository: made, reused, locked, judged and removed with git itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from forge.foundation.errors import ForgeError
from forge.foundation.git import NO_GIT, TOO_SLOW, run_git
from forge.foundation.system.liveness import is_alive, process_start

FOLDER = os.path.join(".claude", "worktrees")
LONGEST_NAME = 64
FETCH_SECONDS = 20.0
_SEGMENT = re.compile(r"[A-Za-z0-9._-]+")
_OWNER = re.compile(r"\(pid (\d+)(?: start (\d+))?\)")
_WORDS = (
    "amber brisk calm dapper eager fair gentle hardy jolly keen lively mellow nimble polite quick",
    "baking carving drifting folding gliding humming leaping mending pacing resting sailing tuning",
    "anvil badger cedar dune ember falcon grove heron iris kestrel lark maple otter pine quartz wren",
)
NO_COMMIT = (
    'Failed to resolve base branch "HEAD": git rev-parse returned no commit for HEAD (for example in a new'
    " repository, or on a branch without a commit yet), so there is nothing to base a worktree on. Make a"
    " first commit; `git status` may show more."
)


class WorktreeError(ForgeError):
    """A worktree cannot be made, entered or removed; nothing was changed."""


class Made(msgspec.Struct, frozen=True):
    """A worktree on disk. `base` is the commit its own work starts from; `resumed`: it was there before.

    `other` is the number of another running process that holds its lock.
    """

    path: str
    branch: str
    base: str
    resumed: bool = False
    other: int = 0


class Wanted(msgspec.Struct, frozen=True):
    """How worktrees are made: `fresh` from the newest state of the remote's main branch, if it has one."""

    fresh: bool = True
    online: bool = True
    links: list[str] = []
    sparse: list[str] = []


def name_problem(name: str) -> str:
    """What is wrong with the name of a worktree; empty if nothing is."""
    if len(name) > LONGEST_NAME:
        return f"Invalid worktree name: must be {LONGEST_NAME} characters or fewer (got {len(name)})"
    segments = name.split("/")
    if any(segment in (".", "..") for segment in segments):
        return f'Invalid worktree name "{name}": must not contain "." or ".." path segments'
    if not all(_SEGMENT.fullmatch(segment) for segment in segments):
        return (
            f'Invalid worktree name "{name}": each "/"-separated segment must be non-empty and contain only'
            " letters, digits, dots, underscores, and dashes"
        )
    return ""


def random_name(numbers: bytes) -> str:
    """A name for a worktree nobody named, out of three random numbers."""
    lists = [words.split() for words in _WORDS]
    return "-".join(words[n % len(words)] for n, words in zip(numbers, lists, strict=True))


async def make(root: str, name: str, owner: str, wanted: Wanted, env: Mapping[str, str]) -> Made:
    """The worktree of that name below the main checkout `root`, new or as it was left."""
    if problem := name_problem(name):
        raise WorktreeError(problem)
    flat = name.replace("/", "+")
    path, branch = os.path.join(root, FOLDER, flat), f"worktree-{flat}"
    if _is_checkout(path):
        return await _resume(root, path, owner, env)
    base = await _base(root, wanted, env)
    args = ["worktree", "add", "--no-track", "-b", branch, path, base]
    if (await run_git(root, ["rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"], env)).code == 0:
        # Its worktree is gone, its commits are not: go on with them.
        args = ["worktree", "add", path, branch]
    done = await run_git(root, args, env)
    if done.code and _is_checkout(path):
        return await _resume(root, path, owner, env)  # Somebody else has made it at the same moment.
    if done.code:
        raise WorktreeError(f"Failed to create worktree: {done.err.strip()}")
    await run_git(root, ["worktree", "lock", "--reason", owner, path], env)
    await _furnish(root, path, wanted, env)
    return Made(path, branch, base)


async def enter(root: str, path: str, env: Mapping[str, str]) -> Made:
    """An existing worktree of the repository, wherever it is."""
    if not is_directory(path):
        why = f"ENOENT: no such file or directory, realpath '{path}'"
        raise WorktreeError(f"Cannot enter worktree: {path}: {why}")
    listed = await run_git(root, ["worktree", "list", "--porcelain"], env)
    known = [
        line.removeprefix("worktree ") for line in listed.out.splitlines() if line.startswith("worktree ")
    ]
    real, *others = _real([path, *known])
    if real not in others or real in _real([root]):
        raise WorktreeError(
            f"Cannot enter worktree: {path} is not a registered worktree of {root}."
            f" Run 'git -C {root} worktree list' to see registered worktrees."
        )
    return Made(real, await _branch(real, env), await _head(real, env), resumed=True)


async def work_in(made: Made, env: Mapping[str, str]) -> tuple[int, int] | None:
    """Uncommitted files and commits that are only here; None if that cannot be said."""
    status = await run_git(made.path, ["status", "--porcelain", "--untracked-files=all"], env)
    log = await run_git(made.path, ["rev-list", "--count", f"{made.base}..HEAD"], env)
    if status.code or log.code or not log.out.strip().isdigit():
        return None
    return len(status.out.splitlines()), int(log.out)


async def remove(root: str, made: Made, env: Mapping[str, str]) -> None:
    """Takes a worktree and its branch away; the caller has made sure that nothing is lost by it."""
    await run_git(root, ["worktree", "unlock", made.path], env)
    done = await run_git(root, ["worktree", "remove", "--force", made.path], env)
    if done.code:
        raise WorktreeError(f"The worktree at {made.path} cannot be removed: {done.err.strip()}")
    if made.branch:
        await run_git(root, ["branch", "-D", made.branch], env)


async def unlock(root: str, path: str, env: Mapping[str, str]) -> None:
    """Says that nobody works there any more."""
    await run_git(root, ["worktree", "unlock", path], env)


def owner_note(kind: str, name: str) -> str:
    """The reason of a lock: who holds it, so that others can see whether they still run."""
    pid = os.getpid()
    return f"forge {kind} {name} (pid {pid} start {process_start(pid)})"


async def _resume(root: str, path: str, owner: str, env: Mapping[str, str]) -> Made:
    other = _holder(path)
    if not other:
        await run_git(root, ["worktree", "unlock", path], env)
        await run_git(root, ["worktree", "lock", "--reason", owner, path], env)
    merged = await run_git(path, ["merge-base", "HEAD", await _head(root, env)], env)
    base = merged.out.strip() or await _head(path, env)
    return Made(path, await _branch(path, env), base, resumed=True, other=other)


async def _base(root: str, wanted: Wanted, env: Mapping[str, str]) -> str:
    """The commit new work starts from."""
    if wanted.fresh:
        named = await run_git(root, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"], env)
        remote = named.out.strip()
        if remote:
            if wanted.online:
                branch = remote.removeprefix("origin/")
                await run_git(root, ["fetch", "--quiet", "origin", branch], env, FETCH_SECONDS)
            found = await run_git(root, ["rev-parse", "--verify", "--quiet", f"{remote}^{{commit}}"], env)
            if found.code == 0:
                return found.out.strip()
    head = await run_git(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], env)
    if head.code:
        raise WorktreeError(head.err.strip() if head.code in (NO_GIT, TOO_SLOW) else NO_COMMIT)
    return head.out.strip()


async def _head(path: str, env: Mapping[str, str]) -> str:
    done = await run_git(path, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], env)
    return done.out.strip() if done.code == 0 else ""


async def _branch(path: str, env: Mapping[str, str]) -> str:
    return (await run_git(path, ["branch", "--show-current"], env)).out.strip()


async def _furnish(root: str, path: str, wanted: Wanted, env: Mapping[str, str]) -> None:
    """What the settings want in a new worktree: links to big directories, only some of the files."""
    if wanted.sparse:
        await run_git(path, ["sparse-checkout", "set", *wanted.sparse], env)
    _link(root, path, wanted.links)


def is_directory(path: str) -> bool:
    """Whether there is a directory."""
    return os.path.isdir(path)


def _is_checkout(path: str) -> bool:
    return os.path.lexists(os.path.join(path, ".git"))


def _real(paths: list[str]) -> list[str]:
    return [os.path.realpath(path) for path in paths]


def _link(root: str, path: str, names: list[str]) -> None:
    for name in names:
        inside = os.path.normpath(name)
        if os.path.isabs(inside) or inside.startswith(".."):
            continue
        target, link = os.path.join(root, inside), os.path.join(path, inside)
        if os.path.isdir(target) and not os.path.lexists(link):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(target, link, target_is_directory=True)


def _holder(path: str) -> int:
    """The number of another running process that has locked a worktree; 0 if there is none."""
    try:
        with open(os.path.join(path, ".git"), encoding="utf-8") as file:
            git_dir = os.path.join(path, file.read().removeprefix("gitdir:").strip())
        with open(os.path.join(git_dir, "locked"), encoding="utf-8") as file:
            found = _OWNER.search(file.read())
    except (OSError, UnicodeDecodeError):
        return 0
    if found is None:
        return 0
    pid, start = int(found[1]), int(found[2] or 0)
    return pid if pid != os.getpid() and is_alive(pid, start) else 0
