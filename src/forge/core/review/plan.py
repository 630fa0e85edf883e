"""Works out what the files must become after a review; what cannot be done is refused before any write."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from forge.core.review import disk
from forge.core.review.blobs import as_stored
from forge.core.review.choose import Choice
from forge.core.review.disk import Entry
from forge.core.review.hunks import split_lines
from forge.core.review.model import (
    ABSENT,
    CONTENT,
    EXECUTABLE,
    LINK,
    MODE,
    REJECT,
    RENAME,
    TEXT,
    WHOLE,
    File,
    Listing,
    Unit,
)
from forge.core.review.olds import Old, Wanted, old_contents
from forge.core.review.repository import Refused, Repository
from forge.core.review.splice import check, without

_AGAIN = "Nothing was touched. List the changes again and decide anew."


class Step(msgspec.Struct, frozen=True):
    """One path: what it is and what it becomes."""

    path: str
    before: Entry
    after: Entry


class Plan(msgspec.Struct, frozen=True):
    """All that is to be done. `left` are paths whose rejection is not carried out: submodules."""

    steps: tuple[Step, ...]
    left: tuple[str, ...] = ()


class _Case(msgspec.Struct, frozen=True):
    """A file with something to undo. `before` is its old content as it was on disk."""

    file: File
    now: Entry
    before: Old | None

    @property
    def old(self) -> bytes | None:
        return self.before.content if self.before else None


def make_plan(repo: Repository, listing: Listing, choices: Mapping[str, Choice]) -> Plan:
    """The steps that undo what was rejected and put in what was edited."""
    touched = [file for file in listing.files if _is_touched(file, choices)]
    files = [file for file in touched if not file.is_submodule]
    cases = _cases(repo, listing, files, choices)
    steps: dict[str, Step] = {}
    for case in cases:
        for path, after in _wanted(case, listing, choices).items():
            before = case.now if path == case.file.path else disk.look(repo.root, path)
            step = Step(path, before, after)
            if not _is_done(step):
                _check_reviewed(case.file, step)
                steps[path] = step
    check_room(repo, steps)
    return Plan(tuple(steps.values()), tuple(file.path for file in touched if file.is_submodule))


def _is_touched(file: File, choices: Mapping[str, Choice]) -> bool:
    return any(choices[unit.id].verdict == REJECT or choices[unit.id].edit is not None for unit in file.hunks)


def _cases(
    repo: Repository, listing: Listing, files: list[File], choices: Mapping[str, Choice]
) -> list[_Case]:
    entries = [disk.look(repo.root, file.path) for file in files]
    for file, now in zip(files, entries, strict=True):
        _check_current(repo, file, now, listing)
    wanted = [
        Wanted(file, _final_path(file, choices), now.content)
        for file, now in zip(files, entries, strict=True)
    ]
    olds = old_contents(repo, listing, wanted)
    return [_Case(file, now, olds.get(at)) for at, (file, now) in enumerate(zip(files, entries, strict=True))]


def _final_path(file: File, choices: Mapping[str, Choice]) -> str:
    return file.old_path if _rejects(file, RENAME, choices) else file.path


def _rejects(file: File, kind: str, choices: Mapping[str, Choice]) -> bool:
    return any(unit.kind == kind and choices[unit.id].verdict == REJECT for unit in file.hunks)


def _check_current(repo: Repository, file: File, now: Entry, listing: Listing) -> None:
    """Refuses if a path is not in the state that was reviewed."""
    if file.new_mode == ABSENT:
        return  # something else at its place is met by the check for room
    kind = disk.SYMLINK if file.new_mode == LINK else disk.FILE
    stored = listing.blobs[file.new_id]
    fits = now.kind == kind and (now.content == stored or _is_stored(repo, file, now))
    if fits and kind == disk.FILE and now.is_executable != (file.new_mode == EXECUTABLE):
        fits = not _has_modes(repo)
    if not fits:
        raise Refused(f"{file.path} has changed since it was listed", _AGAIN)


def _is_stored(repo: Repository, file: File, now: Entry) -> bool:
    return now.kind == disk.FILE and as_stored(repo, file.path, now.content) == file.new_id


def _has_modes(repo: Repository) -> bool:
    return repo.git("config", "--type=bool", "core.fileMode", codes=(0, 1)).strip() != b"false"


def _wanted(case: _Case, listing: Listing, choices: Mapping[str, Choice]) -> dict[str, Entry]:
    """The paths of a file and what they become."""
    file = case.file
    if _rejects(file, WHOLE, choices):
        return {file.path: _old_entry(case)}
    content = _content(case, listing, choices)
    if content is None:
        return {file.path: Entry()}
    link = file.new_mode == LINK  # only ever renamed here
    was_executable = _rejects(file, MODE, choices) or file.new_mode == ABSENT
    executable = (file.old_mode if was_executable else file.new_mode) == EXECUTABLE
    changed = link or _rejects(file, MODE, choices) or case.now.kind != disk.FILE
    mode = disk.with_bits(case.now, executable) if changed else case.now.mode
    kind = disk.SYMLINK if link else disk.FILE
    entry = Entry(kind, content, disk.NEW if link else mode, case.now.owner)
    if _rejects(file, RENAME, choices):
        return {file.path: Entry(), file.old_path: entry}
    return {file.path: entry}


def _old_entry(case: _Case) -> Entry:
    if case.file.old_mode == ABSENT or case.old is None:
        return Entry()
    if case.file.old_mode == LINK:
        return Entry(disk.SYMLINK, case.old)
    return Entry(disk.FILE, case.old, disk.with_bits(Entry(), case.file.old_mode == EXECUTABLE))


def _content(case: _Case, listing: Listing, choices: Mapping[str, Choice]) -> bytes | None:
    """What the file shall hold; None if it shall not be there."""
    texts = [unit for unit in case.file.hunks if unit.kind == TEXT]
    if not texts:
        return case.old if _rejects(case.file, CONTENT, choices) else case.now.content
    if all(_is_undone(unit, choices[unit.id]) for unit in texts):
        return _undone(case, listing, texts, choices)
    content = _spliced(case, listing, texts, choices)
    return None if not content and case.file.status == "A" else content


def _undone(case: _Case, listing: Listing, texts: list[Unit], choices: Mapping[str, Choice]) -> bytes | None:
    """The old content. With mixed line ends only the lines that did not change know what they were."""
    before = case.before
    if before is None or before.size == len(before.content):
        return case.old
    stored = case.now.content == listing.blobs.get(case.file.new_id)
    if before.size < 0 and (stored or case.now.kind != disk.FILE):
        return case.old
    try:
        content = _spliced(case, listing, texts, choices)
    except Refused:
        return case.old
    return content if before.size in (-1, len(content)) else case.old


def _is_undone(unit: Unit, choice: Choice) -> bool:
    return choice.edit is None and len(choice.rejected) == sum(line[:1] != b" " for line in unit.lines)


def _spliced(case: _Case, listing: Listing, texts: list[Unit], choices: Mapping[str, Choice]) -> bytes:
    file = case.file
    stored_new = split_lines(listing.blobs[file.new_id] if file.new_id else b"")
    stored_old = split_lines(listing.blobs[file.old_id] if file.old_id else b"")
    check(stored_new, stored_old, texts)
    if case.now.kind == disk.FILE and case.now.content == listing.blobs.get(file.new_id):
        return without(stored_new, stored_old, texts, choices)
    new, old = split_lines(case.now.content), split_lines(case.old or b"")
    if (len(new), len(old)) != (len(stored_new), len(stored_old)):
        raise Refused(
            f"{file.path}: its lines on disk are not those in git, so only all of it can be decided"
        )
    return without(new, old, texts, choices)


def _is_done(step: Step) -> bool:
    now, after = step.before, step.after
    if (now.kind, now.content) != (after.kind, after.content):
        return False
    return now.kind != disk.FILE or now.is_executable == after.is_executable


def _check_reviewed(file: File, step: Step) -> None:
    """A path that was not there when the files were listed must still not be there: it may be ignored."""
    absent = step.path != file.path or file.new_mode == ABSENT
    if absent and step.before.kind in (disk.FILE, disk.SYMLINK):
        raise Refused(f"{step.path} cannot come back: another file is in its place", _AGAIN)


def check_room(repo: Repository, steps: Mapping[str, Step]) -> None:
    """Refuses if a path cannot come back because something that stays is in its place."""
    gone = {path for path, step in steps.items() if step.after.kind == disk.ABSENT}
    made = {path for path in steps if path not in gone}
    for path in steps:
        for above in _above(path):
            kind = disk.ABSENT if above in gone else _kind(repo.absolute(above))
            if (path in made and above in made) or kind not in (disk.ABSENT, disk.DIRECTORY):
                raise Refused(f"{path} cannot be changed while {above} is no directory", _AGAIN)
    for path in made:
        before = steps[path].before
        if before.kind == disk.DIRECTORY and (other := _other_file(repo, path, gone)):
            raise Refused(f"{path} cannot come back: the directory in its place holds {other}", _AGAIN)
        if before.kind == disk.OTHER:
            raise Refused(f"{path} cannot come back: something that is no file is in its place", _AGAIN)


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _kind(path: str) -> str:
    if os.path.islink(path):
        return disk.SYMLINK
    return disk.DIRECTORY if os.path.isdir(path) else disk.FILE if os.path.lexists(path) else disk.ABSENT


def _other_file(repo: Repository, path: str, gone: set[str]) -> str:
    """A file below a directory that is not part of the plan; empty if there is none."""
    for directory, names, files in os.walk(repo.absolute(path)):
        links = [name for name in names if os.path.islink(os.path.join(directory, name))]
        for name in (*files, *links):
            found = os.path.relpath(os.path.join(directory, name), repo.root)
            if found not in gone:
                return found
    return ""
