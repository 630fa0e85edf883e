"""Goes back to a prompt: files become what they were, the conversation goes on from before it.

Everything is planned and verified before the first file is touched, each file is replaced in one step, and
the plan depends only on what was recorded: a rewind that was killed is finished by doing it again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

import msgspec

from forge.core.tools.patch import structured_patch
from forge.foundation.errors import UsageError
from forge.foundation.history.checkpoints import Backup, Snapshot, put_back, state_at
from forge.foundation.history.lineage import Link, lineage
from forge.foundation.history.sessions import prompt_text
from forge.foundation.history.transcript import Transcript, decode_record, read_index, read_lines
from forge.foundation.ids import timestamp

_REPEATED = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")


class Change(msgspec.Struct, frozen=True):
    """One file that differs from its state at the prompt; no copy: it will be removed."""

    path: str
    copy: str | None
    insertions: int
    deletions: int


class Plan(msgspec.Struct, frozen=True):
    """What going back does to files, and what it cannot do."""

    changes: list[Change]
    links: list[str]
    lost: list[str]


def plan(folder: str, history: list[Snapshot], message: str) -> Plan:
    """Compares the files with their state at a prompt; raises UsageError without a checkpoint of it."""
    state = state_at(history, message)
    if state is None:
        raise UsageError("No file checkpoint found for this message.")
    made = Plan([], [], [])
    for path, backup in state.items():
        _compare(made, folder, path, backup)
    return made


def carry_out(folder: str, todo: Plan) -> None:
    """Restores the files of a plan; raises UsageError before touching any when a copy is gone."""
    if todo.lost:
        raise UsageError(f"Nothing was changed: the saved copy of {todo.lost[0]} is gone or cannot be read.")
    for change in todo.changes:
        try:
            if change.copy is not None:
                put_back(folder, change.copy, change.path)
            elif os.path.lexists(change.path):
                os.unlink(change.path)
        except OSError as error:
            raise UsageError(
                f"{change.path} cannot be restored: {error.strerror}.", "Repair that and rewind again."
            ) from None


def is_prompt(path: str, message: str) -> bool:
    """Whether an id is that of a user's prompt in a transcript."""
    try:
        links = read_index(path).links
    except OSError:
        return False
    return any(link.uuid == message and link.kind == "user" and not link.results for link in links)


def rewind_conversation(
    path: str, message: str, *, clock: Callable[[], float], new_id: Callable[[], str], dry_run: bool = False
) -> int:
    """Makes the conversation go on from before a prompt; returns how many entries are left behind.

    Nothing is removed: a new branch is written, and the branch written last counts.
    """
    index = read_index(path)
    links = {link.uuid: link for link in index.links}
    prompt = links.get(message)
    if prompt is None or prompt.kind != "user" or prompt.results:
        raise UsageError(f"{message} is not a user message in this session.")
    line, _ = lineage(list(links.values()), index.kept, prompt.parent or "none")
    if not any(link.kind in ("user", "assistant") for link in line):
        raise UsageError(
            "Nothing would be left of the conversation before that message.",
            "Start a new session instead, or rewind only the files with --code.",
        )
    if not dry_run:
        _branch(path, prompt, _last_words(path, links, prompt.parent), (timestamp(clock()), new_id()))
    return sum(1 for link in links.values() if link.at >= prompt.at and not link.side)


def _branch(path: str, prompt: Link, words: str, mark: tuple[str, str]) -> None:
    """Writes an entry beside the prompt; the reference also wants to be told that it is the leaf."""
    when, uuid = mark
    (line,) = read_lines(path, [(prompt.at, prompt.size)])
    record = decode_record(line) or {}
    entry = {
        "parentUuid": prompt.parent,
        "isSidechain": False,
        "type": "system",
        "subtype": "informational",
        "content": "Conversation rewound",
        "level": "info",
        "isMeta": False,
        "uuid": uuid,
        "timestamp": when,
    }
    session = os.path.basename(path).removesuffix(".jsonl")
    transcript = Transcript(path)
    transcript.append({**entry, **{key: record[key] for key in _REPEATED if key in record}})
    transcript.append({"type": "last-prompt", "lastPrompt": words, "leafUuid": uuid, "sessionId": session})
    transcript.close()


def _last_words(path: str, links: dict[str, Link], uuid: str | None) -> str:
    """The prompt that is the last one when everything after an entry is left behind."""
    seen: set[str] = set()
    while uuid is not None and uuid in links and uuid not in seen:
        seen.add(uuid)
        link = links[uuid]
        if link.kind == "user" and not link.results:
            (line,) = read_lines(path, [(link.at, link.size)])
            words = prompt_text(decode_record(line) or {})
            if words:
                return words
        uuid = link.parent
    return ""


def _compare(made: Plan, folder: str, path: str, backup: Backup) -> None:
    directory = os.path.dirname(path)
    moved = backup.real_parent_dir and os.path.realpath(directory) != backup.real_parent_dir
    if os.path.islink(path) or moved or os.path.isdir(path):
        made.links.append(path)
        return
    name = backup.backup_file_name
    try:
        wanted = None if name is None else _read(os.path.join(folder, name))
        present = _read(path) if os.path.lexists(path) else None
    except OSError:
        made.lost.append(path)
        return
    if wanted != present:
        added, removed = _counts(present[0] if present else b"", wanted[0] if wanted else b"")
        made.changes.append(Change(path, name, added, removed))


def _read(path: str) -> tuple[bytes, int]:
    with open(path, "rb") as file:
        return file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)


def _counts(before: bytes, after: bytes) -> tuple[int, int]:
    """Lines added and removed."""
    texts = [data.decode("utf-8", "replace") for data in (before, after)]
    lines = [line for hunk in structured_patch(texts[0], texts[1]) for line in hunk["lines"]]
    return sum(x.startswith("+") for x in lines), sum(x.startswith("-") for x in lines)
