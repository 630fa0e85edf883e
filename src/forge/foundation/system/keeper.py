"""The program of the keeper: a small process that starts commands, so that the large one never forks.

For each command it makes a supervisor, which enters the namespaces, adopts whatever the command leaves
behind, and reports the end. Reports are lines on a pipe: P<pid>, S (started), E<reason>, X<code> <left>.
"""

from __future__ import annotations

import _socket
import array
import fcntl
import gc
import marshal
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from forge.foundation.system.confine import confine, enter, set_limits
from forge.foundation.system.namespaces import namespace_flags
from forge.foundation.system.syscalls import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    clone,
    libc,
    prctl,
)

if TYPE_CHECKING:
    from typing import Any

_MOST_DESCRIPTORS = 16
_ABOVE = 100
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_LINUX = sys.platform == "linux"


def serve(descriptor: int) -> None:
    """Takes orders from a socket until its other end is closed. An order is one byte with descriptors:

    the order itself (marshalled), the pipe for reports, standard input, output and error, and more to keep.
    """
    # A command that could give orders here would be out of its sandbox.
    os.set_inheritable(descriptor, False)
    plug = _socket.socket(fileno=descriptor)
    # What is ready here need not be made in every child, nor copied because of the collector.
    libc()
    gc.disable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    room = _socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    while True:
        data, messages, _, _ = plug.recvmsg(1, room, getattr(_socket, "MSG_CMSG_CLOEXEC", 0))
        if not data:
            return
        descriptors = array.array("i")
        for _, _, content in messages:
            descriptors.frombytes(content)
        _start(list(descriptors))
        for number in descriptors:
            os.close(number)


def _start(descriptors: list[int]) -> None:
    report = descriptors[1]
    try:
        with open(descriptors[0], "rb", closefd=False) as file:
            order: dict[str, Any] = marshal.load(file)
        sandbox = order["sandbox"]
        spaces = sandbox and sandbox["namespaces"]
        pid = clone(namespace_flags(network=sandbox["no_network"])) if spaces else os.fork()
    except OSError as error:
        _fail(report, error)
        return
    if pid:
        os.write(report, b"P%d\n" % pid)
        return
    try:
        _supervise(order, descriptors)
    except BaseException as error:
        _fail(report, error)
        raise
    finally:
        os._exit(126)  # a forked process must never return into the code of its parent


def _supervise(order: dict[str, Any], descriptors: list[int]) -> None:
    os.setsid()
    sandbox = order["sandbox"]
    spaces = bool(sandbox and sandbox["namespaces"])
    if spaces:
        enter(sandbox)
    # The name is resolved once; a link that changes afterwards leads nowhere else.
    os.fchdir(os.open(order["cwd"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    if _LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
        prctl(PR_SET_DUMPABLE, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    set_limits(order["limits"])
    if sandbox:
        confine(sandbox)
    report = fcntl.fcntl(descriptors[1], fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    supervisor = _Supervisor(alone=spaces)
    # Spawning is much cheaper than forking: the sandbox of this process is that of the command as well.
    supervisor.command = os.posix_spawn(
        order["argv"][0],
        order["argv"],
        order["env"],
        file_actions=_streams(order, descriptors[2:]),
        setsid=True,
        setsigdef=_RESET,
    )
    os.write(report, b"S\n")
    os.closerange(0, report)
    supervisor.attend(report)


def _streams(order: dict[str, Any], descriptors: list[int]) -> list[tuple[int, ...]]:
    """What becomes which descriptor. A terminal is opened by name, which makes it the session's own."""
    high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for number in descriptors]
    wanted = [0, 1, 2, *order["keep"]]
    actions: list[Any] = [
        (os.POSIX_SPAWN_DUP2, source, target) for source, target in zip(high, wanted, strict=True)
    ]
    if order["terminal"]:
        actions[0] = (os.POSIX_SPAWN_OPEN, 0, os.ttyname(high[0]), os.O_RDWR, 0)
    return actions


class _Supervisor:
    """Interrupts and requests to end go on to the command; SIGQUIT ends everything that is left of it."""

    def __init__(self, *, alone: bool) -> None:
        self.command = 0
        self._alone = alone
        self._ending = False
        signal.signal(signal.SIGINT, self._forward)
        signal.signal(signal.SIGTERM, self._forward)
        signal.signal(signal.SIGQUIT, self._end)

    def attend(self, report: int) -> None:
        """Waits for the command and all it leaves behind."""
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                os._exit(0)
            if pid == self.command:
                number = status & 0x7F
                code = 128 + number if number else status >> 8
                with suppress(OSError):
                    os.write(report, b"X%d %d\n" % (code, _has_children()))
            if self._ending:
                self._kill_children()

    def _forward(self, number: int, _: object) -> None:
        if self.command:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.command, number)

    def _end(self, _: int, __: object) -> None:
        if self._alone:
            os._exit(137)  # the first process of a namespace takes all others with it
        self._ending = True
        self._kill_children()

    def _kill_children(self) -> None:
        """Orphans become children of this process, so that repeating it reaches all."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.command, signal.SIGKILL)
        with suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            for pid in file.read().split():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(int(pid), signal.SIGKILL)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _fail(report: int, error: BaseException) -> None:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, OSError) and error.filename:
        text = f"{text}: {error.filename!r}"
    line = f"E{type(error).__name__}: {text}".replace("\n", " ")
    with suppress(OSError):
        os.write(report, line.encode("utf-8", "replace")[:1000] + b"\n")
