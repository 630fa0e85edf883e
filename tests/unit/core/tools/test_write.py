from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools import read
from forge.core.tools.store import write_atomically
from forge.core.tools.write import ACTION
from unit.core.tools.context import RecordingContext, call, failure

CURRENT = "(file state is current in your context — no need to Read it back)"
STALE = (
    "File has been modified since read, either by the user or by a linter. Read it again before attempting "
    "to write it."
)


def reading(ctx: RecordingContext, path: Path, **given: Any) -> None:
    call(read.ACTION, ctx, file_path=str(path), **given)


def test_a_new_file_is_created_with_its_directories(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "f.txt"
    output = call(ACTION, RecordingContext(tmp_path), file_path=str(path), content="hi\n")
    assert path.read_text() == "hi\n"
    assert output.content == f"File created successfully at: {path} {CURRENT}"
    assert output.data == {
        "type": "create",
        "filePath": str(path),
        "content": "hi\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }


def test_a_file_that_was_read_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("hi\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    output = call(ACTION, ctx, file_path="f.txt", content="again\nx\n")
    assert path.read_text() == "again\nx\n"
    assert output.content == f"The file f.txt has been updated successfully. {CURRENT}"
    assert output.data == {
        "type": "update",
        "filePath": "f.txt",
        "content": "again\nx\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-hi", "+again", "+x"]}
        ],
        "originalFile": "hi\n",
        "userModified": False,
    }


def test_a_file_written_by_the_model_may_be_written_again(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    for content in ("one", "two", "three"):
        call(ACTION, ctx, file_path="f.txt", content=content)
    assert (tmp_path / "f.txt").read_text() == "three"
    assert [p.name for p in tmp_path.iterdir()] == ["f.txt"]


@pytest.mark.parametrize("content", ["x", ""])
def test_an_unread_file_is_not_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "f.txt").write_text(content)
    found = failure(ACTION, RecordingContext(tmp_path), file_path="f.txt", content="new")
    assert found == ("refused", "File has not been read yet. Read it first before writing to it.")


def test_a_part_is_enough_to_replace_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("one\ntwo\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path, limit=1)
    assert str(call(ACTION, ctx, file_path=str(path), content="zz").content).endswith(CURRENT)


@pytest.mark.parametrize("given", [{}, {"limit": 1}])
def test_a_file_changed_by_somebody_else_is_not_replaced(tmp_path: Path, given: dict[str, Any]) -> None:
    path = tmp_path / "f.txt"
    path.write_text("one\ntwo\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path, **given)
    path.write_text("one\ntwo\nthree\n")
    assert failure(ACTION, ctx, file_path=str(path), content="q") == ("refused", STALE)
    assert path.read_text() == "one\ntwo\nthree\n"


def test_a_new_time_alone_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("one\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    os.utime(path, (1, 1))
    call(ACTION, ctx, file_path=str(path), content="q")
    assert path.read_text() == "q"


def test_a_change_between_check_and_run_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("one\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    path.write_text("other content\n")
    unchecked = type(ACTION)(ACTION.args, ACTION.run)
    assert failure(unchecked, ctx, file_path=str(path), content="q") == ("failed", STALE)


def test_a_deleted_file_is_created_anew(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("one\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    path.unlink()
    assert call(ACTION, ctx, file_path=str(path), content="zz").data["type"] == "create"


@pytest.mark.parametrize(
    ("old", "content", "raw", "recorded"),
    [
        (b"\xef\xbb\xbfho\n", "fresh\n", b"\xef\xbb\xbffresh\n", "\ufefffresh\n"),
        ("ho\n".encode("utf-16"), "é\n", "\ufeffé\n".encode("utf-16-le"), "\ufeffé\n"),
        (b"a\r\nb\r\n", "x\ny\n", b"x\ny\n", "x\ny\n"),
        (b"a\n", "x\r\ny\r\n", b"x\r\ny\r\n", "x\r\ny\r\n"),
    ],
)
def test_the_encoding_of_a_file_is_kept_and_line_ends_are_as_given(
    tmp_path: Path, old: bytes, content: str, raw: bytes, recorded: str
) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(old)
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    output = call(ACTION, ctx, file_path=str(path), content=content)
    assert (path.read_bytes(), output.data["content"]) == (raw, recorded)


def test_a_file_in_an_unknown_encoding_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(b"caf\xe9\n")
    ctx = RecordingContext(tmp_path)
    reading(ctx, path)
    kind, text = failure(ACTION, ctx, file_path=str(path), content="x")
    assert (kind, text[:50]) == ("failed", "File is not valid UTF-8: it uses a legacy encoding")
    assert path.read_bytes() == b"caf\xe9\n"


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "f.txt").write_text("x")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    ctx = RecordingContext(tmp_path)
    names = ("sub", "/dev/full", "f.txt/b", "one", "a\0b")
    directory = "is a directory, not a file. To create a file inside it, include the file name in file_path."
    assert [failure(ACTION, ctx, file_path=name, content="x") for name in names] == [
        ("refused", f"sub {directory}"),
        (
            "refused",
            "/dev/full exists but is not a regular file (a device, FIFO or socket). Write only creates or "
            "overwrites regular files.",
        ),
        ("refused", f"Error calling tool (Write): ENOTDIR: not a directory, stat '{tmp_path}/f.txt/b'"),
        (
            "refused",
            f"Error calling tool (Write): ELOOP: too many symbolic links encountered, stat '{tmp_path}/one'",
        ),
        ("refused", "Write file_path cannot contain null bytes (\\0). Remove the null byte and try again."),
    ]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("real")
    (tmp_path / "link").symlink_to("real.txt")
    (tmp_path / "dangling").symlink_to("nowhere.txt")
    ctx = RecordingContext(tmp_path)
    reading(ctx, tmp_path / "link")
    assert [failure(ACTION, ctx, file_path=name, content="x") for name in ("link", "dangling")] == [
        (
            "failed",
            f"Refusing to write {name}: it is a symbolic link. Write to the link's target path instead: "
            f"{tmp_path}/{target}.",
        )
        for name, target in (("link", "real.txt"), ("dangling", "nowhere.txt"))
    ]
    assert (tmp_path / "real.txt").read_text() == "real"


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("x")
    path.chmod(0o750)
    write_atomically(str(path), b"y")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"y", 0o750)


FILL_THE_DISK = """
import os, resource, signal, sys
from forge.core.tools.store import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(sys.argv[1], b"x" * 5000)
except OSError as error:
    sys.exit(error.errno)
"""


def test_a_full_disk_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("old")
    code = subprocess.run([sys.executable, "-c", FILL_THE_DISK, path], check=False).returncode
    assert (code, path.read_text(), [p.name for p in tmp_path.iterdir()]) == (errno.EFBIG, "old", ["f.txt"])


def test_errors_of_the_system_are_named(tmp_path: Path) -> None:
    found = failure(ACTION, RecordingContext(tmp_path), file_path="/proc/nothing/here", content="x")
    assert found == ("failed", "ENOENT: no such file or directory, open '/proc/nothing/here'")
