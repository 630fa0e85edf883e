from __future__ import annotations

import asyncio
import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from forge.core.shell.history.journal import journal_of
from forge.core.shell.history.kinds import Begun, Finished
from forge.core.shell.history.look import Entry, Reader
from forge.core.shell.history.writer import Writer
from unit.foundation.secret_kinds import KINDS, seeded


def note(writer: Writer, number: int, output: bytes = b"out\n") -> None:
    writer.begin(Begun("s1", f"echo {number}", "/w", 1, call_id=f"c{number}"))
    writer.finish("s1", f"c{number}", Finished(0, "success", stdout=output))


def written(path: str, count: int, *, direct: bool = False, secrets: tuple[str, ...] = ()) -> Writer:
    ticks = iter(range(1, 10_000))
    writer = Writer(path, direct=direct, secrets=secrets, clock=lambda: float(next(ticks)))
    with closing(writer):
        for number in range(count):
            note(writer, number)
    return writer


def entries(path: str) -> list[Entry]:
    with closing(Reader(path)) as reader:
        return list(reversed(reader.recent(limit=100)))


def test_few_commands_leave_lines_and_no_database(tmp_path: Path) -> None:
    path = str(tmp_path / "state/history.db")
    written(path, 2)
    journal = journal_of(path)
    assert (os.path.exists(path), Path(journal).read_bytes().count(b"\n")) == (False, 4)
    assert stat.S_IMODE(os.stat(journal).st_mode) == 0o600


@pytest.mark.requirement("S2-36", "S2-04")
@pytest.mark.parametrize(("count", "direct"), [(2, False), (70, False), (2, True)])
def test_whoever_reads_the_history_sees_everything(tmp_path: Path, count: int, direct: bool) -> None:
    path = str(tmp_path / "history.db")
    written(path, count, direct=direct)
    found = entries(path)
    assert [(e.command, e.exit_code, e.status, e.stdout_bytes) for e in found] == [
        (f"echo {n}", 0, "success", 4) for n in range(count)
    ]
    assert [(e.started_at, e.duration_ms) for e in found[:2]] == [(1_000_000, 1000), (3_000_000, 1000)]
    assert entries(path) == found


def test_a_line_that_a_crash_has_cut_costs_only_itself(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    written(path, 2)
    with open(journal_of(path), "ab") as file:
        file.write(b'{"session_id": "s1", "call')
    assert len(entries(path)) == 2


def test_a_command_without_an_end_stays_pending(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    with closing(Writer(path, clock=lambda: 1.0)) as writer:
        writer.begin(Begun("s1", "sleep 9", "/w", 1, call_id="c"))
    assert [e.status for e in entries(path)] == ["pending"]


@pytest.mark.requirement("S2-35")
def test_secrets_reach_neither_lines_nor_database(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    with closing(Writer(path, secrets=("correct-horse",), clock=lambda: 1.0)) as writer:
        for number, kind in enumerate(list(KINDS)[:12]):
            text = f"{seeded(kind)[0]} correct-horse"
            writer.begin(Begun("s1", text, "/w", 1, call_id=str(number), reasons=(text,)))
            writer.finish("s1", str(number), Finished(1, "error", text.encode(), text.encode(), error=text))
    secrets = ["correct-horse", *(seeded(kind)[1] for kind in list(KINDS)[:12])]
    for _ in range(2):
        kept = b"".join(p.read_bytes() for p in tmp_path.iterdir())
        assert [secret for secret in secrets if secret.encode() in kept] == []
        assert len(entries(path)) == 12


@pytest.mark.parametrize("direct", [True, False])
def test_a_place_that_cannot_be_written_is_a_failure_and_nothing_else(direct: bool) -> None:
    assert written("/proc/nowhere/history.db", 2, direct=direct).failure != ""


@pytest.mark.requirement("S2-13")
def test_numbers_of_rows_are_known_without_holding_up_the_loop(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "history.db"), direct=True, clock=lambda: 1.0)

    async def play() -> list[int]:
        for number in range(2):
            note(writer, number)
        return [await writer.number(f"c{number}") for number in range(3)]

    with closing(writer):
        assert asyncio.run(play()) == [1, 2, 0]


def test_a_writer_can_be_used_again_after_it_was_closed(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    writer = Writer(path, direct=True, clock=lambda: 1.0)
    for number in range(2):
        note(writer, number)
        writer.close()
    assert [e.command for e in entries(path)] == ["echo 0", "echo 1"]


def test_many_short_runs_do_not_let_the_lines_grow_for_ever(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    Path(journal_of(path)).write_bytes(b"x" * (5 << 20) + b"\n")
    written(path, 2)
    assert os.path.getsize(journal_of(path)) < 1000
    assert [e.command for e in entries(path)] == ["echo 0", "echo 1"]
