"""Carries out the steps of a plan: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence

from forge.core.review import disk
from forge.core.review.plan import Step
from forge.core.review.repository import Refused, Repository
from forge.foundation.errors import ForgeError


def carry_out(repo: Repository, steps: Sequence[Step], tag: str) -> None:
    """Makes every path what its step says. After any failure everything is as it was before.

    `tag` goes into the names of files that wait beside their place, so that they can be found after a crash.
    """
    prepared: dict[str, str] = {}
    begun: list[Step] = []
    try:
        for at, step in enumerate(steps):
            if step.after.kind != disk.ABSENT:
                name = waiting_name(tag, at)
                prepared[step.path] = disk.prepare(repo.root, step.path, step.after, name)
        # What goes first makes room for what comes.
        for step in sorted(steps, key=lambda one: one.after.kind != disk.ABSENT):
            if not disk.is_untouched(repo.root, step.path, step.before):
                raise Refused(f"{step.path} was changed by somebody else right now", "Nothing was touched.")
            begun.append(step)
            _do(repo, step, prepared.get(step.path, ""))
    except BaseException as error:
        for left in prepared.values():
            disk.discard(left)
        _undo(repo, begun, tag)
        if isinstance(error, OSError):
            reason = f"{error.filename or 'the files'}: {error.strerror or error}"
            raise ForgeError(f"cannot write {reason}; nothing was changed") from error
        raise


def waiting_name(tag: str, at: int) -> str:
    """The name of a file that waits to be put in its place."""
    return f".diffy-{tag}-{at}"


def _do(repo: Repository, step: Step, prepared: str) -> None:
    if step.after.kind == disk.ABSENT:
        disk.remove(repo.root, step.path)
        return
    linked = step.before.kind == step.after.kind == disk.FILE and step.before.links > 1
    disk.place(repo.root, step.path, step.after, prepared, linked)


def _undo(repo: Repository, begun: Sequence[Step], tag: str) -> None:
    """Takes back, last first, whatever of the steps has happened."""
    for step in sorted(reversed(begun), key=lambda one: one.before.kind != disk.ABSENT):
        now = disk.look(repo.root, step.path)
        if now.kind == disk.DIRECTORY or (now.kind, now.content, now.mode) == (
            step.before.kind,
            step.before.content,
            step.before.mode,
        ):
            continue
        back = ""
        if step.before.kind in (disk.FILE, disk.SYMLINK):
            back = disk.prepare(repo.root, step.path, step.before, waiting_name(tag, -1))
        _do(repo, Step(step.path, now, step.before), back)
