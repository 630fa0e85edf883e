from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge_run import Run, environment
from review_world import World, git, look, new_repository, put

OLD: World = {
    b"a.txt": ("file", b"".join(b"line %d\n" % n for n in range(1, 31)), 0o644),
    b"\xff\n": ("file", b"1\n", 0o644),
}
NEW: World = {
    b"a.txt": ("file", OLD[b"a.txt"][1].replace(b"line 3\n", b"three\n").replace(b"line 25\n", b""), 0o644),
    b"\xff\n": ("file", b"\xfe\n", 0o755),
    b"d/new.txt": ("file", b"new\n", 0o644),
}

PROGRAM = (sys.executable, "-P", "-m", "forge.hosts.diffy")


def diffy(*args: str, cwd: str, home: Path, stdin: bytes = b"", **more: str) -> Run:
    done = subprocess.run(
        [*PROGRAM, *args],
        cwd=cwd,
        env=environment(home, **more),
        input=stdin,
        capture_output=True,
        timeout=30,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def root(tmp_path: Path) -> str:
    where = str(tmp_path / "repo")
    new_repository(where, OLD)
    put(where, NEW)
    return where


def listed(root: str, home: Path, *args: str) -> dict[str, Any]:
    run = diffy("--base", "HEAD", "--json", *args, cwd=root, home=home)
    assert (run.code, run.err) == (0, "")
    value: dict[str, Any] = json.loads(run.out)
    return value


def decisions(root: str, listing: dict[str, Any], verdicts: dict[str, str], **more: Any) -> str:
    """A file of decisions about hunks named by path and position."""
    rows = []
    for file in listing["files"]:
        for at, hunk in enumerate(file["hunks"]):
            if verdict := verdicts.get(f"{file['path']}:{at}"):
                rows.append({"hunk": hunk["id"], "verdict": verdict, "comment": "because"})
    value = {"version": 1, "snapshot": listing["snapshot"], "default": "accept", "decisions": rows, **more}
    path = os.path.join(os.path.dirname(root), "decisions.json")
    Path(path).write_text(json.dumps(value))
    return path


@pytest.mark.requirement("S3-16")
def test_a_review_from_listing_to_restore(root: str, home: Path) -> None:
    listing = listed(os.path.join(root, "d"), home)
    shape = [(f["path"], f["status"], [h["kind"] for h in f["hunks"]]) for f in listing["files"]]
    assert shape == [
        ("a.txt", "M", ["text", "text"]),
        ("d/new.txt", "A", ["text"]),
        (os.fsdecode(b"\xff\n"), "M", ["mode", "text"]),
    ]
    chosen = {"a.txt:0": "reject", "d/new.txt:0": "reject", os.fsdecode(b"\xff\n") + ":1": "reject"}
    given = ("--base", "HEAD", "--decisions", decisions(root, listing, chosen))
    applied = diffy(*given, "--apply", cwd=os.path.join(root, "d"), home=home)
    assert applied.code == 2
    assert applied.err.startswith("[diffy review result]\nrejected 3 of 5 hunks.\n")
    assert applied.err.endswith("\n\nplease fix the rejected hunks and try again.\n")
    assert look(root) == {
        b"a.txt": ("file", OLD[b"a.txt"][1].replace(b"line 25\n", b""), 0o644),
        b"\xff\n": ("file", b"1\n", 0o755),
    }
    assert b".diffy" not in git(root, "status", "--porcelain", "-uall")
    stale = diffy(*given, "--apply", cwd=root, home=home)
    assert (stale.code, stale.err.split("\n")[0].endswith("has changed since it was listed")) == (3, True)


@pytest.mark.requirement("S3-21", "S3-19")
def test_a_dry_run_changes_nothing_and_a_restore_undoes_the_rest(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {}, default="reject")
    dry = diffy("--base", "HEAD", "--decisions", path, cwd=root, home=home)
    assert (dry.code, look(root)) == (2, NEW)
    assert "nothing was reverted on disk" in dry.err
    diffy("--base", "HEAD", "--decisions", path, "--apply", cwd=root, home=home)
    assert look(root) == OLD
    assert diffy("--restore", "--list", cwd=root, home=home).out.startswith("1  ")
    assert (diffy("--restore", cwd=root, home=home).code, look(root)) == (0, NEW)


@pytest.mark.requirement("S3-16", "S3-04")
def test_all_accepted_ends_with_zero(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {})
    run = diffy("--base", "HEAD", "--decisions", path, "--apply", "--hook-mode", cwd=root, home=home)
    assert (run, look(root)) == (Run(0, "", ""), NEW)


@pytest.mark.requirement("S3-02", "S3-05")
def test_hook_mode_says_the_same_in_the_form_the_agent_wants(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {"a.txt:0": "reject"})
    given = ("--base", "HEAD", "--decisions", path, "--hook-mode")
    by_code = diffy(*given, cwd=root, home=home)
    by_json = diffy(*given, "--hook-output", "json", cwd=root, home=home)
    assert (by_code.code, by_code.out, by_json.code, by_json.err) == (2, "", 0, "")
    assert json.loads(by_json.out) == {"decision": "block", "reason": by_code.err}


def test_notes_on_accepted_hunks_reach_the_model_without_blame(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {"a.txt:0": "accept"})
    run = diffy("--base", "HEAD", "--decisions", path, "--hook-mode", cwd=root, home=home)
    told = json.loads(run.out)["hookSpecificOutput"]
    assert (run.code, told["hookEventName"]) == (0, "Stop")
    assert "accepted with comment\n  comment: because" in told["additionalContext"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--nonsense",), 1, "diffy: unknown option --nonsense\n"),
        (("--base",), 1, "diffy: --base needs a value\n"),
        (("--base", "nonsense", "--json"), 1, "diffy: 'nonsense' is neither a commit nor a known state\n"),
        (("--decisions", "/nonexistent"), 1, "diffy: /nonexistent: cannot be read: No such file"),
        (("--decisions", "-"), 1, "diffy: the decisions cannot be read"),
        (("--json", "--", ".."), 1, "diffy: .. is outside the work tree"),
        (("--restore",), 1, "diffy: there is nothing to restore\n"),
        (("--staged", "--head", "--json"), 1, "diffy: --staged and another base exclude each other\n"),
    ],
)
def test_mistakes_end_with_one_and_a_reason(
    args: tuple[str, ...], code: int, message: str, root: str, home: Path
) -> None:
    run = diffy(*args, cwd=root, home=home)
    assert (run.code, run.out) == (code, "")
    assert run.err.startswith(message)


@pytest.mark.parametrize("change", [{"snapshot": "x"}, {"decisions": [{"hunk": "x", "verdict": "reject"}]}])
def test_stale_and_unknown_ids_are_refused_in_one_line(change: dict[str, Any], root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {}, **change)
    run = diffy("--base", "HEAD", "--decisions", path, "--apply", "--hook-mode", cwd=root, home=home)
    assert (run.code, run.out, run.err.count("\n"), look(root)) == (3, "", 1, NEW)


@pytest.mark.requirement("S3-11")
def test_outside_of_git_a_hook_is_silent_and_a_user_is_told(tmp_path: Path, home: Path) -> None:
    hook = diffy("--hook-mode", "--apply", cwd=str(tmp_path), home=home)
    user = diffy("--json", cwd=str(tmp_path), home=home)
    assert (hook, user.code) == (Run(0, "", ""), 1)
    assert "not in a git repository" in user.err


@pytest.mark.requirement("S3-15")
def test_the_size_of_the_feedback_can_be_set(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {}, default="reject")
    given = ("--base", "HEAD", "--decisions", path)
    run = diffy(*given, cwd=root, home=home, DIFFY_FEEDBACK_MAX_SIZE="300")
    assert len(run.err.encode()) <= 300
    assert "(truncated)" in run.err


def test_other_bases_and_paths_can_be_reviewed(root: str, home: Path) -> None:
    git(root, "add", "a.txt")
    staged = json.loads(diffy("--staged", "--json", cwd=root, home=home).out)
    everything = json.loads(diffy("--base", "empty", "--json", "--", "a.txt", cwd=root, home=home).out)
    assert [f["path"] for f in staged["files"]] == ["a.txt"]
    assert [(f["path"], f["status"]) for f in everything["files"]] == [("a.txt", "A")]


def test_rules_decide_only_when_asked_and_say_so(root: str, home: Path) -> None:
    put(root, {**NEW, b"uv.lock": ("file", b"x\n", 0o644)})
    listing = listed(root, home, "--", "uv.lock")
    path = decisions(root, listing, {}, default="reject")
    given = ("--base", "HEAD", "--decisions", path, "--", "uv.lock")
    assert diffy(*given, cwd=root, home=home).code == 2
    assert diffy("--auto-accept", "lock", *given, cwd=root, home=home).code == 0
    shown = diffy("--auto-accept", "lock", "--export", "md", *given, cwd=root, home=home)
    assert "accepted by rule: lock file" in shown.out


def test_a_reader_that_leaves_early_is_no_crash(root: str, home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.Popen(
        [*PROGRAM, "--base", "empty", "--json"],
        cwd=root,
        env=environment(home),
        stdout=writing,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    os.close(writing)
    _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (1, b"")


def test_being_asked_to_end_leaves_the_files_alone(root: str, home: Path) -> None:
    path = decisions(root, listed(root, home), {}, default="reject")
    # A filter that waits holds the review in the middle of its work.
    fifo = os.path.join(os.path.dirname(root), "fifo")
    os.mkfifo(fifo)
    git(root, "config", "filter.slow.smudge", f"sh -c 'echo started >{fifo}; exec sleep 60'")
    git(root, "config", "filter.slow.clean", "cat")
    Path(root, ".git", "info", "attributes").write_text("* filter=slow\n")
    child = subprocess.Popen(
        [*PROGRAM, "--base", "HEAD", "--decisions", path, "--apply"],
        cwd=root,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert Path(fifo).read_text() == "started\n"
    child.send_signal(signal.SIGTERM)
    assert (child.wait(timeout=20), look(root)) == (143, NEW)
