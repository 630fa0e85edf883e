from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.core.tool import ToolError
from forge.core.tools import walk
from forge.core.tools.globs import Globs
from forge.core.tools.search import Query, search
from unit.core.tools.context import RecordingContext

FILES = {
    "a.py": "import os\ndef foo():\n    return 1\n\nfoo()\n",
    "b.py": "x=1\nfoo = 2\ny=3\nz=4\nw=5\nfoo()\n",
    "sub/c.js": "function foo(){}\n",
    "sub/deep/d.ts": "Foo bar foo\n",
    ".hidden/h.py": "foo\n",
    ".git/config": "foo\n",
    ".gitignore": "ign/\n*.log\n!keep.log\n/only-here.txt\n# note\n\n",
    "ign/x.py": "foo\n",
    "t.log": "foo\n",
    "keep.log": "foo\n",
    "only-here.txt": "foo\n",
    "sub/only-here.txt": "foo\n",
    "sub/.gitignore": "secret*\n",
    "sub/secret.txt": "foo\n",
    "bin.dat": "foo\0bar\n",
    "long.txt": "foo" + "x" * 1000 + "\n",
    "nonl.txt": "last foo",
    "empty.txt": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


@pytest.mark.parametrize("mode", ["files_with_matches", "content", "count"])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"ignore_case": True},
        {"globs": ("*.py",)},
        {"globs": ("!*.py",)},
        {"globs": ("sub/**",)},
        {"globs": ("**/d.ts", "*.{js,jsx}")},
        {"globs": ("[!a].py",)},
        {"type": "py"},
        {"target": "sub"},
        {"target": "ign"},
        {"target": "b.py"},
        {"target": "b.py", "context": ("-C", "1")},
        {"globs": ("*.py",), "context": ("-A", "1", "-B", "0")},
        {"only_matching": True},
        {"line_numbers": False, "context": ("-B", "1")},
        {"pattern": "foo.*return", "multiline": True},
        {"pattern": "zzz"},
    ],
)
def test_the_stand_in_finds_what_ripgrep_finds(tree: Path, mode: str, given: dict[str, Any]) -> None:
    query = Query(**{"mode": mode, "root": str(tree), "pattern": "foo", **given})
    expected: list[bytes] = []
    asyncio.run(search(query, RecordingContext(tree), expected.append))
    found: list[bytes] = []
    walk.search(query, found.append)
    cleaned = [record.removeprefix(b"./") for record in expected]
    assert (found if mode == "content" else sorted(found)) == (
        cleaned if mode == "content" else sorted(cleaned)
    )


@pytest.mark.parametrize("glob", ["", "*.py", "**/*.txt", "sub/*", "{a,b}.py", "!*.txt", "deep/*", "/a.py"])
def test_the_stand_in_lists_the_same_files(tree: Path, glob: str) -> None:
    query = Query("files", str(tree), globs=(glob,))
    expected: list[bytes] = []
    asyncio.run(search(query, RecordingContext(tree), expected.append))
    found: list[bytes] = []
    walk.search(query, found.append)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"pattern": "foo("}, "missing ), unterminated subpattern at position 3"),
        ({"type": "zzz"}, "unrecognized file type: zzz"),
        ({"globs": ("[",)}, "error parsing glob '[': unclosed character class; missing ']'"),
    ],
)
def test_the_stand_in_rejects_what_it_cannot_search_for(tree: Path, given: dict[str, Any], text: str) -> None:
    query = Query(**{"mode": "content", "root": str(tree), "pattern": "foo", **given})
    with pytest.raises(ToolError) as caught:
        walk.search(query, lambda record: None)
    assert caught.value.message == (
        f"Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: {text}"
    )


def test_a_search_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless")
    query = Query("content", str(tmp_path), target="endless", pattern="x", seconds=0.2)
    with pytest.raises(ToolError, match=r"Search stopped after 0\.2 seconds\. Narrow it with a path"):
        asyncio.run(search(query, RecordingContext(tmp_path), lambda record: None))


def test_ignore_files_mean_nothing_outside_of_a_repository(tree: Path) -> None:
    subprocess.run(["rm", "-r", str(tree / ".git")], check=True)
    found: list[bytes] = []
    walk.search(Query("files_with_matches", str(tree), pattern="foo", globs=("*.log",)), found.append)
    assert sorted(found) == [b"keep.log", b"t.log"]


@pytest.mark.parametrize(
    ("globs", "name", "accepted"),
    [
        (["*.py"], b"deep/er/a.py", True),
        (["src/*.py"], b"src/a.py", True),
        (["src/*.py"], b"other/src/a.py", False),
        (["src/**"], b"src/deep/a.py", True),
        (["a?c"], b"abc", True),
        (["a?c"], b"a/c", False),
        (["*.{ts,tsx}"], b"x.tsx", True),
        (["a\\*"], b"a*", True),
        (["a\\*"], b"ab", False),
        (["!a*", "*.py"], b"a.py", False),
        ([], b"anything", True),
    ],
)
def test_globs_match_like_those_of_git(globs: list[str], name: bytes, accepted: bool) -> None:
    assert Globs(globs).accept(name) is accepted
