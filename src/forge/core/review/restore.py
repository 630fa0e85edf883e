"""Takes the last review back, or one that was cut off in the middle of writing."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from forge.core.review import disk
from forge.core.review.backup import (
    Backup,
    State,
    clear_waiting,
    drop,
    folder,
    keep_newest,
    list_backups,
    old_entry,
    state,
)
from forge.core.review.index import put_back
from forge.core.review.plan import Step, check_room
from forge.core.review.repository import Refused, Repository
from forge.core.review.write import carry_out
from forge.foundation.errors import ForgeError
from forge.foundation.system.locks import locked


class Restored(msgspec.Struct, frozen=True):
    """What was restored: how many paths, from which backup; `notes` say what could not be."""

    id: str
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()


def restore(repo: Repository, wanted: str = "", force: bool = False) -> Restored:
    """Puts every path of a backup (the last one, if none is named) back, and the index with it."""
    os.makedirs(repo.state, exist_ok=True)
    with locked(repo.state):
        recover(repo)
        backup = _pick(repo, wanted)
        steps = _steps(repo, backup, force)
        check_room(repo, {step.path: step for step in steps})
        missing = [at for at in backup.directories if not os.path.isdir(repo.absolute(os.fsdecode(at[0])))]
        carry_out(repo, steps, f"r{backup.id}")
        for path, mode in missing:
            with suppress(OSError):
                os.chmod(repo.absolute(os.fsdecode(path)), mode)
        notes = put_back(repo, folder(repo, backup.id), backup.index)
        drop(repo, backup)
        keep_newest(repo)
    return Restored(backup.id, tuple(step.path for step in steps), notes)


def settle(repo: Repository) -> None:
    """Undoes a review that was cut off, if there is one, before anything looks at the files."""
    if all(backup.done for backup in list_backups(repo)):
        return
    with locked(repo.state):
        recover(repo)


def recover(repo: Repository) -> None:
    """Undoes reviews that were cut off while writing; what others have changed since stays as it is."""
    for backup in reversed([one for one in list_backups(repo) if not one.done]):
        clear_waiting(repo, backup)
        steps = []
        for saved in backup.paths:
            path = os.fsdecode(saved.path)
            now = disk.look(repo.root, path)
            if _is(state(now), saved.after) or now.links > 1:
                steps.append(Step(path, now, old_entry(repo, backup, saved)))
        carry_out(repo, steps, f"r{backup.id}")
        drop(repo, backup)


def _pick(repo: Repository, wanted: str) -> Backup:
    backups = list_backups(repo)
    if not backups:
        raise ForgeError("there is nothing to restore")
    found = [backup for backup in backups if backup.id == wanted] if wanted else backups[-1:]
    if not found:
        raise ForgeError(f"there is no backup {wanted!r}", "diffy --restore --list shows them.")
    return found[0]


def _steps(repo: Repository, backup: Backup, force: bool) -> list[Step]:
    steps, changed = [], []
    for saved in backup.paths:
        path = os.fsdecode(saved.path)
        now = disk.look(repo.root, path)
        if _is(state(now), saved.before) and now.mode == saved.before.mode:
            continue
        if not _is(state(now), saved.after):
            changed.append(path)
        steps.append(Step(path, now, old_entry(repo, backup, saved)))
    if changed and not force:
        shown = ", ".join(changed[:5]) + (" and others" if len(changed) > 5 else "")
        raise Refused(f"changed since the review: {shown}", "diffy --restore --force overwrites that.")
    return steps


def _is(now: State, then: State) -> bool:
    # A directory in the place of a file is no file: its own files have entries of their own.
    kinds = [disk.ABSENT if kind == disk.DIRECTORY else kind for kind in (now.kind, then.kind)]
    if kinds[0] != kinds[1] or now.digest != then.digest:
        return False
    # The bits of a new file were not known before it was made.
    return now.kind != disk.FILE or then.mode < 0 or (now.mode & 0o111) == (then.mode & 0o111)
