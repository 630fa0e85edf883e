from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from forge_run import Run, environment, forge

ONE = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"
ALLOWED = ("--permission-mode", "acceptEdits")


class Desk:
    """A project, a home and a scripted model."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        self.home.mkdir()
        self.script = folder / "script.json"
        self.env = environment(self.home, COLUMNS="100")

    def run(self, *args: str, stdin: str | None = None) -> Run:
        return forge(*args, cwd=self.project, env=self.env, stdin=stdin)

    def talk(self, prompt: str, turns: list[list[dict[str, Any]]], *args: str) -> Run:
        self.script.write_text(json.dumps(turns))
        return self.run("-p", prompt, "--model", f"scripted/{self.script}", *ALLOWED, *args)

    def ok(self, *args: str) -> str:
        done = self.run(*args)
        assert (done.code, done.err) == (0, "")
        return done.out

    def transcript(self, session: str = ONE) -> Path:
        (path,) = (self.home / ".claude" / "projects").glob(f"*/{session}.jsonl")
        return path

    def prompts(self) -> list[str]:
        records = [json.loads(line) for line in self.transcript().read_text().splitlines()]
        return [r["uuid"] for r in records if r["type"] == "user" and "permissionMode" in r]


def write(name: str, content: str) -> dict[str, Any]:
    return {"tool": "Write", "input": {"file_path": name, "content": content}}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with one session of two turns, each of which makes a file."""
    desk = Desk(tmp_path)
    first = [[write("{cwd}/a.txt", "one\n")], [{"text": "made a needle"}]]
    assert desk.talk("make a file", first, "--session-id", ONE).code == 0
    second = [*first, [write("{cwd}/b.txt", "two\n")], [{"text": "made another"}]]
    assert desk.talk("make another", second, "--resume", ONE).code == 0
    return desk


def test_sessions_are_listed_searched_and_shown(desk: Desk) -> None:
    listed = desk.ok("sessions")
    assert listed.splitlines()[0:2] == ["make another", f"  {ONE}"]
    assert "2 turns" in listed
    (row,) = json.loads(desk.ok("sessions", "list", "--all", "--json"))
    assert (row["sessionId"], row["turns"], row["cwd"]) == (ONE, 2, str(desk.project))
    assert "assistant: made a needle" in desk.ok("sessions", "search", "a NEEDLE")
    nothing = desk.run("sessions", "search", "nowhere to be found")
    assert (nothing.code, nothing.out) == (1, "Nothing was found for 'nowhere to be found'.\n")
    shown = desk.ok("sessions", "show", ONE[:6])
    assert "› make a file\n" in shown
    assert "◆ made another\n" in shown


def test_a_session_is_renamed_exported_and_deleted(desk: Desk) -> None:
    assert desk.ok("sessions", "rename", ONE, "my work") == f"{ONE} is now called 'my work'.\n"
    assert desk.ok("sessions", "export", "my work").startswith(f"# my work\n\nSession {ONE}\n")
    desk.ok("sessions", "export", "my work", "-o", "talk.json")
    exported = json.loads((desk.project / "talk.json").read_text())
    assert [m["role"] for m in exported["messages"]] == ["user", "assistant"] * 4
    asked = desk.run("sessions", "delete", "my work")
    assert (asked.code, asked.err.splitlines()[0]) == (1, "Nothing was deleted: there is nobody to ask.")
    path = desk.transcript()
    (path.parent / ONE / "tool-results").mkdir(parents=True)
    assert desk.ok("sessions", "delete", "my work", "--yes") == f"Deleted {ONE}\n"
    left = [p for p in (desk.home / ".claude").rglob("*") if ONE in str(p)]
    assert left == []


def test_old_sessions_are_cleaned_up(desk: Desk) -> None:
    os.utime(desk.transcript(), (0, 0))
    settings = desk.home / ".claude" / "settings.json"
    settings.write_text('{"cleanupPeriodDays": 100000}')
    assert desk.ok("sessions", "cleanup", "--yes") == "No session is older than 100000 days.\n"
    planned = json.loads(desk.ok("sessions", "cleanup", "--days", "30", "--dry-run", "--json"))
    assert planned == {"sessions": [ONE], "deleted": False}
    assert desk.transcript().exists()
    assert desk.ok("sessions", "cleanup", "--days", "30", "--yes") == f"Deleted {ONE}\n"


def test_files_and_conversation_go_back_to_before_a_message(desk: Desk) -> None:
    _, second = desk.prompts()
    a, b = desk.project / "a.txt", desk.project / "b.txt"
    planned = json.loads(desk.ok("sessions", "rewind", ONE, "--to", second, "--dry-run", "--json"))
    assert (planned["filesChanged"], planned["deletions"]) == ([str(b)], 1)
    assert b.exists()
    desk.ok("sessions", "rewind", ONE, "--to", second)
    assert (a.read_text(), b.exists()) == ("one\n", False)
    assert "make another" not in desk.ok("sessions", "show", ONE).split("\n", 1)[1]
    answer = desk.talk("and now", [[], [], [{"text": "third"}]], "--resume", ONE)
    assert (answer.code, answer.out) == (0, "third\n")


def test_files_alone_go_back_with_the_flag_of_the_reference(desk: Desk) -> None:
    first, _ = desk.prompts()
    done = desk.run("-p", "--resume", ONE, "--rewind-files", first)
    assert (done.code, done.out) == (0, f"Files rewound to state at message {first}\n")
    assert [p.name for p in desk.project.iterdir()] == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--rewind-files", "x"), "Error: --rewind-files requires --resume"),
        (
            ("--resume", ONE, "--rewind-files", "x"),
            "Error: --rewind-files requires a user message UUID, but x is not a user message in this session",
        ),
        (
            ("go", "--resume", ONE, "--rewind-files", "x"),
            "Error: --rewind-files is a standalone operation and cannot be used with a prompt",
        ),
    ],
    ids=["no session", "no such message", "with a prompt"],
)
def test_a_rewind_that_makes_no_sense_is_refused(desk: Desk, args: tuple[str, ...], message: str) -> None:
    done = desk.run("-p", *args)
    assert (done.code, done.err) == (1, message + "\n")


def test_a_host_can_ask_for_a_rewind(desk: Desk) -> None:
    _, second = desk.prompts()
    requests = [
        {"subtype": "rewind_files", "user_message_id": second, "dry_run": True},
        {"subtype": "rewind_files", "user_message_id": second},
        {"subtype": "rewind_files", "user_message_id": "nope"},
    ]
    lines = [{"type": "control_request", "request_id": str(n), "request": r} for n, r in enumerate(requests)]
    flags = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--resume", ONE)
    model = ("--model", f"scripted/{desk.script}")
    done = desk.run("-p", *flags, *model, stdin="".join(json.dumps(line) + "\n" for line in lines))
    planned, restored, refused = (r["response"] for r in done.of("control_response"))
    changed = {
        "canRewind": True,
        "filesChanged": [str(desk.project / "b.txt")],
        "insertions": 0,
        "deletions": 1,
    }
    assert planned["response"] == changed
    assert restored["response"] == {**changed, "skippedLinks": 0}
    assert refused["error"] == "No file checkpoint found for this message."
    assert not (desk.project / "b.txt").exists()


def test_checkpoints_can_be_switched_off(desk: Desk) -> None:
    settings = desk.home / ".claude" / "settings.json"
    settings.write_text('{"fileCheckpointingEnabled": false}')
    assert (
        desk.talk(
            "more", [[], [], [], [], [write("{cwd}/c.txt", "x")], [{"text": "ok"}]], "--resume", ONE
        ).code
        == 0
    )
    assert desk.transcript().read_text().count('"file-history-snapshot"') == 2


def test_what_a_damaged_transcript_lost_is_said_on_standard_error(desk: Desk) -> None:
    path = desk.transcript()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"garbage\n", *lines[1:]]))
    done = desk.talk("go on", [[], [], [], [], [{"text": "fine"}]], "--resume", ONE)
    assert (done.code, done.out) == (0, "fine\n")
    assert done.err == f"Resuming {ONE}: skipped 1 unreadable line: 2.\n"


def test_a_fork_copies_the_conversation_and_usage_counts_it_once(desk: Desk) -> None:
    done = desk.talk(
        "fork",
        [[], [], [], [], [{"text": "forked"}]],
        "--resume",
        ONE,
        "--fork-session",
        "--session-id",
        FORK,
    )
    assert (done.code, done.out) == (0, "forked\n")
    both = json.loads(desk.ok("usage", "--json"))
    assert {row["sessionId"] for row in both["sessions"]} <= {ONE, FORK}
    (day,) = both["days"]
    assert day["inputTokens"] == both["total"]["inputTokens"]
    assert "Total" in desk.ok("usage", "--days", "1")
    assert desk.ok("usage", "--here").startswith("Day")


def test_a_session_that_does_not_exist_is_named_in_the_error(desk: Desk) -> None:
    done = desk.run("sessions", "show", "zzz")
    assert (done.code, done.err) == (1, "There is no session 'zzz'.\nSee: forge sessions list --all\n")
    wrong = desk.run("sessions", "shwo")
    assert "Did you mean 'show'?" in wrong.err
