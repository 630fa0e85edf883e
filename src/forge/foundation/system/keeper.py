"""The program of the keeper: a small process that starts commands, so that the large one never forks.

For each command there is a supervisor, made beforehand, which is in the namespaces of the command, adopts
whatever it leaves behind, and reports the end. Reports are lines on a pipe: P<pid>, S<pid of the
command> when it has started, E<reason>, X<code> <left>.
"""

from __future__ import annotations

import _socket
import array
import fcntl
import gc
import marshal
import os
import select
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from forge.foundation.system.confine import confine, set_limits
from forge.foundation.system.namespaces import (
    arrange_mounts,
    map_user,
    namespace_flags,
    raise_loopback,
)
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

_REHEARSAL = {"argv": ["/nosuchprogram"], "env": {}, "keep": [], "terminal": False}
# Kinds of supervisors: without namespaces, in namespaces, and there without a network.
PLAIN, SPACED, ISOLATED = range(3)
_MOST_DESCRIPTORS = 16
_ABOVE = 100
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_LINUX = sys.platform == "linux"


def serve(control: int, kinds: list[int]) -> None:
    """Keeps a supervisor ready for each kind of command that has been wanted, until `control` is closed.

    A supervisor takes one order from the socket of its kind: one byte with descriptors, which are the order
    itself (marshalled), the pipe for reports, standard input, output and error, and more to keep.
    """
    _get_ready([control, *kinds])
    taken, take = os.pipe()
    watched = select.poll()
    watched.register(control, 0)
    watched.register(taken, select.POLLIN)
    for descriptor in kinds:
        watched.register(descriptor, select.POLLIN)
    while True:
        for descriptor, _ in watched.poll():
            if descriptor == control:
                return
            if descriptor == taken:
                wanted = set(os.read(taken, 64))
            else:
                # From now on a supervisor waits there, and says when it needs a successor.
                watched.unregister(descriptor)
                wanted = {kinds.index(descriptor)}
            for kind in wanted:
                error = _prepare(kinds[kind], kind, take)
                if error is None:
                    continue
                if descriptor != taken:
                    _refuse(descriptor, error)
                watched.register(kinds[kind], select.POLLIN)


def _get_ready(descriptors: list[int]) -> None:
    # A command that could give orders here would be out of its sandbox.
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    # What is ready here need not be made in every child, nor copied because of the collector.
    if _LINUX:
        libc()
    gc.disable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _prepare(descriptor: int, kind: int, take: int) -> OSError | None:
    user = os.getuid(), os.getgid()
    try:
        pid = clone(namespace_flags(network=kind == ISOLATED)) if kind else os.fork()
    except OSError as error:
        return error
    if pid:
        return None
    try:
        _supervise(descriptor, kind, take, user)
    finally:
        os._exit(126)  # a forked process must never return into the code of its parent


def _refuse(descriptor: int, error: OSError) -> None:
    descriptors = _receive(descriptor)
    if descriptors:
        _fail(descriptors[1], error)
    for number in descriptors:
        os.close(number)


def _supervise(descriptor: int, kind: int, take: int, user: tuple[int, int]) -> None:
    # Inside a new namespace only the old /proc still knows the number others see.
    number = os.readlink("/proc/self") if _LINUX else str(os.getpid())
    os.setsid()
    supervisor = _Supervisor(alone=kind != PLAIN)
    failure: BaseException | None = None
    try:
        _settle(kind, user)
    except OSError as error:
        failure = error
    descriptors = _receive(descriptor)
    if not descriptors:
        return
    report = fcntl.fcntl(descriptors[1], fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    try:
        if failure is not None:
            raise failure
        with open(descriptors[0], "rb", closefd=False) as file:
            order: dict[str, Any] = marshal.load(file)
        supervisor.command = _spawn(order, descriptors)
        known = supervisor.command if kind == PLAIN else 0
        os.write(report, f"P{number}\nS{known}\n".encode())
    except BaseException as error:
        _fail(report, error)
        raise
    finally:
        os.write(take, bytes([kind]))
    os.closerange(0, report)
    supervisor.attend(report)


def _settle(kind: int, user: tuple[int, int]) -> None:
    """What can be done before the order is known."""
    if _LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if kind != PLAIN:
        map_user(*user)
    if kind == ISOLATED:
        raise_loopback()
    _rehearse()


def _rehearse() -> None:
    """Goes the way of an order once: shared memory is copied now, and not while somebody waits."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    order = marshal.loads(marshal.dumps(_REHEARSAL))
    with open(null, "rb", closefd=False) as file:
        file.read()
    set_limits({})
    with suppress(OSError):
        os.posix_spawn(
            order["argv"][0],
            order["argv"],
            order["env"],
            file_actions=_streams(order, [null] * 3),
            setsid=True,
            setsigdef=_RESET,
        )
    os.closerange(_ABOVE, _ABOVE + 8)
    os.close(null)


def _receive(descriptor: int) -> list[int]:
    """The descriptors of the next order; none if there will be no more."""
    plug = _socket.socket(fileno=descriptor)
    room = _socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    data, messages, _, _ = plug.recvmsg(1, room, getattr(_socket, "MSG_CMSG_CLOEXEC", 0))
    plug.detach()
    descriptors = array.array("i")
    for _, _, content in messages if data else ():
        descriptors.frombytes(content)
    return list(descriptors)


def _spawn(order: dict[str, Any], descriptors: list[int]) -> int:
    sandbox = order["sandbox"]
    if sandbox and sandbox["namespaces"]:
        arrange_mounts(
            sandbox["write"], sandbox["protect"], sandbox["hide"], fresh_proc=sandbox["fresh_proc"]
        )
    # The name is resolved once; a link that changes afterwards leads nowhere else.
    os.fchdir(os.open(order["cwd"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    set_limits(order["limits"])
    if _LINUX:
        prctl(PR_SET_DUMPABLE, 0)
    if sandbox:
        confine(sandbox)
    # Spawning is much cheaper than forking: the sandbox of this process is that of the command as well.
    return os.posix_spawn(
        order["argv"][0],
        order["argv"],
        order["env"],
        file_actions=_streams(order, descriptors[2:]),
        setsid=True,
        setsigdef=_RESET,
    )


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
        if self._alone or not self.command:
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
