from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.profile import Profile
from forge.core.shell.session.command import Ended
from forge.foundation.system.keeping import Keeper
from unit.core.shell.sandbox.confined import SOCKET, World, known_facts

LAYERS = {1: "namespaces, Landlock and seccomp", 3: "Landlock and seccomp"}
BOTH, BEST = (1, 3), (1,)


@pytest.fixture(scope="session")
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.close()


@pytest.fixture(scope="session")
def facts(keeper: Keeper) -> Facts:
    return known_facts(keeper)


@pytest.fixture
def world(tmp_path: Path, keeper: Keeper, facts: Facts) -> World:
    return World(tmp_path, keeper, facts)


def needs(world: World, layer: int) -> None:
    if world.facts.layer > layer:
        pytest.skip(f"no {LAYERS[layer]} here: {dict(world.facts.missing)}")


def python(code: str) -> str:
    return f"\"$PYTHON\" -I -S -c '{code}'"


def call(number: int, *arguments: str) -> str:
    """A system call by number, which succeeds or prints why it did not."""
    listed = "".join(f", {argument}" for argument in arguments)
    code = (
        "import ctypes, os, sys; c = ctypes.CDLL(None, use_errno=True); "
        f"r = c.syscall({number}{listed}); sys.exit(os.strerror(ctypes.get_errno()) if r < 0 else 0)"
    )
    return python(code)


# What is tried, which layers must refuse it, and a word of the refusal.
ESCAPES = {
    "a file outside is written": ("echo x > $OUT/new", BOTH, "denied|Read-only"),
    "a file outside is changed": ("echo x >> $OUT/file", BOTH, "denied|Read-only"),
    "a file outside is truncated": ("truncate -s 0 $OUT/file", BOTH, "denied|Read-only"),
    "a file outside is deleted": ("rm -f $OUT/file", BOTH, "denied|Read-only"),
    "a file is moved out": ("mv file $OUT/moved", BOTH, "denied|Read-only|Invalid"),
    "a link is made outside": ("ln -s file $OUT/link", BOTH, "denied|Read-only"),
    "a directory is made outside": ("mkdir $OUT/directory", BOTH, "denied|Read-only"),
    "a write goes through a link inside": ("ln -s $OUT/file way && echo x >> way", BOTH, "denied|Read-only"),
    "the home directory is written": ("echo x > ~/.bashrc", BOTH, "denied|Read-only"),
    "the mode of a file outside": ("chmod 777 $OUT/file", BEST, "Read-only"),
    "the owner of a file outside": ("chown $(id -u):$(id -g) $OUT/file", BEST, "Read-only"),
    "the time of a file outside": ("touch -d 2001-01-01 $OUT/file", BEST, "denied|Read-only"),
    "the time of a file outside by number": (
        python('import os; os.utime(os.environ["OUT"] + "/file", (1, 1))'),
        BEST,
        "Read-only",
    ),
    "a secret is read": ("cat ~/.ssh/id_rsa", BOTH, "denied|No such file"),
    "a hook is planted": ("echo x > .git/hooks/pre-commit", BEST, "Read-only"),
    "the configuration of git is changed": ("echo x >> .git/config", BEST, "Read-only"),
    "the repository's directory is removed": ("rm -rf .git", BEST, "Read-only|busy"),
    "the repository is moved away": ("mv .git old && mkdir -p .git/hooks", BEST, "busy"),
    "hooks are moved away": ("mv .git/hooks .git/old", BEST, "busy"),
    "a hard link to a file outside": (
        "ln $OUT/file here && echo x >> here",
        BOTH,
        "denied|cross-device|Read-only",
    ),
    "a device is made": (call(133, 'b"device"', "0o60666", "0x800"), BOTH, "not permitted|denied"),
    "a file system is mounted": (call(165, 'b"x"', 'b"/mnt"', 'b"tmpfs"', "0", "0"), BOTH, "not permitted"),
    "everything is made writable again": (
        call(165, "None", 'b"/"', "None", "32 | 4096", "None"),
        BOTH,
        "not permitted",
    ),
    "a mount is taken away": (call(166, 'b"/proc"', "2"), BOTH, "not permitted"),
    "a new user namespace by unshare": (call(272, "0x10000000"), BOTH, "not permitted"),
    "a new user namespace by clone": (call(56, "0x10000000 | 17", "0", "0", "0", "0"), BOTH, "not permitted"),
    "a new user namespace by clone3": (call(435, "0", "0"), BOTH, "not implemented"),
    "another namespace is entered": (call(308, "0", "0"), BOTH, "not permitted"),
    "another root": (call(161, 'b"/"'), BOTH, "not permitted"),
    "another process is traced": (call(101, "16", "$OTHER", "0", "0"), BOTH, "not permitted"),
    "another process is written to": (call(311, "$OTHER", "0", "0", "0", "0", "0"), BOTH, "not permitted"),
    "a file is opened by handle": (call(304, "0", "0", "0"), BOTH, "not permitted"),
    "a kernel program is loaded": (call(321, "0", "0", "0"), BOTH, "not permitted"),
    "a ring of calls is set up": (call(425, "8", "0"), BOTH, "not permitted"),
    "keys are read": (call(250, "0", "-3", "0"), BOTH, "not permitted"),
    "page faults are watched": (call(323, "0"), BOTH, "not permitted"),
    "a module is loaded": (call(175, "0", "0", "0"), BOTH, "not permitted"),
    "the clock is set": (call(227, "0", "0"), BOTH, "not permitted"),
    "the machine is renamed": (call(170, 'b"x"', "1"), BOTH, "not permitted"),
    "a signal to another process": ("kill -TERM $OTHER", BOTH, "not permitted|No such process"),
    "the variables of another process": (
        "cat /proc/$OTHER/environ",
        BOTH,
        "denied|No such file",
    ),
    "a server on this machine by TCP": ("exec 3<>/dev/tcp/127.0.0.1/$PORT", BOTH, "refused|denied"),
    "a packet by UDP": (
        python(
            'import _socket as s, os; s.socket(2, 2).sendto(b"x", ("127.0.0.1", int(os.environ["PORT"])))'
        ),
        (3,),
        "denied",
    ),
    "a packet to the world by UDP": (
        python('import _socket as s; s.socket(2, 2).sendto(b"x", ("192.0.2.1", 53))'),
        BOTH,
        "denied|unreachable",
    ),
    "a socket with a path": (
        python(f'import _socket as s, os; s.socket(1, 1).connect(os.environ["OUT"] + "/{SOCKET}")'),
        BOTH,
        "denied|refused|No such file",
    ),
    "a socket without a path": (
        python('import _socket as s, os; s.socket(1, 1).connect("\\0" + os.environ["ABSTRACT"])'),
        BOTH,
        "denied|refused|not permitted",
    ),
    "input is typed into the terminal": (
        python('import fcntl; fcntl.ioctl(0, 0x5412, b"x")'),
        BOTH,
        "not permitted",
    ),
    "rights come from a program": ("grep NoNewPrivs:.1 /proc/self/status && exit 1", BOTH, "NoNewPrivs"),
}


@pytest.mark.requirement("S2-40")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("escape", ESCAPES)
def test_an_escape_is_refused(world: World, escape: str, layer: int) -> None:
    text, layers, refusal = ESCAPES[escape]
    needs(world, layer)
    if layer not in layers:
        pytest.skip(f"{LAYERS[layer]} cannot refuse this")
    if "syscall" in text and os.uname().machine != "x86_64":
        pytest.skip("the numbers of the calls are those of x86_64")
    before = _state(world)
    ended = _tried(world, text, layer)
    assert ended.exit_code != 0
    assert _matches(refusal, ended), ended.output.text()
    assert _state(world) == before


def _matches(refusal: str, ended: Ended) -> bool:
    return any(word in ended.output.text() for word in refusal.split("|"))


def _state(world: World) -> list[tuple[str, bytes, int, float]]:
    files = [p for place in (world.outside, world.home, world.workspace / ".git") for p in place.rglob("*")]
    return [
        (str(p), p.read_bytes() if p.is_file() else b"", p.lstat().st_mode, p.lstat().st_mtime)
        for p in sorted(files)
        if not p.is_socket()
    ]


def _tried(world: World, text: str, layer: int) -> Ended:
    abstract = f"forge-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as unnamed,
        subprocess.Popen(["sleep", "60"]) as other,
    ):
        _bind(named, world.outside / SOCKET)
        unnamed.bind("\0" + abstract)
        for listener in (named, unnamed):
            listener.listen()
        port = str(server.getsockname()[1])
        text = text.replace("$OTHER", str(other.pid))
        try:
            ended = world.run(text, world.sandbox(layer), PORT=port, ABSTRACT=abstract)
            assert other.poll() is None
        finally:
            other.kill()
    return ended


def _bind(named: socket.socket, path: Path) -> None:
    """A path may be too long for a socket's address: through a descriptor it is short."""
    directory = os.open(path.parent, os.O_PATH)
    try:
        named.bind(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)


WORKS = {
    "a file inside is written": "echo x > new && cat new file",
    "a file in the temporary directory": 'f=$(mktemp) && echo x > "$f"',
    "heredocs": "cat <<E\nx\nE",
    "substitution of processes": "diff <(echo 1) <(echo 1)",
    "a named pipe": "mkfifo pipe && (echo x > pipe & cat pipe)",
    "a rename between directories": "mkdir a b && echo x > a/f && mv a/f b/f && ln b/f a/g",
    "null and random": "head -c 4 /dev/urandom > /dev/null && : < /dev/zero",
    "processes are listed": "ps ax > /dev/null && cat /proc/self/status > /dev/null",
    "git": "git init -q r && cd r && git config user.name x && echo x > f && git add f && "
    "git -c user.email=x@y -c user.name=x commit -qm m && git status",
    "python with locks": '"$PYTHON" -c \'import tempfile, multiprocessing as m; m.Lock(); '
    "tempfile.TemporaryFile()'",
    "threads and children": "for i in 1 2 3; do sleep 0 & done; wait",
    "a file outside is read": "cat $OUT/file ~/notes",
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("work", WORKS)
def test_ordinary_work_is_not_disturbed(world: World, work: str, layer: int) -> None:
    needs(world, layer)
    ended = world.run(WORKS[work], world.sandbox(layer))
    assert ended.exit_code == 0, ended.output.text()


@pytest.mark.parametrize("layer", LAYERS)
def test_git_works_in_a_repository_whose_hooks_are_protected(world: World, layer: int) -> None:
    needs(world, layer)
    prepare = "rm -rf .git && git init -q && git config user.name x && git config user.email x@y"
    assert world.run(prepare, None).exit_code == 0
    text = (
        "set -e; git add file; git commit -qm one; git switch -qc side; echo x >> file; "
        "git stash -q; git stash pop -q; git commit -qam two; git switch -q -; git merge -q side; "
        "git tag t; git gc -q; git status --short"
    )
    ended = world.run(text, world.sandbox(layer))
    assert (ended.exit_code, ended.output.text()) == (0, "")


def test_programs_in_the_sandbox_reach_each_other_by_loopback(world: World) -> None:
    needs(world, 1)
    code = (
        'import socket; s = socket.create_server(("127.0.0.1", 0)); '
        "c = socket.create_connection(s.getsockname()); "
        'print("joined"); c.close(); s.close()'
    )
    ended = world.run(f"\"$PYTHON\" -c '{code}'", world.sandbox(1))
    assert ended.output.text() == "joined\n"


@pytest.mark.parametrize("layer", LAYERS)
def test_the_read_profile_writes_nothing_but_temporary_files(world: World, layer: int) -> None:
    needs(world, layer)
    ended = world.run(
        "cat file; echo x > new; echo x > $TMPDIR/t && echo ok", world.sandbox(layer, Profile.READ)
    )
    assert (ended.output.text().splitlines()[0], ended.output.text().splitlines()[-1]) == ("inside", "ok")
    assert not (world.workspace / "new").exists()


@pytest.mark.parametrize("layer", LAYERS)
def test_the_build_profile_has_the_network(world: World, layer: int) -> None:
    needs(world, layer)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        ended = world.run("exec 3<>/dev/tcp/127.0.0.1/$PORT", world.sandbox(layer, Profile.BUILD), PORT=port)
    assert ended.exit_code == 0, ended.output.text()


@pytest.mark.parametrize("layer", LAYERS)
def test_a_confined_program_has_its_terminal(world: World, layer: int) -> None:
    needs(world, layer)
    text = (
        "[ -t 0 ] && tty > /dev/null && echo x > /dev/tty && stty size && script -qc 'echo inner' /dev/null"
    )
    ended = world.run(text, world.sandbox(layer), TERMINAL="yes")
    assert ended.output.text().replace("\r", "") == "x\n24 80\ninner\n"


def test_processes_of_a_namespace_are_reported_and_end_with_it(world: World) -> None:
    needs(world, 1)
    ended = world.run("(setsid sleep 71 &); [ $$ -lt 10 ] && echo few", world.sandbox(1))
    assert (ended.exit_code, ended.output.text(), len(ended.survivors)) == (0, "few\n", 1)
    text = "trap '' INT TERM; (setsid sleep 72 &); echo ready; while :; do sleep 73; done"
    ended = world.run(text, world.sandbox(1), STOP="yes")
    assert (ended.exit_code, ended.timed_out, ended.survivors) == (137, True, ())
