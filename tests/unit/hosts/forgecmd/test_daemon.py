from __future__ import annotations

import json
import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge.foundation.system.locks import try_lock, unlock
from forge.hosts.forgecmd.client import ask_daemon, end_daemon, socket_path
from forge.hosts.forgecmd.daemon import Pasts, serve, start

EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}


def decision(out: str | None) -> str:
    return str(json.loads(out or "{}")["hookSpecificOutput"]["permissionDecision"])


def raw(cwd: Path) -> bytes:
    return json.dumps({**EVENT, "cwd": str(cwd)}).encode()


def here(root: Path) -> dict[str, str]:
    """A short path: the names of sockets may have no more than a hundred characters."""
    return {"HOME": str(root), "FORGE_HOME": str(root / "f")}


@contextmanager
def serving(env: dict[str, str], idle: float = 20.0) -> Iterator[threading.Thread]:
    path = socket_path(env)
    thread = threading.Thread(target=serve, args=(path, idle), daemon=True)
    thread.start()
    bound = threading.Event()
    while thread.is_alive() and ask_daemon(b'{"tool_name": "x"}', env) is None:
        bound.wait(0.01)
    try:
        yield thread
    finally:
        end_daemon(env)
        thread.join(5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if len(str(tmp_path)) > 75:
        pytest.skip(f"the temporary directory has too long a name for sockets: {tmp_path}")
    return tmp_path


def test_the_daemon_answers_like_the_guard_itself(root: Path) -> None:
    env = here(root)
    with serving(env):
        assert decision(ask_daemon(raw(root), env)) == "deny"
        assert ask_daemon(b'{"tool_name": "Read"}', env) == ""
        assert decision(ask_daemon(b"nonsense", env)) == "ask"


def test_rules_that_change_count_at_once(root: Path) -> None:
    env = here(root)
    event = json.dumps({**EVENT, "cwd": str(root / "p"), "tool_input": {"command": "ls"}}).encode()
    with serving(env):
        before = decision(ask_daemon(event, env))
        (root / "f/settings.json").write_text('{"permissions": {"deny": ["Bash(ls:*)"]}}')
        assert (before, decision(ask_daemon(event, env))) == ("allow", "deny")


def test_what_one_command_downloads_the_next_may_not_run(root: Path) -> None:
    env = here(root)

    def said(command: str, session: str) -> str:
        event = {**EVENT, "cwd": str(root / "p"), "tool_input": {"command": command}, "session_id": session}
        return decision(ask_daemon(json.dumps(event).encode(), env))

    with serving(env):
        assert said("curl -so x.sh http://127.0.0.1:9/x.sh", "one") == "allow"
        assert said("sh x.sh", "two") != "deny"
        assert said("sh x.sh", "one") == "deny"


def test_only_the_last_sessions_are_remembered() -> None:
    pasts = Pasts()
    first = pasts.of("0")
    for number in range(1, 33):
        pasts.of(str(number))
    assert (pasts.of("32") is pasts.of("32"), pasts.of("0") is first, pasts.of("") is pasts.of("")) == (
        True,
        False,
        False,
    )


def test_the_socket_is_private(root: Path) -> None:
    env = here(root)
    (root / "f/run").mkdir(parents=True, mode=0o755)
    with serving(env):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (root / "f/run", root / "f/run/guard.sock")]
    assert modes == [0o700, 0o600]


def test_another_version_is_not_answered_and_the_daemon_makes_room(root: Path) -> None:
    env = here(root)
    with serving(env) as thread:
        end_daemon(env)
        thread.join(5)
        assert (thread.is_alive(), Path(socket_path(env)).exists()) == (False, False)
    assert ask_daemon(raw(root), env) is None


def test_a_second_daemon_leaves_the_first_alone(root: Path) -> None:
    env = here(root)
    with serving(env):
        assert serve(socket_path(env)) is False
        assert decision(ask_daemon(raw(root), env)) == "deny"


def test_a_socket_that_nobody_serves_is_taken_over(root: Path) -> None:
    env = here(root)
    path = Path(socket_path(env))
    path.parent.mkdir(parents=True)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    assert ask_daemon(raw(root), env) is None
    with serving(env):
        assert decision(ask_daemon(raw(root), env)) == "deny"


def test_without_use_it_ends_and_takes_its_socket_along(root: Path) -> None:
    env = here(root)
    assert serve(socket_path(env), idle=0.01) is True
    assert not Path(socket_path(env)).exists()
    lock = try_lock(str(root / "f/run"))
    assert lock is not None
    unlock(lock)


def test_clients_that_say_nothing_or_nonsense_do_no_harm(root: Path) -> None:
    env = here(root)
    with serving(env):
        for data in (b"", b"x" * 100, b"\0\0\0"):
            plug = socket.socket(socket.AF_UNIX)
            plug.connect(socket_path(env))
            plug.sendall(data)
            plug.close()
        assert decision(ask_daemon(raw(root), env)) == "deny"


@pytest.mark.parametrize(
    "env", [{}, {"HOME": "/" + "x" * 200}, {"FORGE_HOME": "relative"}, {"HOME": "/nonexistent"}]
)
def test_where_there_can_be_no_daemon_nobody_answers(env: dict[str, str]) -> None:
    assert ask_daemon(b"{}", env) is None


def test_no_daemon_is_started_where_its_socket_has_no_place() -> None:
    assert start({"HOME": "/" + "x" * 200}) is False


def test_a_directory_of_somebody_else_is_not_used(root: Path) -> None:
    other = root / "real"
    other.mkdir()
    (root / "f").mkdir()
    os.symlink(other, root / "f/run")
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        serve(socket_path(here(root)))
