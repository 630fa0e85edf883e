from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.cli.process import forge, terminal

CALLS = [
    ("Bash", "python3 -m unittest", False, False),
    ("Agent", "Explore: Find who counts the pages", True, False),
    ("Read", "pages.py", True, False),
    ("Edit", "pages.py", True, False),
    ("Bash", "python3 proof.py", True, False),
    ("Bash", "python3 -m unittest", True, False),
    ("Bash", "git push --force origin main", False, True),
    ("Read", "its output", True, False),
    ("Read", "pages.py", True, False),
    ("Read", "README.md", True, False),
    ("Edit", "pages.py", True, False),
    ("Edit", "README.md", True, False),
    ("Bash", "python3 -m unittest", True, False),
    ("Bash", "python3 proof.py", True, False),
]
AGENT_CALLS = [
    ("Grep", "page_count", True, False),
    ("Read", "catalogue.py", True, False),
    ("Read", "pages.py", True, False),
]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where temporary files go, to see whether anything is left of them."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    return directory


def test_demo_repairs_a_real_bug_in_a_real_repository(tmp_path: Path, home: Path) -> None:
    done = forge("demo", "--json", "--dir", "kept", cwd=tmp_path)
    told = json.loads(done.out)
    repository = tmp_path / "kept" / "bookshop"
    diff = subprocess.run(
        ["git", "diff", "-U0"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    tests = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=repository, capture_output=True, check=False
    )
    assert (done.code, done.err, told["ok"], told["warnings"]) == (0, "", True, [])
    assert [(c["tool"], c["subject"], c["ok"], c["refused"]) for c in told["calls"]] == CALLS
    assert "-    return items // per_page" in diff
    assert tests.returncode == 0
    assert len(Path(told["transcript"]).read_bytes().splitlines()) > len(CALLS)
    assert list(home.iterdir()) == []


def test_demo_has_a_sub_agent_a_background_task_and_a_rewind_that_really_happened(tmp_path: Path) -> None:
    told = json.loads(forge("demo", "--json", "--dir", "kept", cwd=tmp_path).out)
    repository, transcript = Path(told["repository"]), Path(told["transcript"])
    (agent,), (job,) = told["agents"], told["jobs"]
    calls = sorted((c["tool"], c["subject"], c["ok"], c["refused"]) for c in agent["calls"])
    own = [json.loads(line) for line in Path(agent["transcript"]).read_text().splitlines()]
    main = transcript.read_text()
    kept = (repository.parent / "home" / ".claude" / "file-history" / told["session_id"]).glob("*@v1")
    first = subprocess.run(["git", "show", "HEAD:pages.py"], cwd=repository, capture_output=True, check=True)
    assert (calls, agent["type"], agent["status"]) == (AGENT_CALLS, "Explore", "completed")
    assert agent["usage"]["input"] > 0 and {r.get("agentId") for r in own if "uuid" in r} == {agent["id"]}
    assert Path(agent["transcript"]).parents[1] == transcript.with_suffix("")
    assert (job["command"], job["status"]) == ("python3 proof.py", "failed")
    assert f"<task-id>{job['id']}</task-id>" in main and "page 2 is empty" in main
    assert told["rewound"] == [str(repository / "pages.py")]
    assert first.stdout in [copy.read_bytes() for copy in kept]


def test_demo_tells_the_story_in_plain_text_and_leaves_nothing_behind(tmp_path: Path, scratch: Path) -> None:
    done = forge("demo", cwd=tmp_path, env={"TMPDIR": str(scratch), "ANTHROPIC_API_KEY": "sk-ant-secret"})
    wanted = [
        "1/9 First the model asks for the tests.",
        "AssertionError: 8 != 10",
        "FAILED (failures=1)",
        "● Agent Explore: Find who counts the pages",
        "│ ● Grep page_count: 3 lines",
        "│ ◆ page_count in pages.py",
        "│ its own conversation: 3 tool calls, about ",
        "│ +    return items // per_page + 1",
        "│ goes on in the background",
        "│ OK",
        "✗ Bash git push --force origin main",
        "│ REFUSED by the permission rules. It did not run.",
        "│ 6 of 24 catalogues are wrong, the first one with 4 books: page 2 is empty",
        "« Rewind to before the first request",
        "│ restored pages.py (+1 -1)",
        "› I took the code back.",
        "│ +    full, rest = divmod(items, per_page)",
        "8/9 And the proof",
        "│ 24 catalogues printed",
        "9/9 At the end of a turn you review",
        "» Review diffy",
        "│ - README.md (lines 1-7): rejected",
        "│ comment: Nobody asked for advertising.",
        "◆ Understood: the README is as it was",
        "✓ the forced push was refused and never ran",
        "What was scripted",
        "export ANTHROPIC_API_KEY=...",
        "--model ollama/",
    ]
    positions = [done.out.find(text) for text in wanted]
    assert (done.code, done.err) == (0, "")
    assert positions == sorted(positions) and -1 not in positions, done.out
    assert '» Background command "Proof print" failed with exit code 1' in done.out
    assert "\x1b" not in done.out and "sk-ant-secret" not in done.out
    assert list(scratch.iterdir()) == []


def test_demo_uses_colours_on_a_terminal(tmp_path: Path) -> None:
    with terminal("demo", "--fast", cwd=tmp_path) as shown:
        assert shown.finish() == 0
    assert "\x1b[32m+    full, rest = divmod(items, per_page)\x1b[0m" in shown.shown
    assert "\x1b[1;31mREFUSED by the permission rules. It did not run.\x1b[0m" in shown.shown


def test_demo_fits_on_a_narrow_terminal_without_colours(tmp_path: Path) -> None:
    with terminal("demo", "--fast", cwd=tmp_path, columns=40, env={"NO_COLOR": "1"}) as shown:
        assert shown.finish() == 0
    told = shown.shown.partition("Now with a model of your own")[0]
    wide = [line for line in told.split("\n") if len(line) > 40 and "/bookshop" not in line]
    assert wide == []
    assert "\x1b" not in shown.shown


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_demo_cleans_up(tmp_path: Path, scratch: Path, number: signal.Signals, code: int) -> None:
    with terminal("demo", cwd=tmp_path, env={"TMPDIR": str(scratch)}) as shown:
        shown.read_until("1/9")
        shown.process.send_signal(number)
        assert shown.finish() == code
    assert "Stopped. The scratch directory was removed." in shown.shown
    assert "Traceback" not in shown.shown
    assert list(scratch.iterdir()) == []


def test_demo_stopped_beside_a_background_task_leaves_no_process(tmp_path: Path, scratch: Path) -> None:
    with terminal("demo", "--fast", cwd=tmp_path, env={"TMPDIR": str(scratch)}) as shown:
        shown.read_until("goes on in the background")
        shown.process.send_signal(signal.SIGINT)
        assert shown.finish() == 130
    places = [place.readlink() for place in Path("/proc").glob("[0-9]*/cwd") if os.access(place, os.R_OK)]
    assert [place for place in places if place.is_relative_to(scratch)] == []
    assert "Traceback" not in shown.shown and list(scratch.iterdir()) == []


def test_demo_says_so_when_the_story_did_not_come_true(tmp_path: Path, scratch: Path) -> None:
    git = shutil.which("git")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\n[ "$1" = diff ] || exec {git} "$@"\n')
    (programs / "git").chmod(0o755)
    path = f"{programs}:/usr/bin:/bin"
    done = forge("demo", cwd=tmp_path, env={"PATH": path, "TMPDIR": str(scratch)})
    assert done.code == 1
    assert re.search(
        r"The story did not come true\.\n(?s:.*)✗ git sees .*\n +git sees changes in: nothing", done.out
    )
    assert list(scratch.iterdir()) == []


def test_demo_needs_git_and_says_so(tmp_path: Path, scratch: Path) -> None:
    done = forge("demo", cwd=tmp_path, env={"PATH": str(tmp_path), "TMPDIR": str(scratch)})
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("The tour works on a real git repository, but git was not found.\nInstall git")
    assert list(scratch.iterdir()) == []


def test_demo_reports_what_git_complains_about(tmp_path: Path, scratch: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\necho no repositories today >&2; exit 3\n")
    (programs / "git").chmod(0o755)
    done = forge("demo", cwd=tmp_path, env={"PATH": f"{programs}:/usr/bin:/bin", "TMPDIR": str(scratch)})
    assert (done.code, done.out) == (1, "")
    assert "git -c init.defaultBranch=main init" in done.err and "no repositories today" in done.err
    assert list(scratch.iterdir()) == []


def test_demo_never_writes_into_a_directory_with_files(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    done = forge("demo", "--dir", ".", cwd=tmp_path)
    assert (done.code, done.err) == (
        1,
        f"{tmp_path} is not empty.\nName a directory that is empty or does not exist yet.\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
