"""Applies what a sandbox consists of besides namespaces. Used by the keeper: light imports."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

from forge.foundation.system.landlock import LIST, READ, restrict
from forge.foundation.system.seccomp import filter_calls
from forge.foundation.system.syscalls import PR_SET_NO_NEW_PRIVS, drop_capabilities, prctl

if TYPE_CHECKING:
    from typing import Any

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_LIMITS = {
    "cpu": resource.RLIMIT_CPU,
    "file": resource.RLIMIT_FSIZE,
    "core": resource.RLIMIT_CORE,
    "files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
}


def confine(order: dict[str, Any]) -> None:
    """For the process that starts the command and for all below it; nothing of it can be undone."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Capabilities of the superuser lead around the rules for reading other processes.
    drop_capabilities()
    if order["landlock"]:
        # In a network namespace of its own a program may use ports as it likes.
        restrict(_rules(order), no_network=order["no_network"] and not order["namespaces"])
    if order["seccomp"]:
        filter_calls(order["sockets"])


def set_limits(limits: dict[str, int]) -> None:
    """Resource limits: cpu (seconds), file (bytes), core (bytes), files, processes."""
    for name, value in limits.items():
        hard = resource.getrlimit(_LIMITS[name])[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(_LIMITS[name], (value, value))


def _rules(order: dict[str, Any]) -> list[tuple[str, int]]:
    rules = [(path, READ) for path in order["read"]]
    if order["read"] != ["/"]:
        rules.append(("/", LIST))
    rules += [(os.path.join("/dev", name), -1) for name in _DEVICES]
    if order["fresh_proc"]:
        rules.append(("/proc", -1))
    return rules + [(path, -1) for path in order["write"]]
