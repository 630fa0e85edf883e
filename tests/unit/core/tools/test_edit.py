from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools import read
from forge.core.tools.edit import ACTION
from unit.core.tools.context import RecordingContext, call, failure
from unit.core.tools.test_write import CURRENT, STALE

CHANGED = (
    "(note: the file had been modified on disk since you last read it — the edit applied cleanly, but the "
    "file contains other changes not in your context. Read it before edits that depend on surrounding "
    "content.)"
)


def opened(
    tmp_path: Path, raw: bytes | str, name: str = "f.txt", **given: Any
) -> tuple[RecordingContext, Path]:
    """A file the model has read."""
    path = tmp_path / name
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    ctx = RecordingContext(tmp_path)
    call(read.ACTION, ctx, file_path=str(path), **given)
    return ctx, path


def test_a_text_that_occurs_once_is_replaced(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "one\ntwo\n")
    output = call(ACTION, ctx, file_path="f.txt", old_string="two", new_string="2\n3")
    assert path.read_text() == "one\n2\n3\n"
    assert output.content == f"The file f.txt has been updated successfully. {CURRENT}"
    assert output.data == {
        "filePath": "f.txt",
        "oldString": "two",
        "newString": "2\n3",
        "originalFile": "one\ntwo\n",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 2,
                "newStart": 1,
                "newLines": 3,
                "lines": [" one", "-two", "+2", "+3"],
            }
        ],
        "userModified": False,
        "replaceAll": False,
    }


def test_all_occurrences_can_be_replaced(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "x\nx\nx\n")
    output = call(ACTION, ctx, file_path=str(path), old_string="x", new_string="y", replace_all=True)
    assert path.read_text() == "y\ny\ny\n"
    assert output.content == (
        f"The file {path} has been updated. All occurrences were successfully replaced. {CURRENT}"
    )
    assert output.data["replaceAll"] is True


@pytest.mark.parametrize(
    ("raw", "old", "new", "text"),
    [
        ("one\n", "zzz", "1", "String to replace not found in file.\nString: zzz"),
        ("one\n", "one", "one", "No changes to make: old_string and new_string are exactly the same."),
        ("one\n", "one", "one  ", "No changes to make: old_string and new_string are exactly the same."),
        ("one\n", "", "x", "Cannot create new file - file already exists."),
        ("\tfoo\n", "    foo", "x", "String to replace not found in file.\nString:     foo"),
        ("foo   \nbar\n", "foo\nbar", "x", "String to replace not found in file.\nString: foo\nbar"),
        ("a\r\nb\r\n", "a\r\nb", "x", "String to replace not found in file.\nString: a\r\nb"),
        (
            "x\nx\nx\n",
            "x",
            "y",
            "Found 3 matches of the string to replace, but replace_all is false. To replace all "
            "occurrences, set replace_all to true. To replace only one occurrence, please provide more "
            "context to uniquely identify the instance.\nString: x",
        ),
    ],
)
def test_an_edit_that_cannot_be_applied_is_refused(
    tmp_path: Path, raw: str, old: str, new: str, text: str
) -> None:
    ctx, path = opened(tmp_path, raw)
    found = failure(ACTION, ctx, file_path=str(path), old_string=old, new_string=new)
    assert (found, path.read_bytes()) == (("refused", text), raw.encode())


def test_files_that_cannot_be_edited_are_refused(tmp_path: Path) -> None:
    ctx, _ = opened(tmp_path, '{"cells": []}', name="n.ipynb")
    (tmp_path / "unread").write_text("x")
    (tmp_path / "sub").mkdir()
    names = ("unread", "nope", "n.ipynb", "sub", "unread/b", "a\0b")
    assert [failure(ACTION, ctx, file_path=n, old_string="x", new_string="y") for n in names] == [
        ("refused", "File has not been read yet. Read it first before writing to it."),
        ("refused", f"File does not exist. Note: your current working directory is {tmp_path}."),
        ("refused", "File is a Jupyter Notebook. Use the NotebookEdit to edit this file."),
        ("refused", "Error calling tool (Edit): EISDIR: illegal operation on a directory, read"),
        ("refused", f"Error calling tool (Edit): ENOTDIR: not a directory, stat '{tmp_path}/unread/b'"),
        ("refused", "Edit file_path cannot contain null bytes (\\0). Remove the null byte and try again."),
    ]


@pytest.mark.parametrize(
    ("raw", "start"),
    [
        (b"caf\xe9\n", "File is not valid UTF-8: it uses a legacy encoding such as Windows-1252"),
        (b"a\0b\n", "File has NUL bytes in its first 8 KB: binary data"),
        (b"\xfe\xff\0w", "File is UTF-16 big-endian (it starts FE FF), which these tools cannot write."),
    ],
)
def test_encodings_that_cannot_be_kept_are_refused(tmp_path: Path, raw: bytes, start: str) -> None:
    ctx, path = opened(tmp_path, raw)
    kind, text = failure(ACTION, ctx, file_path=str(path), old_string="a", new_string="b")
    assert (kind, text[: len(start)]) == ("refused", start)


@pytest.mark.parametrize(
    ("raw", "old", "new", "result"),
    [
        (b"a\r\nb\r\nc\r\n", "b\n", "B\nBB\n", b"a\r\nB\r\nBB\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "q\r\nr", b"a\r\nq\r\nr\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "B\nC", b"a\r\nB\r\nC\r\n"),
        (b"a\r\nb\nc\nd\n", "b", "B", b"a\nB\nc\nd\n"),
        (b"\xef\xbb\xbfhey\n", "hey", "ho", b"\xef\xbb\xbfho\n"),
        ("w\n".encode("utf-16"), "w", "ŵ", "\ufeffŵ\n".encode("utf-16-le")),
        ("é😀\n".encode(), "😀", "🎉", "é🎉\n".encode()),
        (b"one\nthree", "one\n", "", b"three"),
        (b"a\nb\nc\n", "b", "", b"a\nc\n"),
        (b"a\nb", "b", "", b"a\n"),
        (b"foo a\nbar\n", " a", "", b"foo\nbar\n"),
        (b"  line\nnext\n", "line", "", b"  \nnext\n"),
    ],
)
def test_encoding_and_line_ends_survive(
    tmp_path: Path, raw: bytes, old: str, new: str, result: bytes
) -> None:
    ctx, path = opened(tmp_path, raw)
    call(ACTION, ctx, file_path=str(path), old_string=old, new_string=new)
    assert path.read_bytes() == result


@pytest.mark.parametrize(
    ("raw", "old", "new", "result", "recorded"),
    [
        ("say “hi”\n", 'say "hi"', 'say "yo"', "say “yo”\n", ("say “hi”", 'say "yo"')),
        ("it’s\n", "it's", "isn't", "isn’t\n", ("it’s", "isn't")),
        ("it's\n", "it’s", "it is", "it is\n", ("it's", "it is")),
        ("‘a’ “b”\n", "'a' \"b\"", "say 'c' (\"d\") don't", "say ‘c’ (“d”) don’t\n", None),
    ],
)
def test_typographic_quotes_match_straight_ones_and_are_kept(
    tmp_path: Path, raw: str, old: str, new: str, result: str, recorded: tuple[str, str] | None
) -> None:
    ctx, path = opened(tmp_path, raw)
    data = call(ACTION, ctx, file_path=str(path), old_string=old, new_string=new).data
    assert path.read_text() == result
    assert recorded is None or (data["oldString"], data["newString"]) == recorded


@pytest.mark.parametrize(
    ("name", "new", "result"),
    [
        ("f.py", "a  \nx\t\n \ny  ", "a\nx\n\ny\n"),
        ("f.md", "a  \nx", "a  \nx\n"),
        ("f.MDX", "a  ", "a  \n"),
    ],
)
def test_new_lines_lose_trailing_blanks_except_in_markdown(
    tmp_path: Path, name: str, new: str, result: str
) -> None:
    ctx, path = opened(tmp_path, "old\n", name=name)
    call(ACTION, ctx, file_path=str(path), old_string="old", new_string=new)
    assert path.read_text() == result


def test_a_blank_before_other_text_is_kept(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "foo(a)\n", name="f.py")
    call(ACTION, ctx, file_path=str(path), old_string="foo(a", new_string="foo(b, ")
    assert path.read_text() == "foo(b, )\n"


def test_every_occurrence_is_removed_and_only_whole_lines_with_their_ends(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "x\na\nb a\na c\na\n")
    call(ACTION, ctx, file_path=str(path), old_string="a", new_string="", replace_all=True)
    assert path.read_text() == "x\nb \n c\n"


@pytest.mark.parametrize("name", ["new.txt", "deep/er/new.txt"])
def test_an_empty_old_text_creates_a_file(tmp_path: Path, name: str) -> None:
    ctx = RecordingContext(tmp_path)
    output = call(ACTION, ctx, file_path=name, old_string="", new_string="created\n")
    assert (tmp_path / name).read_text() == "created\n"
    assert output.content == f"The file {name} has been updated successfully. {CURRENT}"
    assert output.data["structuredPatch"] == [
        {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+created"]}
    ]
    call(ACTION, ctx, file_path=name, old_string="created", new_string="changed")


def test_an_empty_file_is_filled(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "")
    call(ACTION, ctx, file_path=str(path), old_string="", new_string="filled")
    assert path.read_text() == "filled"


def test_after_a_partial_read_the_model_is_not_told_it_knows_the_file(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "one\ntwo\nthree\n", limit=1)
    for old in ("two", "three"):
        output = call(ACTION, ctx, file_path=str(path), old_string=old, new_string=old.upper())
        assert output.content == f"The file {path} has been updated successfully."
        assert output.data["contentNotInModelContext"] is True


def test_an_edit_of_a_changed_file_is_applied_if_it_still_fits(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "one\ntwo\nthree\n")
    path.write_text("zero\none\ntwo\nthree\n")
    output = call(ACTION, ctx, file_path=str(path), old_string="two", new_string="2")
    assert output.content == f"The file {path} has been updated successfully. {CHANGED}"
    assert (output.data["staleRecovered"], output.data["contentNotInModelContext"]) == (True, True)
    again = call(ACTION, ctx, file_path=str(path), old_string="three", new_string="3")
    assert again.content == f"The file {path} has been updated successfully."
    assert path.read_text() == "zero\none\n2\n3\n"


@pytest.mark.parametrize("changed", ["nothing left\n", "two\ntwo\n"])
def test_an_edit_that_no_longer_fits_a_changed_file_asks_to_read_again(tmp_path: Path, changed: str) -> None:
    ctx, path = opened(tmp_path, "one\ntwo\n")
    path.write_text(changed)
    found = failure(ACTION, ctx, file_path=str(path), old_string="two", new_string="2")
    assert found == ("refused", STALE)


def test_a_new_time_alone_is_no_change_of_a_whole_file(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "one\n")
    os.utime(path, (1, 1))
    assert CURRENT in str(call(ACTION, ctx, file_path=str(path), old_string="one", new_string="1").content)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "one\n")
    link = tmp_path / "link"
    link.symlink_to("f.txt")
    call(read.ACTION, ctx, file_path=str(link))
    kind, text = failure(ACTION, ctx, file_path=str(link), old_string="one", new_string="1")
    assert (kind, text) == (
        "failed",
        f"Refusing to write {link}: it is a symbolic link. Write to the link's target path instead: {path}.",
    )


@pytest.mark.parametrize(
    ("raw", "old", "new", "result", "recorded"),
    [
        ("caf\u00e9\n", "caf\\u00e9", "th\\u00e9", "th\u00e9\n", ("caf\u00e9", "th\u00e9")),
        ("caf\\u00e9\n", "caf\u00e9", "th\u00e9", "th\\u00e9\n", ("caf\\u00e9", "th\u00e9")),
        ("\U0001f389\n", "\\ud83c\\udf89", "x", "x\n", ("\U0001f389", "x")),
        ("a \\u00e9\n", "a \\u00e9", "\\u00e9", "\\u00e9\n", ("a \\u00e9", "\\u00e9")),
    ],
)
def test_characters_and_their_escapes_stand_for_each_other(
    tmp_path: Path, raw: str, old: str, new: str, result: str, recorded: tuple[str, str]
) -> None:
    ctx, path = opened(tmp_path, raw)
    data = call(ACTION, ctx, file_path=str(path), old_string=old, new_string=new).data
    assert path.read_text() == result
    assert (data["oldString"], data["newString"]) == recorded


@pytest.mark.parametrize("old", ["\u00e9", "\\u00e9", "\ufeffplain"])
def test_what_was_tried_in_vain_is_told(tmp_path: Path, old: str) -> None:
    ctx, path = opened(tmp_path, "\ufeffplain\n")
    kind, text = failure(ACTION, ctx, file_path=str(path), old_string=old, new_string="x")
    assert (kind, "(note: Edit also tried swapping" in text) == ("refused", True)


def test_tabs_at_the_beginning_of_lines_are_shown_as_blanks(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path, "\ta\n\t\tb\tc\n")
    data = call(ACTION, ctx, file_path=str(path), old_string="a", new_string="A").data
    assert data["structuredPatch"][0]["lines"] == ["-  a", "+  A", "     b\tc"]
