"""forgecmd as people and agents start it: as a process, with a daemon behind it, in a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.session.program import Program
from forge.core.shell.session.programs import Programs, Start
from forge.foundation.system.keeping import Keeper
from forge.hosts.forgecmd.client import ask_daemon, end_daemon
from forge_run import environment

SCRIPT = str(Path(__file__).resolve().parents[2] / "scripts" / "forgecmd")
LOADED = "import sys; from forge.hosts.forgecmd.__main__ import main; main(); print(sorted(sys.modules))"


def event(command: str, cwd: Path) -> bytes:
    given = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(cwd)}
    return json.dumps({**given, "tool_input": {"command": command}}).encode()


def hook(raw: bytes, env: dict[str, str], *words: str) -> dict[str, Any]:
    argv = [sys.executable, SCRIPT, "hook", *words]
    done = subprocess.run(argv, input=raw, env=env, capture_output=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"]
    return found


def test_the_guard_starts_a_daemon_that_answers_the_next_event(home: Path, tmp_path: Path) -> None:
    env = environment(home, FORGE_HOME=str(home / "f"))
    if len(str(home)) > 75:
        pytest.skip(f"the home directory has too long a name for sockets: {home}")
    raw = event("rm -rf /", tmp_path)
    pause = threading.Event()
    first = hook(raw, env, "--daemon")
    try:
        assert first["permissionDecision"] == "deny"
        said = None
        for _ in range(500):
            said = ask_daemon(raw, env)
            if said is not None:
                break
            pause.wait(0.01)
        assert json.loads(said or "{}")["hookSpecificOutput"] == first
        assert hook(raw, env) == first
    finally:
        end_daemon(env)
    for _ in range(500):
        if not (home / "f/run/guard.sock").exists():
            return
        pause.wait(0.01)
    pytest.fail("the daemon has not ended")


def modules(env: dict[str, str], raw: bytes) -> set[str]:
    """What the guard has imported when it is done."""
    argv = [sys.executable, "-S", "-c", LOADED, "hook"]
    done = subprocess.run(argv, input=raw, env=env, capture_output=True, timeout=20, text=False)
    found: list[str] = json.loads(done.stdout.decode().splitlines()[-1].replace("'", '"'))
    return set(found)


def test_a_guard_that_cannot_be_loaded_asks(home: Path, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise ImportError('half an installation')")
    env = environment(home)
    path = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    assert hook(event("ls", tmp_path), {**env, "PYTHONPATH": path})["permissionDecision"] == "ask"


def test_a_guard_without_input_asks(home: Path) -> None:
    argv = ["/bin/sh", "-c", f'exec "{sys.executable}" "{SCRIPT}" hook <&-']
    done = subprocess.run(argv, env=environment(home), capture_output=True, timeout=20)
    assert (done.returncode, b'"permissionDecision": "ask"' in done.stdout) == (0, True)


def test_the_guard_imports_little(home: Path, tmp_path: Path) -> None:
    heavy = {"typing", "dataclasses", "pathlib", "logging", "subprocess", "asyncio", "msgspec", "inspect"}
    heavy |= {"tempfile", "socket", "sqlite3", "shutil", "ssl"}
    assert modules(environment(home), event("git status | head", tmp_path)) & heavy == set()


def test_what_is_piped_into_it_is_the_input_of_the_command(home: Path, tmp_path: Path) -> None:
    argv = [sys.executable, SCRIPT, "run", "--", "sort", "-r"]
    done = subprocess.run(
        argv, input=b"a\nb\n", env=environment(home), cwd=tmp_path, capture_output=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"b\na\n", b"")


def in_terminal(home: Path, cwd: Path, command: str, drive: Callable[[Program], Awaitable[None]]) -> int:
    """Runs `forgecmd COMMAND` in a terminal; its exit code."""

    async def main() -> int:
        keeper = Keeper()
        programs = Programs(keeper)
        line = f"exec {shlex.quote(sys.executable)} {shlex.quote(SCRIPT)} {command}"
        name = await programs.start(Start(line, str(cwd), environment(home, TERM="xterm"), 30, 90))
        program = programs.find(name)
        try:
            await drive(program)
            assert await program.wait("exit", 10), program.screen.view().text()
            return await programs.stop(name)
        finally:
            await programs.close()
            keeper.close()

    return asyncio.run(main())


@pytest.mark.requirement("S2-31")
@pytest.mark.parametrize(("answer", "code", "left"), [("o", 0, False), ("n", 126, True)])
def test_the_person_at_the_terminal_is_asked(
    answer: str, code: int, left: bool, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").touch()

    async def drive(program: Program) -> None:
        assert await program.wait(r"Run it\? \[o/s/a/n\]", 10), program.screen.view().text()
        assert "deletes from the workspace: a.txt" in program.screen.view().text()
        program.send(f"{answer}<Enter>", by_user=True)

    assert in_terminal(home, tmp_path, "run -- rm a.txt", drive) == code
    assert (tmp_path / "a.txt").exists() is left


@pytest.mark.requirement("S2-03")
def test_a_dangerous_command_can_be_dared_once_and_undone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text("precious")

    async def drive(program: Program) -> None:
        assert await program.wait(r"Run it\? \[o/n\]", 10), program.screen.view().text()
        program.send("once<Enter>", by_user=True)

    assert in_terminal(home, tmp_path, "run -- rm -rf src", drive) == 0
    assert not (tmp_path / "src").exists()
    env = environment(home)
    listed = subprocess.run(
        [sys.executable, SCRIPT, "restore", "--json"], env=env, cwd=tmp_path, capture_output=True, check=True
    )
    (kept,) = json.loads(listed.stdout)
    subprocess.run(
        [sys.executable, SCRIPT, "restore", kept["id"]],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert (tmp_path / "src/a.txt").read_text() == "precious"


@pytest.mark.requirement("S2-10")
def test_a_program_that_wants_a_person_gets_the_keys_of_the_terminal(home: Path, tmp_path: Path) -> None:
    async def drive(program: Program) -> None:
        assert await program.wait(r"^>>> ", 10), program.screen.view().text()
        program.send("open('out', 'w').write(str(6 * 7)) and exit(5)<Enter>", by_user=True)

    assert in_terminal(home, tmp_path, "run -- python3 -q", drive) == 5
    assert (tmp_path / "out").read_text() == "42"
