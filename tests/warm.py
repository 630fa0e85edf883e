"""A `forge` program for tests that start it hundreds of times: it runs in a fork, see `warm_server.py`."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Nothing but builtin modules: its start is all that a run costs beyond the run itself.
CLIENT = """#!{python} -IS
import _signal, _socket, marshal, posix, sys
text = marshal.dumps((sys.argv[1:], posix.getcwd(), posix.environ))
order = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
order.connect({place!r})
descriptors = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
order.sendmsg([len(text).to_bytes(4, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
order.sendall(text)
pid = int.from_bytes(order.recv(4), "little")
for number in (_signal.SIGINT, _signal.SIGTERM):
    _signal.signal(number, lambda number, frame: posix.kill(pid, number))
posix._exit(int.from_bytes(order.recv(1) or b"\\xff", "little"))
"""


def warm_forge() -> Path:
    """The path of a program that does what `forge` does, as long as this process lives."""
    return _served()[0]


@functools.cache
def _served() -> tuple[Path, subprocess.Popen[bytes]]:
    """The server ends, and takes the directory with it, when its standard input does: with this process."""
    directory = Path(tempfile.mkdtemp(prefix="warm"))
    place, program = directory / "socket", directory / "forge"
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("warm_server.py")), str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # a signal for the tests must not keep it from tidying up
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert server.stdout is not None
    with server.stdout:
        assert server.stdout.readline() == b"ready\n"
    # The first line of a program cannot name a path with a blank: this repository may be in one.
    python = directory / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    program.write_text(CLIENT.format(python=python, place=str(place)))
    program.chmod(0o755)
    return program, server
