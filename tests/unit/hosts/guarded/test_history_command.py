from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.core.shell.history.record import Begun, Finished, History
from forge.hosts.forgecmd.main import run

NOTHING = "No history yet. It begins with your first `forgecmd run -- COMMAND`.\n"


def shown(root: Path, capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    code = run(list(argv), {"HOME": str(root), "COLUMNS": "100"})
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    return said.out


def filled(root: Path) -> None:
    clock = iter(range(1_000_000_000, 1_000_000_100))
    history = History(str(root / ".forge/history.db"), clock=lambda: next(clock))
    first = history.begin(Begun("s1", "make all", "/p", 4, category="safe_write", profile="workspace"))
    lines = "\n".join(f"line {n}" for n in range(1, 301)).encode()
    history.finish(first, Finished(2, "error", lines, stdout_bytes=len(lines)))
    history.begin(Begun("s2", "rm -rf /", "/p", 10, permission_status="denied", category="forbidden"))
    third = history.begin(Begun("s2", "ls", "/p", 1, category="read_only", profile="read"))
    history.finish(third, Finished(0, "success", b"a\n"))
    history.close()


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["history"], NOTHING),
        (["search", "x"], NOTHING),
        (["stats"], NOTHING),
        (["history", "--json"], "[]\n"),
        (["search", "x", "--json"], "[]\n"),
    ],
)
def test_an_empty_history_says_how_it_begins(
    argv: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(tmp_path, capsys, *argv) == expected


def test_there_is_nothing_to_show_in_an_empty_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "1"], {"HOME": str(tmp_path)}) == 1
    assert capsys.readouterr().err == f"forgecmd: {NOTHING}"


def test_the_newest_commands_come_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path)
    lines = shown(tmp_path, capsys, "history").splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert ["✓" in lines[0], "denied" in lines[1], "exit 2" in lines[2]] == [True, True, True]
    assert shown(tmp_path, capsys, "history", "--limit", "1").splitlines() == lines[:1]
    assert shown(tmp_path, capsys, "history", "--session", "s1").splitlines() == lines[2:]
    assert shown(tmp_path, capsys, "history", "--session", "s9") == "Nothing in session 's9'.\n"


def test_commands_are_found_by_words_and_by_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path)
    for text in ("make", "line 299"):
        found = json.loads(shown(tmp_path, capsys, "search", text, "--json"))
        assert [entry["command"] for entry in found] == ["make all"]
    nothing = "No command has 'zzz' in it or in its output.\n"
    assert shown(tmp_path, capsys, "search", "zzz") == nothing


def test_output_is_shown_by_page_and_by_expression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path)
    page = shown(tmp_path, capsys, "show", "1", "--limit", "2")
    assert page.endswith("     1  line 1\n     2  line 2\n298 more lines: forgecmd show 1 --offset 3\n")
    assert "safe_write, risk 4, auto_approved" in page
    last = shown(tmp_path, capsys, "show", "1", "--offset", "300").splitlines()[-1]
    assert last == "   300  line 300"
    grepped = shown(tmp_path, capsys, "show", "1", "--grep", "9{2}").splitlines()[-4:]
    assert grepped == ["    99  line 99", "   199  line 199", "   299  line 299", "3 of 300 lines match."]
    told = json.loads(shown(tmp_path, capsys, "show", "1", "--grep", "299", "--json"))
    assert (told["command"], told["lines"], told["total_lines"]) == ("make all", [[299, "line 299"]], 300)


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["show", "9"], 1, "forgecmd: The history has no command 9.\n`forgecmd history` lists the newest.\n"),
        (["show", "1", "--grep", "("], 64, "forgecmd: --grep: '(' is not a regular expression"),
        (["search"], 64, "forgecmd: search needs a text, for example: forgecmd search docker\n"),
    ],
)
def test_a_wrong_question_is_explained(
    argv: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path)
    assert run(argv, {"HOME": str(tmp_path)}) == code
    assert capsys.readouterr().err.startswith(said)


def test_a_file_that_is_no_history_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".forge/history.db"
    path.parent.mkdir()
    path.write_text("not a database, but long enough to look like one")
    assert run(["history"], {"HOME": str(tmp_path)}) == 1
    hint = "Move the file away to start a new one."
    assert capsys.readouterr().err == f"forgecmd: {path}: is not usable: file is not a database\n{hint}\n"


@pytest.mark.requirement("S2-37")
def test_statistics_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path)
    told = json.loads(shown(tmp_path, capsys, "stats", "--json"))
    assert (told["commands"], told["failures"], told["denied"]) == (3, 1, 1)
    assert shown(tmp_path, capsys, "stats").splitlines()[0].split() == ["commands", "3"]
