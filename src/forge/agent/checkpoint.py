"""Remembers what files were before a prompt changed them, so that one can go back, with or without git."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

import msgspec

from forge.agent.record import Recorder
from forge.foundation.history.checkpoints import (
    KEPT,
    Backup,
    Snapshot,
    keep_copy,
    parse_history,
    prune,
    read_history,
    tracking_path,
)
from forge.foundation.ids import timestamp

_PRUNE_EVERY = 20

Signature = tuple[int, int, int, int]


class Checkpoints:
    """The snapshots of one session: one per prompt, a copy of each file before its first change."""

    def __init__(
        self,
        folder: str,
        recorder: Recorder,
        start_dir: str,
        *,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.start_dir = start_dir
        self._recorder, self._clock, self._warn = recorder, clock, warn
        self._message = ""
        self._files: dict[str, Backup] = {}
        self._versions: dict[str, int] = {}
        self._signatures: dict[str, Signature] = {}
        # The copies each kept snapshot names, so that a long transcript need not be read again to prune.
        self._named: deque[set[str | None]] = deque(maxlen=KEPT)
        self._begun = 0
        self._warned = False

    @property
    def transcript(self) -> str:
        return self._recorder.transcript.path if self._recorder.transcript is not None else ""

    def begin_anew(self, folder: str) -> None:
        """Goes on without a past, for another session."""
        self.folder, self._message, self._begun = folder, "", 0
        self._files, self._versions, self._signatures = {}, {}, {}
        self._named.clear()

    def resume(self, path: str, spans: list[tuple[int, int]]) -> None:
        """Goes on with the files an earlier run of the session tracked."""
        history = parse_history(path, spans, self.start_dir)
        self._files = dict(history[-1].files) if history else {}
        self._versions = {path: backup.version for path, backup in self._files.items()}
        self._named.extend(_names(snapshot.files) for snapshot in history)

    def history(self) -> list[Snapshot]:
        """All snapshots that are kept."""
        try:
            return read_history(self.transcript, self.start_dir)
        except OSError:
            return []

    def begin(self, message: str) -> None:
        """A prompt is given: what the tracked files are now is the state to go back to."""
        self._message = message
        for path in list(self._files):
            self._save(path)
        now = timestamp(self._clock())
        files = {tracking_path(path, self.start_dir): _raw(b) for path, b in self._files.items()}
        snapshot = {"messageId": message, "trackedFileBackups": files, "timestamp": now}
        self._recorder.side(
            "file-history-snapshot", messageId=message, snapshot=snapshot, isSnapshotUpdate=False
        )
        self._named.append(_names(self._files))
        self._begun += 1
        # A resumed session may know only the newest of its snapshots: then there is nothing to prune yet.
        if len(self._named) == KEPT and self._begun % _PRUNE_EVERY == 0:
            prune(self.folder, set().union(*self._named))

    def before_change(self, path: str) -> None:
        """A tool is about to write: the first time in a session the file is saved as it is."""
        real = os.path.realpath(path)
        if not self._message or real in self._files or not self._save(real):
            return
        if self._named:
            self._named[-1].add(self._files[real].backup_file_name)
        self._recorder.side(
            "file-history-delta",
            messageId=self._message,
            snapshotMessageId=self._message,
            trackingPath=tracking_path(real, self.start_dir),
            backup=_raw(self._files[real]),
            timestamp=self._files[real].backup_time,
        )

    def _save(self, path: str) -> bool:
        """Brings the copy of a file up to date; a copy that cannot be made is reported once."""
        signature = _signature(path)
        before = self._files.get(path)
        if before is not None and signature is not None and self._signatures.get(path) == signature:
            return True
        try:
            name, version = keep_copy(self.folder, path, self._versions.get(path, 0) + 1)
        except OSError as error:
            self._report(path, error)
            return False
        if before is None or before.backup_file_name != name:
            self._versions[path] = max(version, self._versions.get(path, 0))
            now = timestamp(self._clock())
            self._files[path] = Backup(name, version, now, os.path.dirname(path))
        if signature is not None:
            self._signatures[path] = signature
        return True

    def _report(self, path: str, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            self._warn(
                f"No checkpoint of {path} can be kept: {error.strerror}. Going back will not restore it."
            )


def _signature(path: str) -> Signature | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_mode, status.st_ino)


def _names(files: dict[str, Backup]) -> set[str | None]:
    return {backup.backup_file_name for backup in files.values()}


def _raw(backup: Backup) -> dict[str, object]:
    made: dict[str, object] = msgspec.to_builtins(backup)
    return made
