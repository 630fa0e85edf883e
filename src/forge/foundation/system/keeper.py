"""The program of the keeper: a small process that starts commands, so that the large one never forks.

For each command there is a supervisor, made beforehand, which is in the namespaces of the command, adopts
whatever it leaves behind, and reports the end. Reports are lines on a pipe: P<pid>, S (started),
E<reason>, X<code> <left>.
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
    prctl,
)

if TYPE_CHECKING:
    from typing import Any

_REHEARSAL = {"argv": ["/nosuchprogram"], "env": {}, "keep": [], "terminal": False}
# Kinds of supervisors: without namespaces, in namespaces, and there without a network.
PLAIN, SPACED, ISOLATED = range(3)
_MOST_DESCRIPTORS = 16
# How long a command is left alone before the next supervisor is made.
_FILL_MS = 3
# The orphans of a process appear a moment after it is gone.
_SWEEPS, _SWEEP_MS = 10, 10
_ABOVE = 100
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_LINUX = sys.platform == "linux"


def serve(control: int, kinds: list[int]) -> None:
    """Keeps a supervisor ready for each kind of command that has been wanted, until `control` is closed.

    A supervisor takes one order from the socket of its kind: one byte with descriptors, which are the order
    itself (marshalled), the pipe for reports, standard input, output and error, and more to keep. A byte on
    `control` says that a supervisor was lost.
    """
    _get_ready([control, *kinds])
    nursery = _Nursery(kinds)
    watched = nursery.watched
    watched.register(control, select.POLLIN)
    while True:
        events = watched.poll(nursery.patience())
        if not events:
            nursery.fill()
        for descriptor, _ in events:
            if descriptor == control:
                if not os.read(control, 64):
                    return
                nursery.sweeps = _SWEEPS
            elif descriptor == nursery.taken:
                nursery.note()
            else:
                nursery.begin(descriptor)
        nursery.sweep()


class _Nursery:
    """The supervisors: one that waits for each kind, and all that are at work."""

    def __init__(self, kinds: list[int]) -> None:
        self.sweeps = 0
        self.taken, self._take = os.pipe()
        self._kinds = kinds
        self._known: set[int] = set()
        self._empty: set[int] = set()
        self.watched = select.poll()
        for descriptor in (self.taken, *kinds):
            self.watched.register(descriptor, select.POLLIN)

    def patience(self) -> int | None:
        """How many milliseconds nothing need be done, None for any number."""
        return _FILL_MS if self._empty else _SWEEP_MS if self.sweeps else None

    def begin(self, descriptor: int) -> None:
        """An order has come for which no supervisor waits."""
        kind = self._kinds.index(descriptor)
        self._empty.discard(kind)
        self.watched.unregister(descriptor)
        error = self._prepare(kind, rehearse=False)
        if error is not None:
            _refuse(descriptor, error)

    def note(self) -> None:
        """Supervisors have taken orders. Their successors must not compete with the commands."""
        for kind in os.read(self.taken, 64):
            self._empty.add(kind)
            self.watched.register(self._kinds[kind], select.POLLIN)

    def fill(self) -> None:
        """Makes the successors."""
        for kind in self._empty:
            self.watched.unregister(self._kinds[kind])
            self._prepare(kind, rehearse=True)
        self._empty.clear()

    def _prepare(self, kind: int, *, rehearse: bool) -> OSError | None:
        user = os.getuid(), os.getgid()
        descriptor = self._kinds[kind]
        try:
            pid = clone(namespace_flags(network=kind == ISOLATED)) if kind else os.fork()
        except OSError as error:
            self.watched.register(descriptor, select.POLLIN)
            return error
        if pid:
            self._known.add(pid)
            return None
        try:
            failure = _settle(kind, user)
            if rehearse:
                _rehearse()
            _supervise(descriptor, kind, self._take, failure)
        finally:
            os._exit(126)  # a forked process must never return into the code of its parent

    def sweep(self) -> None:
        """Ends what a lost supervisor has left: as orphans these are children of this process."""
        if not self.sweeps:
            return
        self.sweeps -= 1
        children = _children()
        self._known &= children
        for pid in children - self._known:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                self.sweeps = max(self.sweeps, 2)


def _children() -> set[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return {int(pid) for pid in file.read().split()}
    except OSError:
        return set()


def _get_ready(descriptors: list[int]) -> None:
    # A command that could give orders here would be out of its sandbox.
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    # What is ready here need not be made in every child, nor copied because of the collector.
    if _LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    gc.disable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _refuse(descriptor: int, error: OSError) -> None:
    descriptors = _receive(descriptor)
    if descriptors:
        _fail(descriptors[1], error)
    for number in descriptors:
        os.close(number)


def _supervise(descriptor: int, kind: int, take: int, failure: OSError | None) -> None:
    # Inside a new namespace only the old /proc still knows the number others see.
    number = os.readlink("/proc/self") if _LINUX else str(os.getpid())
    os.setsid()
    supervisor = _Supervisor(alone=kind != PLAIN)
    descriptors = _receive(descriptor)
    if not descriptors:
        return
    # At once: a command may kill this process as soon as it runs.
    os.write(take, bytes([kind]))
    report = fcntl.fcntl(descriptors[1], fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    try:
        if failure is not None:
            raise failure
        with open(descriptors[0], "rb", closefd=False) as file:
            order: dict[str, Any] = marshal.load(file)
        os.write(report, f"P{number}\n".encode())
        supervisor.command = _spawn(order, descriptors)
        os.write(report, b"S\n")
    except BaseException as error:
        _fail(report, error)
        raise
    os.closerange(0, report)
    os.closerange(report + 1, 1 << 20)
    supervisor.attend(report)


def _settle(kind: int, user: tuple[int, int]) -> OSError | None:
    """What can be done before the order is known; why it could not be."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if _LINUX:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
        if kind != PLAIN:
            map_user(*user)
        if kind == ISOLATED:
            raise_loopback()
    except OSError as error:
        return error
    return None


def _rehearse() -> None:
    """Goes the way of an order once: shared memory is copied now, and not while somebody waits."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    order = marshal.loads(marshal.dumps(_REHEARSAL))
    with open(null, "rb", closefd=False) as file:
        file.read()
    set_limits({})
    actions = _streams(order, [null] * 3)
    with suppress(OSError):
        os.posix_spawn(
            order["argv"][0],
            order["argv"],
            order["env"],
            file_actions=actions,
            setsid=True,
            setsigdef=_RESET,
        )
    for _, source, _ in actions:
        os.close(source)
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
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


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
