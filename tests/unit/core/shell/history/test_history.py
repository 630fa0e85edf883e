from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.history.look import Entry, Excerpt, Reader, Statistics
from forge.core.shell.history.record import Begun, Finished, History, default_path
from forge.core.shell.isolation import filter_environment, snapshot
from forge.foundation.errors import ForgeError
from unit.foundation.secret_kinds import KINDS, seeded

DAY = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return default_path(str(tmp_path / "state"))


@pytest.fixture
def history(path: str, clock: Clock) -> Iterator[History]:
    with closing(History(path, clock=clock, secrets=("correct-horse-battery",))) as history:
        yield history


def begun(command: str, **changes: Any) -> Begun:
    return Begun(**{"session_id": "s1", "command": command, "cwd": "/w", "risk_score": 1, **changes})


def rows(path: str, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


@pytest.mark.requirement("S2-32")
def test_the_table_has_the_columns_and_indexes_that_are_documented(history: History, path: str) -> None:
    columns = {row[1] for row in rows(path, "PRAGMA table_info(forgecmd_history)")}
    documented = (
        "id session_id pty_session_id command cwd started_at ended_at duration_ms exit_code stdout stderr "
        "output_truncated permission_status permission_scope risk_score env_snapshot"
    )
    assert columns >= set(documented.split())
    keys = [
        (row[2], row[3], row[4], row[6]) for row in rows(path, "PRAGMA foreign_key_list(forgecmd_history)")
    ]
    assert keys == [("sessions", "session_id", "id", "CASCADE")]
    indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'forgecmd_history'"
    assert {name for (name,) in rows(path, indexes)} >= {
        "forgecmd_history_session",
        "forgecmd_history_command",
    }


@pytest.mark.requirement("S2-04", "S2-33")
def test_a_command_is_noted_at_its_start_and_completed_at_its_end(history: History, path: str) -> None:
    number = history.begin(begun("make", permission_status="granted", permission_scope="once", risk_score=4))
    with closing(Reader(path)) as reader:
        pending = reader.find(number)
        history.finish(number, Finished(2, "error", b"out\n", b"err\n"))
        done = reader.find(number)
    assert pending is not None and (pending.status, pending.exit_code, pending.duration_ms) == (
        "pending",
        None,
        None,
    )
    started = pending.started_at
    assert done == Entry(
        number,
        "s1",
        "make",
        "/w",
        started,
        1,
        2,
        "error",
        4,
        "",
        "granted",
        4,
        4,
        output_truncated=False,
        profile="",
    )


@pytest.mark.requirement("S2-33")
def test_a_denied_command_is_noted_too(history: History, path: str) -> None:
    history.begin(begun("rm -rf /", permission_status="denied", risk_score=10, reasons=("root",)))
    found = rows(path, "SELECT status, ended_at IS NOT NULL, reasons FROM forgecmd_history")
    assert found == [("denied", 1, '["root"]')]


@pytest.mark.parametrize(
    "changes", [{"permission_status": "maybe"}, {"permission_scope": "always"}], ids=["status", "scope"]
)
def test_only_known_words_are_written(history: History, changes: dict[str, str]) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        history.begin(begun("ls", **changes))


@pytest.mark.requirement("S2-32")
def test_a_session_takes_its_commands_with_it(history: History, path: str) -> None:
    history.begin(begun("one"))
    history.begin(begun("two", session_id="s2"))
    history.forget_session("s1")
    assert rows(path, "SELECT command FROM forgecmd_history") == [("two",)]
    with closing(Reader(path)) as reader:
        assert reader.search("one") == []


@pytest.mark.requirement("S2-34", "S2-38")
def test_long_output_is_cut_in_the_middle_and_kept_small(history: History, path: str) -> None:
    number = history.begin(begun("yes"))
    data = b"".join(b"line %d\n" % n for n in range(1_000_000))
    history.finish(number, Finished(0, "success", data))
    found = "SELECT output_truncated, stdout_bytes, length(stdout) < 400000 FROM forgecmd_history"
    assert rows(path, found) == [(1, len(data), 1)]
    with closing(Reader(path)) as reader:
        first = reader.output(number, limit=2)
        last = reader.output(number, pattern="^line 999999$")
    assert (first.lines, last.lines[0][1]) == (((1, "line 0"), (2, "line 1")), "line 999999")


def test_output_can_be_paged_and_searched(history: History, path: str) -> None:
    number = history.begin(begun("x"))
    history.finish(number, Finished(0, "success", b"a\nb\nc\nbb\xff", b"oops"))
    with closing(Reader(path)) as reader:
        assert reader.output(number, offset=2, limit=2) == Excerpt(((2, "b"), (3, "c")), 4)
        assert reader.output(number, pattern="^b") == Excerpt(((2, "b"), (4, "bb\ufffd")), 4)
        assert reader.output(number, errors=True) == Excerpt(((1, "oops"),), 1)
        assert reader.output(99) == Excerpt(((1, ""),), 1)


def test_commands_are_found_by_words_and_by_pieces(history: History, path: str) -> None:
    for command in ("git status", "git push origin main", "cargo build --release"):
        history.finish(history.begin(begun(command)), Finished(0, "success", f"output of {command}".encode()))
    with closing(Reader(path)) as reader:
        commands = [
            [entry.command for entry in reader.search(text)]
            for text in ("git", "main git", "elease", "%", "nosuch")
        ]
        recent = [entry.command for entry in reader.recent(limit=2)]
    assert commands == [
        ["git push origin main", "git status"],
        ["git push origin main"],
        ["cargo build --release"],
        [],
        [],
    ]
    assert recent == ["cargo build --release", "git push origin main"]


@pytest.mark.requirement("S2-37")
def test_statistics_count_commands_failures_and_time(history: History, path: str) -> None:
    history.finish(history.begin(begun("a")), Finished(0, "success", b"xx"))
    history.finish(history.begin(begun("b")), Finished(1, "error", b"", b"yyy"))
    history.finish(history.begin(begun("c")), Finished(None, "timeout"))
    history.begin(begun("d", permission_status="denied"))
    history.begin(begun("e", session_id="s2"))
    with closing(Reader(path)) as reader:
        assert reader.statistics(session_id="s1") == Statistics(4, 2, 1, 0, 3, 5)
        assert reader.statistics() == Statistics(5, 2, 1, 1, 3, 5)
        assert reader.statistics(session_id="nosuch") == Statistics(0, 0, 0, 0, 0, 0)


@pytest.mark.requirement("S2-36")
def test_the_common_tool_log_has_a_row_per_command(history: History, path: str) -> None:
    history.finish(history.begin(begun("ls", call_id="c1")), Finished(0, "success", b"file\n"))
    found = rows(path, "SELECT session_id, tool_name, call_id, input, output, status, error FROM tool_log")
    assert found == [("s1", "forgecmd", "c1", '{"command":"ls","working_dir":"/w"}', "file\n", "success", "")]


def test_times_can_be_read_as_text(history: History, path: str) -> None:
    history.begin(begun("ls"))
    assert rows(path, "SELECT started_at FROM forgecmd_history_text") == [("1970-01-12T13:46:40.001Z",)]


@pytest.mark.requirement("S2-35")
def test_no_secret_reaches_the_file(history: History, path: str) -> None:
    env = {f"VARIABLE_{n}": seeded(kind)[0] for n, kind in enumerate(KINDS)} | {
        "API_KEY": "correct-horse-battery"
    }
    secrets = [seeded(kind)[1] for kind in KINDS] + ["correct-horse-battery"]
    taken = snapshot(filter_environment(env).env) | snapshot(env)
    for kind in KINDS:
        text, _ = seeded(kind)
        number = history.begin(begun(text, reasons=(text,), env_snapshot=taken))
        output = f"{text}\nvalue correct-horse-battery\n".encode() * 3
        history.finish(number, Finished(1, "error", output, output, error=text))
    written = b"".join(
        (Path(path).parent / name).read_bytes() for name in os.listdir(Path(path).parent)
    ) + b"".join(str(row).encode() for row in rows(path, "SELECT * FROM forgecmd_history"))
    with closing(Reader(path)) as reader:
        shown = str([reader.output(entry.id).lines for entry in reader.recent(limit=500)])
    everything = written + shown.encode()
    assert [secret for secret in secrets if secret.encode() in everything] == []


@pytest.mark.requirement("S2-04")
def test_old_commands_are_removed(history: History, path: str, clock: Clock) -> None:
    history.begin(begun("old"))
    clock.now += 31 * DAY
    history.begin(begun("new", session_id="s2"))
    assert (history.prune(), history.prune()) == (1, 0)
    assert rows(path, "SELECT command FROM forgecmd_history") == [("new",)]
    assert rows(path, "SELECT id FROM sessions") == [("s2",)]


def test_a_file_that_is_too_large_loses_its_oldest_commands(history: History, path: str) -> None:
    for number in range(60):
        row = history.begin(begun(f"echo {number}"))
        history.finish(row, Finished(0, "success", os.urandom(20_000)))
    removed = history.prune(most=600_000)
    left = [command for (command,) in rows(path, "SELECT command FROM forgecmd_history ORDER BY id")]
    assert left == [f"echo {number}" for number in range(removed, 60)]
    assert 20 < removed < 50


def test_the_file_is_private(history: History, path: str) -> None:
    modes = [os.stat(place).st_mode & 0o777 for place in (path, os.path.dirname(path))]
    assert modes == [0o600, 0o700]


def test_many_writers_do_not_disturb_each_other(path: str) -> None:
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with closing(History(path)) as history:
                for number in range(40):
                    row = history.begin(begun(f"{name} {number}", session_id=name))
                    history.finish(row, Finished(0, "success", b"x" * 1000))
        except sqlite3.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert rows(path, "SELECT count(*), sum(status = 'success') FROM forgecmd_history") == [(160, 160)]


def test_closing_leaves_no_log_behind(path: str) -> None:
    with closing(History(path)) as history:
        history.begin(begun("ls"))
    assert os.listdir(os.path.dirname(path)) == ["history.db"]


def test_a_file_that_is_no_database_is_an_error_with_a_hint(tmp_path: Path) -> None:
    broken = tmp_path / "history.db"
    broken.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(ForgeError, match=r"is not usable.*\nMove the file away"):
        History(str(broken))


def test_a_newer_file_is_not_touched(path: str) -> None:
    History(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(ForgeError, match="newer version"):
        History(path)
