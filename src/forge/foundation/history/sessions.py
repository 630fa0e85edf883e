"""Lists the recorded sessions of a machine. Of a large transcript only its beginning and its end are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from forge.foundation.history.transcript import Record, decode_record

END = 64 * 1024
_LONGEST_FIRST_LINE = 8 * 1024 * 1024
_COUNTED = 16 * 1024 * 1024
_TITLE_LENGTH = 200
_PROMPT_MARK = b'"permissionMode":'
_WRAPPERS = ("<command-", "<local-command-", "<task-notification>", "<system-reminder>", "<bash-")


class Summary(msgspec.Struct, frozen=True):
    """A session as a list shows it; times are seconds, `turns` is None for files too large to count."""

    id: str
    path: str
    title: str
    first_prompt: str
    cwd: str
    branch: str
    created: str
    modified: float
    size: int
    turns: int | None
    cost: float | None


def project_folders(projects: str) -> list[str]:
    """The folders of all projects."""
    try:
        with os.scandir(projects) as found:
            return sorted(entry.path for entry in found if entry.is_dir())
    except OSError:
        return []


def transcripts(folder: str) -> list[str]:
    """The transcripts of a project, the newest first."""
    found: list[tuple[int, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file():
                    found.append((entry.stat().st_mtime_ns, entry.path))
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def list_sessions(folders: list[str]) -> list[Summary]:
    """The sessions of these projects, the newest first; files without a conversation are left out."""
    rows = [row for folder in folders for path in transcripts(folder) if (row := summary(path)) is not None]
    return sorted(rows, key=lambda row: row.modified, reverse=True)


def newest(folder: str) -> str | None:
    """The transcript written last that holds a conversation."""
    return next((path for path in transcripts(folder) if summary(path) is not None), None)


def find_title(folder: str, title: str) -> str | None:
    """The newest session of a project with this title, in capitals or not."""
    wanted = title.strip().casefold()
    found = (path for path in transcripts(folder) if wanted and own_title(path).casefold() == wanted)
    return next(found, None)


def own_title(path: str) -> str:
    """The title the user gave a session, "" for none."""
    title = ""
    try:
        with open(path, "rb") as lines:
            for line in lines:
                if b'"customTitle"' in line and b'"custom-title"' in line[:4096]:
                    record = decode_record(line) or {}
                    if record.get("type") == "custom-title":
                        title = _text(record, "customTitle")
    except OSError:
        return ""
    return title


def summary(path: str) -> Summary | None:
    """What a list says about a transcript; None when it holds no conversation of its own."""
    try:
        status = os.stat(path)
        with open(path, "rb") as file:
            head, tail = _ends(file.fileno(), status.st_size)
            turns = _turns(file.fileno(), status.st_size)
    except OSError:
        return None
    seen = _Seen()
    for record in [*head, *tail]:
        seen.add(record)
    if seen.sidechain or not seen.first_prompt:
        return None
    return Summary(
        id=os.path.basename(path).removesuffix(".jsonl"),
        path=path,
        title=_one_line(seen.title()),
        first_prompt=_one_line(seen.first_prompt),
        cwd=seen.cwd,
        branch=seen.branch,
        created=seen.created,
        modified=status.st_mtime,
        size=status.st_size,
        turns=turns,
        cost=seen.cost,
    )


class _Seen:
    """What the records read so far say."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.first_prompt = ""
        self.cwd = self.branch = self.created = ""
        self.cost: float | None = None
        self.sidechain = False

    def add(self, record: Record) -> None:
        for key in ("customTitle", "aiTitle", "lastPrompt", "summary"):
            self.texts[key] = _text(record, key) or self.texts.get(key, "")
        self.cwd = self.cwd or _text(record, "cwd")
        self.branch = _text(record, "gitBranch") or self.branch
        self.created = self.created or _text(record, "timestamp")
        cost = record.get("totalCostUSD")
        if record.get("type") == "cost-state" and isinstance(cost, int | float):
            self.cost = float(cost)
        if record.get("type") == "user" and not self.first_prompt:
            self.sidechain = record.get("isSidechain") is True
            self.first_prompt = prompt_text(record)

    def title(self) -> str:
        named = [self.texts.get(key, "") for key in ("customTitle", "aiTitle", "lastPrompt", "summary")]
        return next((text for text in named if text), self.first_prompt)


def prompt_text(record: Record) -> str:
    """The user's own words in a record, "" when it holds none (results, summaries, commands, reminders)."""
    if record.get("isMeta") is True or record.get("isCompactSummary") is True:
        return ""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        parts = [content]
    elif isinstance(content, list):
        blocks = [b for b in content if isinstance(b, dict)]
        if any(b.get("type") == "tool_result" for b in blocks):
            return ""
        parts = [_text(b, "text") for b in blocks if b.get("type") == "text"]
    else:
        return ""
    return "\n".join(p for p in parts if p.strip() and not p.lstrip().startswith(_WRAPPERS)).strip()


def _ends(descriptor: int, size: int) -> tuple[list[Record], list[Record]]:
    """The records at the beginning and at the end; those cut by the borders are left out."""
    if size <= 2 * END:
        return list(_records(os.pread(descriptor, size, 0))), []
    head = os.pread(descriptor, END, 0)
    first = list(_records(head[: head.rfind(b"\n") + 1]))
    if not any(record.get("type") == "user" for record in first):
        whole = os.pread(descriptor, _LONGEST_FIRST_LINE, 0)
        first = list(_records(whole[: whole.find(b"\n", END) + 1 or len(whole)]))
    tail = os.pread(descriptor, END, size - END)
    return first, list(_records(tail[tail.find(b"\n") + 1 :]))


def _records(data: bytes) -> Iterator[Record]:
    for line in data.splitlines():
        record = decode_record(line)
        if record is not None:
            yield record


def _turns(descriptor: int, size: int) -> int | None:
    """How many prompts there are: only their records name the permission mode they were given in."""
    if size > _COUNTED:
        return None
    count, at, rest = 0, 0, b""
    while block := os.pread(descriptor, 1 << 20, at):
        at += len(block)
        count += (rest + block).count(_PROMPT_MARK)
        rest = block[1 - len(_PROMPT_MARK) :]
    return count


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _TITLE_LENGTH else flat[: _TITLE_LENGTH - 1] + "…"


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
