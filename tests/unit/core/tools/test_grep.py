from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools.grep import ACTION
from unit.core.tools.context import RecordingContext, call, failure

REJECTED = "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository; the number says how new a file is."""
    files = {
        "a.py": (b"import os\ndef foo():\n    return 1\n\nfoo()\n", 1),
        "sub/c.js": (b"function foo(){}\n", 2),
        "b.py": (b"x=1\nfoo = 2\ny=3\nz=4\nw=5\nfoo()\n", 3),
        ".hidden/h.py": (b"foo\n", 4),
        ".git/config": (b"foo\n", 5),
        "ign/x.py": (b"foo\n", 6),
        ".gitignore": (b"ign/\n*.log\n", 7),
        "t.log": (b"foo\n", 8),
        "bin.dat": (b"foo\0bar\n", 9),
        "latin.txt": (b"foo \xe9\n", 10),
        "long.txt": (b"foo" + b"x" * 1000 + b"\n", 11),
        "FOO.txt": (b"FOO\r\n", 12),
        "-dash.txt": (b"foo\n", 13),
    }
    for name, (content, age) in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    return tmp_path


FOUND = ["-dash.txt", "long.txt", "latin.txt", ".hidden/h.py", "b.py", "sub/c.js", "a.py"]


@pytest.mark.parametrize(
    ("given", "files"),
    [
        ({}, FOUND),
        ({"-i": True}, ["-dash.txt", "FOO.txt", *FOUND[1:]]),
        ({"glob": "*.{js,py}"}, [".hidden/h.py", "b.py", "sub/c.js", "a.py"]),
        ({"glob": "*.js,b.py"}, ["b.py", "sub/c.js"]),
        ({"glob": "*.js b.py"}, ["b.py", "sub/c.js"]),
        ({"glob": "!*.py"}, ["-dash.txt", "long.txt", "latin.txt", "sub/c.js"]),
        ({"glob": "sub/**"}, ["sub/c.js"]),
        ({"type": "py"}, [".hidden/h.py", "b.py", "a.py"]),
        ({"path": "sub"}, ["sub/c.js"]),
        ({"path": "sub/.."}, FOUND),
        ({"path": ".git"}, [".git/config"]),
        ({"path": "ign"}, ["ign/x.py"]),
        ({"path": "a.py"}, ["a.py"]),
        ({"pattern": "foo.*\\n.*return", "multiline": True}, ["a.py"]),
        ({"pattern": "-dash"}, []),
        ({"pattern": "foo\\nreturn"}, []),
    ],
)
def test_files_with_matches_are_listed_newest_first(
    tree: Path, given: dict[str, Any], files: list[str]
) -> None:
    output = call(ACTION, RecordingContext(tree), **{"pattern": "foo", **given})
    noun = "1 file" if len(files) == 1 else f"{len(files)} files"
    assert output.content == ("\n".join([f"Found {noun}", *files]) if files else "No files found")
    assert output.data == {
        "mode": "files_with_matches",
        "filenames": files,
        "numFiles": len(files),
        "totalFiles": len(files),
    }


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"path": "a.py"}, ["2:def foo():", "5:foo()"]),
        ({"path": "a.py", "-n": False}, ["def foo():", "foo()"]),
        ({"path": "b.py", "-C": 1}, ["1-x=1", "2:foo = 2", "3-y=3", "--", "5-w=5", "6:foo()"]),
        ({"path": "b.py", "-A": 1}, ["2:foo = 2", "3-y=3", "--", "6:foo()"]),
        ({"path": "b.py", "-B": 1}, ["1-x=1", "2:foo = 2", "--", "5-w=5", "6:foo()"]),
        ({"path": "b.py", "-C": 1, "context": 0}, ["2:foo = 2", "6:foo()"]),
        ({"path": "sub"}, ["sub/c.js:1:function foo(){}"]),
        (
            {"glob": "[ab].py", "-C": 1},
            [
                *("a.py-1-import os", "a.py:2:def foo():", "a.py-3-    return 1", "a.py-4-", "a.py:5:foo()"),
                *("--", "b.py-1-x=1", "b.py:2:foo = 2", "b.py-3-y=3", "--", "b.py-5-w=5", "b.py:6:foo()"),
            ],
        ),
        (
            {"glob": "a.py", "-n": False, "-A": 1},
            ["a.py:def foo():", "a.py-    return 1", "--", "a.py:foo()"],
        ),
        ({"pattern": "fo+", "-o": True, "glob": "a.py"}, ["a.py:2:foo", "a.py:5:foo"]),
        ({"pattern": "foo.*return", "multiline": True}, ["a.py:2:def foo():", "a.py:3:    return 1"]),
        ({"path": "latin.txt"}, ["1:foo \ufffd"]),
        ({"path": "long.txt"}, ["1:[Omitted long matching line]"]),
        ({"path": "FOO.txt", "pattern": "FOO"}, ["1:FOO"]),
        ({"path": "bin.dat"}, ['binary file matches (found "\\0" byte around offset 3)']),
    ],
)
def test_matching_lines_are_shown_with_their_place(
    tree: Path, given: dict[str, Any], lines: list[str]
) -> None:
    output = call(ACTION, RecordingContext(tree), **{"pattern": "foo", "output_mode": "content", **given})
    assert output.content == "\n".join(lines)
    assert output.data == {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": "\n".join(lines),
        "numLines": len(lines),
        "totalLines": len(lines),
    }


@pytest.mark.parametrize(
    ("given", "content", "summary", "matches"),
    [
        ({"path": "a.py"}, "a.py:2", "2 total occurrences across 1 file.", (1, 2)),
        ({"glob": "*.js"}, "sub/c.js:1", "1 total occurrence across 1 file.", (1, 1)),
        ({"glob": "[ab].py"}, "a.py:2\nb.py:2", "4 total occurrences across 2 files.", (2, 4)),
        ({"pattern": "zzz"}, "", "0 total occurrences across 0 files.", (0, 0)),
    ],
)
def test_matches_are_counted_per_file(
    tree: Path, given: dict[str, Any], content: str, summary: str, matches: tuple[int, int]
) -> None:
    output = call(ACTION, RecordingContext(tree), **{"pattern": "foo", "output_mode": "count", **given})
    assert output.content == f"{content or 'No matches found'}\n\nFound {summary}"
    assert output.data == {
        "mode": "count",
        "numFiles": matches[0],
        "filenames": [],
        "content": content,
        "numMatches": matches[1],
    }


FILES, LINES, COUNTS = "files_with_matches", "content", "count"


@pytest.mark.parametrize(
    ("mode", "given", "text", "applied"),
    [
        (FILES, {"head_limit": 2}, "Found 2 files limit: 2\n-dash.txt\nlong.txt", (2, None)),
        (FILES, {"head_limit": 1, "offset": 1}, "Found 1 file limit: 1, offset: 1\nlong.txt", (1, 1)),
        (FILES, {"offset": 6}, "Found 1 file offset: 6\na.py", (None, 6)),
        (
            FILES,
            {"offset": 100},
            "No entries at this offset. [Showing results with pagination = offset: 100]",
            (None, 100),
        ),
        (
            LINES,
            {"head_limit": 1, "glob": "[ab].py"},
            "a.py:2:def foo():\n\n[Showing results with pagination = limit: 1]",
            (1, None),
        ),
        (
            LINES,
            {"head_limit": 1, "offset": 2, "glob": "[ab].py"},
            "b.py:2:foo = 2\n\n[Showing results with pagination = limit: 1, offset: 2]",
            (1, 2),
        ),
        (
            LINES,
            {"offset": 100},
            "No entries at this offset\n\n[Showing results with pagination = offset: 100]",
            (None, 100),
        ),
        (
            COUNTS,
            {"head_limit": 1, "glob": "[ab].py"},
            "a.py:2\n\nFound 4 total occurrences across 2 files. with pagination = limit: 1",
            (1, None),
        ),
        (
            COUNTS,
            {"offset": 100, "glob": "[ab].py"},
            "No entries at this offset\n\nFound 4 total occurrences across 2 files. "
            "with pagination = offset: 100",
            (None, 100),
        ),
    ],
)
def test_long_results_are_paged(
    tree: Path, mode: str, given: dict[str, Any], text: str, applied: tuple[int | None, int | None]
) -> None:
    output = call(ACTION, RecordingContext(tree), pattern="foo", output_mode=mode, **given)
    assert output.content == text
    assert (output.data.get("appliedLimit"), output.data.get("appliedOffset")) == applied


def test_250_lines_are_shown_unless_all_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("foo\n" * 300)
    ctx = RecordingContext(tmp_path)
    shown = [
        call(ACTION, ctx, pattern="foo", output_mode="content", **given).data["numLines"]
        for given in ({}, {"head_limit": 0})
    ]
    assert shown == [250, 300]


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (
            {"path": "nope"},
            "failed",
            "Path does not exist: nope. Note: your current working directory is {}.",
        ),
        (
            {"pattern": "foo("},
            "failed",
            REJECTED + "rg: regex parse error:\n    (?:foo()\n    ^\nerror: unclosed group",
        ),
        ({"type": "zzz"}, "failed", REJECTED + "rg: unrecognized file type: zzz"),
        (
            {"glob": "["},
            "failed",
            REJECTED + "rg: error parsing glob '[': unclosed character class; missing ']'",
        ),
        (
            {"-A": -2, "output_mode": "content"},
            "failed",
            REJECTED
            + "rg: error parsing flag -A: value is not a valid number: invalid digit found in string",
        ),
        (
            {"head_limit": 1.5},
            "refused",
            "head_limit must be a whole number of 0 or more, got 1.5. Pass 0 for unlimited.",
        ),
        ({"offset": -1}, "refused", "offset must be a whole number of 0 or more, got -1."),
    ],
)
def test_searches_that_cannot_work_are_explained(
    tree: Path, given: dict[str, Any], kind: str, text: str
) -> None:
    found = failure(ACTION, RecordingContext(tree), **{"pattern": "foo", **given})
    assert found == (kind, text.replace("{}", str(tree)))


@pytest.mark.parametrize("mode", [FILES, LINES, COUNTS])
def test_files_the_model_may_not_see_are_left_out(tree: Path, mode: str) -> None:
    ctx = RecordingContext(tree)
    ctx.hidden = (str(tree / "b.py"), str(tree / ".hidden"))
    shown = str(call(ACTION, ctx, pattern="foo", output_mode=mode).content)
    assert ("a.py" in shown, "b.py" in shown, ".hidden" in shown) == (True, False, False)
    alone = call(ACTION, ctx, pattern="foo", output_mode=mode, path="b.py").content
    assert str(alone).startswith("No ")


def test_names_that_are_not_utf8_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/n\xff.txt", "wb") as file:
        file.write(b"foo\n")
    ctx = RecordingContext(tmp_path)
    assert call(ACTION, ctx, pattern="foo").content == "Found 1 file\nn\ufffd.txt"
    assert call(ACTION, ctx, pattern="foo", output_mode="content").content == "n\ufffd.txt:1:foo"


def test_a_path_outside_of_the_current_directory_is_shown_whole(tree: Path) -> None:
    ctx = RecordingContext(tree)
    ctx.cwd = str(tree / "sub")
    assert call(ACTION, ctx, pattern="foo", path="../a.py").content == f"Found 1 file\n{tree}/a.py"
    shown = call(ACTION, ctx, pattern="foo", path="..", glob="a.py", output_mode="content").content
    assert shown == f"{tree}/a.py:2:def foo():\n{tree}/a.py:5:foo()"
