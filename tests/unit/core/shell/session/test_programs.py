from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.session.program import NotSent, Program
from forge.core.shell.session.programs import NoProgram, Programs, Start
from forge.core.shell.session.prompts import Line, Prompt
from unit.core.shell.processes import is_gone
from unit.core.shell.session.places import environment, with_programs


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


async def started(programs: Programs, directory: Path, command: str, **changes: Any) -> Program:
    start = Start(command, str(directory), environment(directory), **changes)
    return programs.find(await programs.start(start))


@needs("vim")
@pytest.mark.requirement("S2-02")
def test_vim_opens_writes_and_quits(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        vim = await started(programs, tmp_path, "vim -u NONE -i NONE -n note.txt")
        assert await vim.wait(r'"note\.txt" \[New', 5)
        assert await vim.wait("settled", 5)
        seen = await vim.seen()
        assert (seen.alternate, seen.waiting, seen.exit_code) == (True, True, None)
        vim.send("ihello wörld<Enter>second<Esc>")
        assert await vim.wait("^hello wörld\nsecond$", 5)
        vim.send("gg<Down>xx:wq<Enter>")
        assert await vim.wait("exit", 5)
        assert ((await vim.seen()).exit_code, (await vim.seen()).alternate) == (0, False)

    with_programs(play)
    assert (tmp_path / "note.txt").read_text("utf-8") == "hello wörld\ncond\n"


@needs("less")
@pytest.mark.requirement("S2-02")
def test_less_pages_searches_and_quits(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_text("".join(f"line {n}\n" for n in range(1, 501)))

    async def play(programs: Programs) -> int | None:
        less = await started(programs, tmp_path, "less numbers", rows=10, columns=40)
        assert await less.wait("^line 9$", 5)
        less.send("<Space>")
        assert await less.wait("^line 18$", 5)
        less.send("/line 300<Enter>")
        assert await less.wait("^line 300$", 5)
        less.send("G")
        assert await less.wait("^line 500$", 5)
        assert await less.wait("settled", 5)
        assert (await less.seen()).waiting
        less.send("q")
        assert await less.wait("exit", 5)
        return (await less.seen()).exit_code

    assert with_programs(play) == 0


@needs("python3")
@pytest.mark.requirement("S2-02")
def test_a_python_prompt_is_driven_and_its_lines_are_checked(tmp_path: Path) -> None:
    heard: list[Line] = []

    def check(line: Line) -> str:
        heard.append(line)
        return "not that" if "rmtree" in line.text else ""

    async def play(programs: Programs) -> int | None:
        python = await started(programs, tmp_path, "python3 -q")
        assert await python.wait(r"^>>> \Z", 10)
        python.send("6 * 7<Enter>", check=check)
        assert await python.wait("^42$", 5)
        assert await python.wait("settled", 5)
        with pytest.raises(NotSent, match="not that"):
            python.send("import shutil; shutil.rmtree('x')<Enter>", check=check)
        python.send("<C-d>", check=check)
        assert await python.wait("exit", 5)
        return (await python.seen()).exit_code

    assert with_programs(play) == 0
    lines = ["6 * 7", "import shutil; shutil.rmtree('x')"]
    assert heard == [Line(Prompt.REPL, line) for line in lines]


@needs("htop")
@pytest.mark.requirement("S2-02")
def test_htop_shows_processes_and_quits(tmp_path: Path) -> None:
    async def play(programs: Programs) -> int | None:
        htop = await started(programs, tmp_path, "htop", rows=40, columns=120)
        assert await htop.wait("PID", 5)
        htop.send("<F10>")
        assert await htop.wait("exit", 5)
        return (await htop.seen()).exit_code

    assert with_programs(play) == 0


@needs("top")
def test_a_monitor_that_repaints_shows_processes_and_quits(tmp_path: Path) -> None:
    async def play(programs: Programs) -> int | None:
        top = await started(programs, tmp_path, "top -d 0.2", rows=30, columns=100)
        assert await top.wait("PID +USER", 5)
        top.send("q")
        assert await top.wait("exit", 5)
        return (await top.seen()).exit_code

    assert with_programs(play) == 0


def test_a_shell_session_keeps_its_state_and_its_lines_are_checked(tmp_path: Path) -> None:
    heard: list[Line] = []

    async def play(programs: Programs) -> None:
        shell = await started(programs, tmp_path, "PS1='$ ' exec bash --norc --noprofile")
        assert await shell.wait(r"^\$ \Z", 5)
        shell.send("x=4<Enter>")
        shell.send("echo $((x + 1))<Enter>")
        assert await shell.wait(r"^5\n\$ \Z", 5)

        def refuse(line: Line) -> str:
            heard.append(line)
            return "no"

        shell.send("rm -rf x", check=refuse)
        assert await shell.wait(r"^\$ rm -rf x\Z", 5)
        with pytest.raises(NotSent, match="no"):
            shell.send("<Enter>", check=refuse)

    with_programs(play)
    assert heard == [Line(Prompt.SHELL, "rm -rf x")]


def test_only_the_user_types_a_password(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        program = await started(programs, tmp_path, "read -rs -p 'Password: ' x; echo; echo length ${#x}")
        assert await program.wait("Password: ", 5)
        while not ((seen := await program.seen()).password and seen.waiting):
            await asyncio.sleep(0)
        with pytest.raises(NotSent, match="Only the user"):
            program.send("guess<Enter>")
        program.send("secret<Enter>", by_user=True)
        assert await program.wait("length 6", 5)

    with_programs(play)


def test_a_busy_program_does_not_wait_for_input(tmp_path: Path) -> None:
    async def play(programs: Programs) -> bool:
        program = await started(programs, tmp_path, "echo begun; sleep 60")
        await program.wait("begun", 5)
        await program.wait("settled", 5)
        return (await program.seen()).waiting

    assert with_programs(play) is False


@pytest.mark.requirement("S2-07")
def test_a_program_hears_of_a_new_size(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        program = await started(
            programs, tmp_path, "trap 'stty size' WINCH; stty size; while read x; do :; done"
        )
        assert await program.wait("^24 80$", 5)
        program.resize(30, 100)
        program.send("<Enter>")
        assert await program.wait("^30 100$", 5)

    with_programs(play)


@pytest.mark.requirement("S2-14")
def test_stopping_a_program_ends_all_it_has_started(tmp_path: Path) -> None:
    async def play(programs: Programs) -> list[int]:
        text = "trap '' TERM HUP; (setsid sleep 64 & echo $!); sleep 65 & echo $!; echo ready; wait; sleep 66"
        name = await programs.start(Start(text, str(tmp_path), environment(tmp_path)))
        program = programs.find(name)
        assert await program.wait("ready", 5)
        pids = [int(line) for line in (await program.seen()).text.split()[:2]]
        assert await program.stop(grace=0.05) == 137
        return pids

    assert all(is_gone(pid) for pid in with_programs(play))


def test_there_are_only_so_many_programs(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        names = [
            await programs.start(Start("sleep 60", str(tmp_path), environment(tmp_path))) for _ in range(2)
        ]
        with pytest.raises(NoProgram, match=r"2 programs run already \(t1, t2\)"):
            await programs.start(Start("sleep 60", str(tmp_path), environment(tmp_path)))
        await programs.stop(names[0])
        assert await programs.start(Start("true", str(tmp_path), environment(tmp_path))) == "t3"
        with pytest.raises(NoProgram, match="No program has the id 't1'; running: t2, t3"):
            programs.find("t1")

    with_programs(play, most=2)


def test_a_program_nobody_uses_is_ended(tmp_path: Path) -> None:
    async def play(programs: Programs) -> int:
        name = await programs.start(Start("sleep 60", str(tmp_path), environment(tmp_path)))
        program = programs.find(name)
        assert await program.wait("exit", 5)
        assert programs.names() == []
        return program.held.pid

    assert is_gone(with_programs(play, idle=0.1))


def test_questions_to_the_terminal_reach_the_program_as_answers(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        text = r"stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -c | head -1; stty sane"
        program = await started(programs, tmp_path, text)
        assert await program.wait(r"033 +\[ +1 +; +1 +R", 5)

    with_programs(play)


def test_input_that_nobody_reads_does_not_block(tmp_path: Path) -> None:
    async def play(programs: Programs) -> None:
        program = await started(programs, tmp_path, "stty raw -echo; echo ready; sleep 60")
        assert await program.wait("ready", 5)
        program.write(b"x" * 900_000)
        with pytest.raises(NotSent, match="does not read"):
            program.write(b"x" * 200_000)

    with_programs(play)
