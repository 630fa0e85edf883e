"""Runs `forge` in forks of a process that has its modules loaded; `warm.py` talks to it.

A run has its own arguments, directory, environment, descriptors and exit code, as if it were started anew;
only the time for loading the modules, which is most of a short run, is not spent again.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import select
import shutil
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import NoReturn

from forge.__main__ import main

# What short runs load: these modules with all they import, and every module of these packages.
MODULES = (
    "forge.hosts.headless",
    "forge.hosts.cli.main",
    "forge.hosts.cli.plugin",
    "forge.core.models.anthropic",
    "forge.core.mcp.lines",
    "mcp",
)
PACKAGES = ("forge.agent.hooks", "forge.core.plugins", "forge.core.shell", "forge.core.shell.guard")
DESCRIPTORS = 3


def serve(place: str) -> None:
    """Answers orders at a socket until standard input ends; then the directory of the socket goes."""
    for name in (*MODULES, *inside(PACKAGES)):
        import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(16)
        os.write(1, b"ready\n")
        children: dict[int, tuple[int, socket.socket]] = {}
        while True:
            ready = select.select([0, listener.fileno(), *children], [], [])[0]
            if 0 in ready:
                shutil.rmtree(os.path.dirname(place))
                return
            for descriptor in ready:
                if descriptor in children:
                    report(descriptor, *children.pop(descriptor))
                else:
                    take(listener, children)


def inside(packages: Iterable[str]) -> Iterator[str]:
    for package in packages:
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            yield module.name


def take(listener: socket.socket, children: dict[int, tuple[int, socket.socket]]) -> None:
    order, _ = listener.accept()
    pid = os.fork()
    if not pid:
        listener.close()
        run(order)
    children[os.pidfd_open(pid)] = pid, order
    order.sendall(pid.to_bytes(4, "little"))


def report(descriptor: int, pid: int, order: socket.socket) -> None:
    """Tells the exit code, as a shell would call it, to who gave the order."""
    os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with order:
        try:
            order.sendall((code % 256 if code >= 0 else 128 - code).to_bytes(1, "little"))
        except OSError:
            return  # it has gone meanwhile


def run(order: socket.socket) -> NoReturn:
    """Becomes the program."""
    with order:
        arguments, cwd, environment = receive(order)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()})
    sys.argv[1:] = arguments
    finish(main())


def finish(code: int) -> NoReturn:
    """The end of the interpreter, but for taking it apart, which would cost as much as a run."""
    threading._shutdown()  # type: ignore[attr-defined]  # nothing else waits for threads as the end does
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120
    os._exit(code)


def receive(order: socket.socket) -> tuple[list[str], str, dict[bytes, bytes]]:
    """The order, whose descriptors become the standard ones."""
    head, descriptors, _, _ = socket.recv_fds(order, 4, DESCRIPTORS)
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    wanted, text = int.from_bytes(head, "little"), b""
    while len(text) < wanted:
        text += order.recv(wanted - len(text))
    arguments, cwd, environment = marshal.loads(text)
    return arguments, cwd, environment


if __name__ == "__main__":
    serve(sys.argv[1])
