from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools.glob import ACTION
from forge.core.tools.search import find_program
from unit.core.tools.context import RecordingContext, call, failure

# Oldest first.
NAMES = ("a.py", "sub/c.js", "b.py", ".hidden/h.py", ".git/config", "ign/x.py", ".gitignore", "sp ace.txt")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for age, name in enumerate(NAMES):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("ign/\n")
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    (tmp_path / "link").symlink_to("sub")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "files"),
    [
        ({"pattern": "*.py"}, ["a.py", "b.py", ".hidden/h.py", "ign/x.py"]),
        ({"pattern": "**/*"}, list(NAMES)),
        ({"pattern": ""}, list(NAMES)),
        ({"pattern": "sub/*"}, ["sub/c.js"]),
        ({"pattern": "./sub/*"}, ["sub/c.js"]),
        ({"pattern": "*", "path": "sub"}, ["sub/c.js"]),
        ({"pattern": "{a,b}.py"}, ["a.py", "b.py"]),
        ({"pattern": "[ab].py"}, ["a.py", "b.py"]),
        ({"pattern": ".git/*"}, [".git/config"]),
        ({"pattern": "!*.py"}, ["sub/c.js", ".git/config", ".gitignore", "sp ace.txt"]),
        ({"pattern": "sp ace*"}, ["sp ace.txt"]),
        ({"pattern": "{root}/sub/*.js"}, ["sub/c.js"]),
        ({"pattern": "{root}/a.py"}, ["a.py"]),
        ({"pattern": "sub"}, []),
        ({"pattern": "link/*"}, []),
        ({"pattern": "*.PY"}, []),
        ({"pattern": "/nowhere/at/all/*.py"}, []),
    ],
)
def test_files_are_listed_oldest_first(tree: Path, given: dict[str, Any], files: list[str]) -> None:
    given = {key: value.replace("{root}", str(tree)) for key, value in given.items()}
    output = call(ACTION, RecordingContext(tree), **given)
    output.data["durationMs"] = 0
    assert output.content == ("\n".join(files) or "No files found")
    assert output.data == {
        "filenames": files,
        "durationMs": 0,
        "numFiles": len(files),
        "truncated": False,
        "totalMatches": len(files),
        "countIsComplete": True,
    }


def test_a_hundred_files_are_listed_at_most(tmp_path: Path) -> None:
    for n in range(130):
        (tmp_path / f"f{n:03}.txt").touch()
    output = call(ACTION, RecordingContext(tmp_path), pattern="*.txt")
    assert str(output.content).splitlines()[100:] == [
        "(Showing 100 of 130 matching files; 30 more are not listed. Narrow the pattern or path to see the "
        "rest.)"
    ]
    facts = {key: output.data[key] for key in ("numFiles", "truncated", "totalMatches")}
    assert facts == {"numFiles": 100, "truncated": True, "totalMatches": 130}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"pattern": "*", "path": "nope"},
            "Directory does not exist: nope. Note: your current working directory is {}.",
        ),
        ({"pattern": "*", "path": "a.py"}, "Path is not a directory: a.py"),
        (
            {"pattern": "["},
            "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n"
            "rg: error parsing glob '[': unclosed character class; missing ']'",
        ),
    ],
)
def test_searches_that_cannot_work_are_explained(tree: Path, given: dict[str, Any], text: str) -> None:
    assert failure(ACTION, RecordingContext(tree), **given) == ("failed", text.replace("{}", str(tree)))


def test_files_the_model_may_not_see_are_left_out(tree: Path) -> None:
    ctx = RecordingContext(tree)
    ctx.hidden = (str(tree / ".hidden"), str(tree / "b.py"))
    assert call(ACTION, ctx, pattern="*.py").content == "a.py\nign/x.py"


def test_ripgrep_is_looked_for_beside_the_interpreter_and_on_the_path(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("")
    program.chmod(0o755)
    assert find_program({}).endswith("/rg")
    assert find_program({"PATH": str(tmp_path)}) in (find_program({}), str(program))
