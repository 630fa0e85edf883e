from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.tool import FileStamp
from forge.core.tools.read import ACTION
from unit.core.tools.context import RecordingContext, call, failure

REFUSES = (
    "Edit and Write will refuse it: change it with a shell command that keeps its encoding, or ask the user "
    "whether to convert it to UTF-8.]"
)
EMPTY = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"


def shorter(offset: int, lines: int) -> str:
    return (
        f"<system-reminder>Warning: the file exists but is shorter than the provided offset ({offset}). "
        f"The file has {lines} lines.</system-reminder>"
    )


@pytest.mark.parametrize(
    ("raw", "given", "text", "shown"),
    [
        (b"hello\nworld\n", {}, "1\thello\n2\tworld\n3\t", ("hello\nworld\n", 3, 1, 3)),
        (b"x", {}, "1\tx", ("x", 1, 1, 1)),
        (b"", {}, EMPTY, ("", 1, 1, 1)),
        (b"a\r\nb\r\n", {}, "1\ta\n2\tb\n3\t", ("a\nb\n", 3, 1, 3)),
        (
            b"\ta\n\n\nb\x0cc\rz\n",
            {},
            "1\t\ta\n2\t\n3\t\n4\tb\x0cc\rz\n5\t",
            ("\ta\n\n\nb\x0cc\rz\n", 5, 1, 5),
        ),
        ("héllo\nw\n".encode("utf-16"), {}, "1\théllo\n2\tw\n3\t", ("héllo\nw\n", 3, 1, 3)),
        (b"\xef\xbb\xbfhey\n", {}, "1\they\n2\t", ("hey\n", 2, 1, 2)),
        (b"hello\nworld\n", {"offset": 0}, "0\thello\n1\tworld\n2\t", ("hello\nworld\n", 3, 0, 3)),
        (b"hello\nworld\n", {"offset": 2}, "2\tworld\n3\t", ("world\n", 2, 2, 3)),
        (b"hello\nworld\n", {"offset": 3}, "3\t", ("", 1, 3, 3)),
        (b"hello\nworld\n", {"offset": 4}, shorter(4, 3), ("", 0, 4, 3)),
        (b"", {"offset": 2}, shorter(2, 1), ("", 0, 2, 1)),
        (b"hello\nworld\n", {"limit": 1}, "1\thello", ("hello", 1, 1, 3)),
        (b"hello\nworld\n", {"offset": 2, "limit": 1}, "2\tworld", ("world", 1, 2, 3)),
        (b"hello\nworld\n", {"limit": 100}, "1\thello\n2\tworld\n3\t", ("hello\nworld\n", 3, 1, 3)),
        (b"hello\nworld\n", {"pages": "1"}, "1\thello\n2\tworld\n3\t", ("hello\nworld\n", 3, 1, 3)),
        (
            b"caf\xe9\n",
            {},
            "1\tcaf\ufffd\n2\t\n\n[This file is not valid UTF-8: it uses a legacy encoding such as "
            "Windows-1252, Shift-JIS or GBK, or it is binary. Its undecodable bytes show above as U+FFFD. "
            + REFUSES,
            ("caf\ufffd\n", 2, 1, 2),
        ),
        (
            b"ab\0cd\n",
            {},
            "1\tab\0cd\n2\t\n\n[This file has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 "
            "without a byte-order mark, or text with embedded NULs. " + REFUSES,
            ("ab\0cd\n", 2, 1, 2),
        ),
        (
            b"\xfe\xff\0w\0\n",
            {},
            "1\t\ufffd\ufffd\0w\0\n2\t\n\n[This file is UTF-16 big-endian (it starts FE FF), which these "
            "tools cannot write. " + REFUSES,
            ("\ufffd\ufffd\0w\0\n", 2, 1, 2),
        ),
    ],
)
def test_text_is_returned_with_line_numbers(
    tmp_path: Path, raw: bytes, given: dict[str, Any], text: str, shown: tuple[str, int, int, int]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(raw)
    output = call(ACTION, RecordingContext(tmp_path), file_path=str(path), **given)
    names = ("content", "numLines", "startLine", "totalLines")
    record = {"filePath": str(path), **dict(zip(names, shown, strict=True))}
    assert (output.content, output.data, output.is_error) == (text, {"type": "text", "file": record}, None)


@pytest.mark.parametrize(
    ("given", "partial"),
    [
        ({}, False),
        ({"offset": 1}, False),
        ({"offset": 2}, True),
        ({"limit": 10}, False),
        ({"limit": 3}, True),
        ({"limit": 1}, True),
    ],
)
def test_what_the_model_has_seen_is_remembered(tmp_path: Path, given: dict[str, Any], partial: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello\nworld\n")
    ctx = RecordingContext(tmp_path)
    call(ACTION, ctx, file_path="file", **given)
    status = path.stat()
    digest = "" if partial else ctx.seen[str(path)].digest
    assert ctx.seen == {str(path): FileStamp(status.st_mtime_ns, status.st_size, digest, partial)}
    assert bool(digest) is not partial


@pytest.mark.parametrize("name", ["a.txt", "./sub/../a.txt", "  a.txt ", "link", "~/../a.txt"])
def test_paths_may_be_relative_padded_or_links(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("a.txt")
    output = call(ACTION, RecordingContext(tmp_path), file_path=name)
    assert (output.content, output.data["file"]["filePath"]) == ("1\tx", name)


def missing(directory: Path, hint: str = "") -> tuple[str, str]:
    return "failed", f"File does not exist. Note: your current working directory is {directory}.{hint}"


def test_a_missing_file_is_named_with_one_of_another_extension(tmp_path: Path) -> None:
    (tmp_path / "Config.json").write_text("{}")
    (tmp_path / "dangling").symlink_to("nowhere")
    ctx = RecordingContext(tmp_path)
    found = [failure(ACTION, ctx, file_path=n) for n in ("nope", "no/dir/x", "dangling", "Config.yaml")]
    assert found == [missing(tmp_path)] * 3 + [missing(tmp_path, " Did you mean Config.json?")]


def test_what_is_no_readable_file_is_refused_in_words_scripts_know(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    os.mkfifo(tmp_path / "fifo")
    ctx = RecordingContext(tmp_path)
    device = "this path names a device or process file that this tool does not read."
    assert [
        failure(ACTION, ctx, file_path=n) for n in ("sub", "a.txt/b", "one", "fifo", "x" * 300, "a\0b")
    ] == [
        ("failed", f"EISDIR: illegal operation on a directory, read '{tmp_path}/sub'"),
        ("failed", f"ENOTDIR: not a directory, open '{tmp_path}/a.txt/b'"),
        (
            "failed",
            f"Refusing to read {tmp_path}/one: where it leads on disk could not be determined (a link on the "
            "way could not be examined, or the links do not resolve).",
        ),
        ("failed", f"Cannot read 'fifo': {device}"),
        ("failed", f"ENAMETOOLONG: name too long, open '{tmp_path}/{'x' * 300}'"),
        ("refused", "Read file_path cannot contain null bytes (\\0). Remove the null byte and try again."),
    ]


@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/tty", "/dev/../dev/random", "/proc/self/environ", "/proc/1/status"]
)
def test_devices_and_process_files_are_refused(tmp_path: Path, path: str) -> None:
    text = f"Cannot read '{path}': this path names a device or process file that this tool does not read."
    assert failure(ACTION, RecordingContext(tmp_path), file_path=path) == ("refused", text)


def test_the_null_device_and_kernel_facts_can_be_read(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    assert call(ACTION, ctx, file_path="/dev/null").content == EMPTY
    assert str(call(ACTION, ctx, file_path="/proc/version").content).startswith("1\tLinux")


@pytest.mark.parametrize("extension", [".zip", ".EXE", ".so", ".sqlite", ".docx"])
def test_binary_formats_are_refused_by_their_name(tmp_path: Path, extension: str) -> None:
    kind, text = failure(ACTION, RecordingContext(tmp_path), file_path=f"a{extension}")
    start = f"This tool cannot read binary files. The file appears to be a binary {extension.lower()} file. "
    assert (kind, text.startswith(start)) == ("refused", True)


def test_a_name_that_is_not_utf8_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"n\xff.txt")).write_text("x")
    found = call(ACTION, RecordingContext(tmp_path), file_path="n\ufffd.txt")
    assert (found.content, found.data["file"]["filePath"]) == ("1\tx", "n\ufffd.txt")
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    os.mkdir(folder)
    ctx = RecordingContext(folder)
    assert failure(ACTION, ctx, file_path=".")[1] == (
        f"EISDIR: illegal operation on a directory, read '{tmp_path}/caf\ufffd'"
    )
