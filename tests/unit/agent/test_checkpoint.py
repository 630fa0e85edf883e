from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.agent.checkpoint import Checkpoints
from forge.agent.record import Recorder, Stamp
from forge.agent.resume import load
from forge.agent.rewind import Change, carry_out, is_prompt, plan, rewind_conversation
from forge.foundation.errors import UsageError
from forge.foundation.history.checkpoints import KEPT, keep_copy, read_history
from forge.foundation.history.transcript import Transcript, read_index, read_records


class Work:
    """A project with a session whose prompts are numbered."""

    def __init__(self, folder: Path) -> None:
        self.project, self.copies = folder / "project", folder / "copies"
        self.project.mkdir()
        self.path = str(folder / "session.jsonl")
        self.warnings: list[str] = []
        self.checkpoints = self.open()

    def open(self) -> Checkpoints:
        stamp = Stamp("session", "1", "test", "")
        recorder = Recorder(
            Transcript(self.path), stamp, clock=lambda: 0.0, new_id=lambda: "id", warn=self.warnings.append
        )
        return Checkpoints(
            str(self.copies), recorder, str(self.project), clock=lambda: 0.0, warn=self.warnings.append
        )

    def change(self, name: str, content: str) -> Path:
        path = self.project / name
        self.checkpoints.before_change(str(path))
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        return path

    def rewind(self, message: str) -> list[Change]:
        todo = plan(str(self.copies), read_history(self.path, str(self.project)), message)
        carry_out(str(self.copies), todo)
        return todo.changes

    def state(self) -> dict[str, tuple[bytes, int]]:
        files = [p for p in self.project.rglob("*") if p.is_file()]
        return {str(p.relative_to(self.project)): (p.read_bytes(), p.stat().st_mode & 0o777) for p in files}


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_files_become_byte_for_byte_what_they_were_at_each_prompt(work: Work) -> None:
    script = work.project / "run.sh"
    script.write_bytes(b"\xff\x00\r\n")
    script.chmod(0o751)
    states = {}
    for number in range(4):
        states[f"p{number}"] = work.state()
        work.checkpoints.begin(f"p{number}")
        work.change("run.sh", f"version {number}")
        work.change(f"sub/new{number}.txt", "made")
    for message in ("p2", "p0", "p3", "p1"):
        work.rewind(message)
        assert work.state() == states[message]


def test_changes_between_prompts_are_seen(work: Work) -> None:
    work.checkpoints.begin("p0")
    work.change("a.txt", "by the tool\n")
    (work.project / "a.txt").write_text("by hand\n")
    work.checkpoints.begin("p1")
    work.change("a.txt", "by the tool again\nand more\n")
    assert work.rewind("p1") == [
        Change(str(work.project / "a.txt"), work_copy(work, "p1", "a.txt"), insertions=1, deletions=2)
    ]
    assert (work.project / "a.txt").read_text() == "by hand\n"


def work_copy(work: Work, message: str, name: str) -> str | None:
    history = {s.message: s.files for s in read_history(work.path, str(work.project))}
    return history[message][str(work.project / name)].backup_file_name


def test_equal_states_are_kept_once(work: Work) -> None:
    for number in range(6):
        work.checkpoints.begin(f"p{number}")
        work.change("a.txt", f"state {number % 2}")
    assert len(list(work.copies.iterdir())) == 2


def test_a_resumed_session_goes_on_with_its_files(work: Work) -> None:
    work.checkpoints.begin("p0")
    work.change("a.txt", "one")
    work.checkpoints = work.open()
    spans = load_spans(work.path)
    work.checkpoints.resume(work.path, spans)
    work.checkpoints.begin("p1")
    work.change("a.txt", "two")
    work.rewind("p1")
    assert work.state() == {"a.txt": (b"one", 0o644)}
    work.rewind("p0")
    assert work.state() == {}


def test_a_session_resumed_behind_a_compaction_keeps_the_copies_it_was_not_told_of(work: Work) -> None:
    for number in range(KEPT):
        work.checkpoints.begin(f"p{number}")
        work.change("a.txt", f"state {number}")
    work.checkpoints = work.open()
    work.checkpoints.resume(work.path, load_spans(work.path)[-1:])
    for number in range(KEPT, KEPT + 40):
        work.checkpoints.begin(f"p{number}")
        work.change("a.txt", f"state {number}")
    work.rewind("p45")
    assert work.state() == {"a.txt": (b"state 44", 0o644)}


def load_spans(path: str) -> list[tuple[int, int]]:
    return read_index(path).file_history


def test_the_records_have_the_shape_the_reference_reads(work: Work) -> None:
    (work.project / "a.txt").write_text("old")
    work.checkpoints.begin("p0")
    work.change("a.txt", "new")
    now = "1970-01-01T00:00:00.000Z"
    name = keep_copy(str(work.copies), str(work.project / "missing"), 1)
    assert name == (None, 1)
    (copy,) = work.copies.iterdir()
    assert list(read_records(work.path)) == [
        {
            "type": "file-history-snapshot",
            "messageId": "p0",
            "snapshot": {"messageId": "p0", "trackedFileBackups": {}, "timestamp": now},
            "isSnapshotUpdate": False,
            "sessionId": "session",
        },
        {
            "type": "file-history-delta",
            "messageId": "p0",
            "snapshotMessageId": "p0",
            "trackingPath": "a.txt",
            "backup": {
                "backupFileName": copy.name,
                "version": 1,
                "backupTime": now,
                "realParentDir": str(work.project),
            },
            "timestamp": now,
            "sessionId": "session",
        },
    ]
    assert copy.name.endswith("@v1")


def test_links_are_left_alone_and_reported(work: Work, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("precious")
    work.checkpoints.begin("p0")
    path = work.change("a.txt", "x")
    deep = work.change("sub/b.txt", "x")
    path.unlink()
    path.symlink_to(outside)
    deep.unlink()
    deep.parent.rmdir()
    deep.parent.symlink_to(tmp_path)
    todo = plan(str(work.copies), read_history(work.path, str(work.project)), "p0")
    carry_out(str(work.copies), todo)
    assert (todo.changes, todo.links) == ([], [str(path), str(deep)])
    assert outside.read_text() == "precious"


def test_nothing_is_touched_when_a_copy_is_gone(work: Work) -> None:
    (work.project / "a.txt").write_text("old a")
    (work.project / "b.txt").write_text("old b")
    work.checkpoints.begin("p0")
    work.change("a.txt", "new a")
    work.change("b.txt", "new b")
    os.unlink(work.copies / str(work_copy(work, "p0", "b.txt")))
    with pytest.raises(UsageError, match="Nothing was changed"):
        work.rewind("p0")
    assert (work.project / "a.txt").read_text() == "new a"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "", 7])
def test_a_record_cannot_lead_out_of_the_folder_of_copies(work: Work, name: object) -> None:
    work.checkpoints.begin("p0")
    backup = {"backupFileName": name, "version": 1, "realParentDir": str(work.project)}
    transcript = Transcript(work.path)
    transcript.append(
        {"type": "file-history-delta", "snapshotMessageId": "p0", "trackingPath": "a.txt", "backup": backup}
    )
    transcript.close()
    assert work.rewind("p0") == []


def test_a_message_without_a_checkpoint_is_refused(work: Work) -> None:
    work.checkpoints.begin("p0")
    with pytest.raises(UsageError, match="No file checkpoint found for this message"):
        work.rewind("nope")


def test_only_the_newest_checkpoints_are_kept(work: Work) -> None:
    for number in range(KEPT + 40):
        work.checkpoints.begin(f"p{number}")
        work.change(f"file{number}.txt", f"first {number}")
        work.change("same.txt", f"state {number}")
    history = read_history(work.path, str(work.project))
    assert len(history) == KEPT
    named = {b.backup_file_name for s in history for b in s.files.values()} - {None}
    assert named <= {p.name for p in work.copies.iterdir()}
    assert len(list(work.copies.iterdir())) < 2 * KEPT + 60


def test_a_copy_that_cannot_be_made_is_reported_once(work: Work) -> None:
    work.copies.write_text("in the way")
    work.checkpoints.begin("p0")
    for name in ("a.txt", "b.txt"):
        (work.project / name).write_text("old")
        work.change(name, "new")
    assert len(work.warnings) == 1
    assert "No checkpoint of" in work.warnings[0]


REWIND = """
import sys
from forge.agent.rewind import carry_out, plan
from forge.foundation.history.checkpoints import read_history
copies, path, project = sys.argv[1:]
print("ready", flush=True)
carry_out(copies, plan(copies, read_history(path, project), "p0"))
"""


def test_a_killed_rewind_leaves_whole_files_and_can_be_repeated(work: Work) -> None:
    names = [f"file{n}.txt" for n in range(20)]
    for name in names:
        (work.project / name).write_text("o" * 100_000)
    work.checkpoints.begin("p0")
    for name in names:
        work.change(name, "n" * 100_000)
    moments = random.Random(5)
    for _ in range(5):
        command = [sys.executable, "-c", REWIND, str(work.copies), work.path, str(work.project)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        with_timeout(child, moments.uniform(0.0, 0.03))
        assert {p.read_text() for p in work.project.glob("file*.txt")} <= {"o" * 100_000, "n" * 100_000}
        for name in names[:10]:
            (work.project / name).write_text("n" * 100_000)
    work.rewind("p0")
    assert work.state() == {name: (b"o" * 100_000, 0o644) for name in names}


def with_timeout(child: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait(5)
    assert child.stdout is not None
    child.stdout.close()


def counter() -> Callable[[], str]:
    numbers = iter(range(1000))
    return lambda: f"new-{next(numbers)}"


def test_a_conversation_goes_on_from_before_a_prompt(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    stamp = Stamp("s", "1", "test", "")
    recorder = Recorder(Transcript(path), stamp, clock=lambda: 0.0, new_id=counter(), warn=print)
    recorder.prompt("p0", "first")
    recorder.reply({"role": "assistant"}, [("a0", {"type": "text", "text": "one"})])
    recorder.prompt("p1", "second")
    recorder.reply({"role": "assistant"}, [("a1", {"type": "text", "text": "two"})])
    before = Path(path).read_bytes()
    assert rewind_conversation(path, "p1", clock=lambda: 0.0, new_id=counter(), dry_run=True) == 2
    assert Path(path).read_bytes() == before
    assert rewind_conversation(path, "p1", clock=lambda: 0.0, new_id=counter()) == 2
    past = load(path)
    assert past is not None
    assert [m.text for m in past.messages] == ["first", "one"]
    assert Path(path).read_bytes().startswith(before)
    with pytest.raises(UsageError, match="Nothing would be left"):
        rewind_conversation(path, "p0", clock=lambda: 0.0, new_id=counter())
    assert (is_prompt(path, "p0"), is_prompt(path, "a0"), is_prompt(path, "x")) == (True, False, False)
