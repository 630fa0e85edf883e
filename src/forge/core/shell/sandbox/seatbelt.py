"""The sandbox of macOS: a profile for sandbox-exec. Written from its documentation, not tried on a Mac."""

from __future__ import annotations

from forge.foundation.system.keeping import Confinement

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("null", "zero", "random", "urandom", "tty", "ptmx", "dtracehelper")


def seatbelt_profile(sandbox: Confinement) -> str:
    """The rules of a confinement; later rules win."""
    rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
    rules += [f"(allow file-write* (subpath {_quoted(path)}))" for path in map(_real, sandbox.write)]
    rules += [f'(allow file-write* (literal "/dev/{name}"))' for name in _DEVICES]
    rules.append('(allow file-write* (regex #"^/dev/ttys[0-9]+$"))')
    rules += [f"(deny file-write* (subpath {_quoted(path)}))" for path in map(_real, sandbox.protect)]
    rules += [f"(deny file-read* file-write* (subpath {_quoted(path)}))" for path in map(_real, sandbox.hide)]
    if sandbox.no_network:
        rules += ["(deny network*)", '(allow network* (local ip "localhost:*"))']
    return "\n".join([*rules, "(deny signal (target others))", "(deny process-info* (target others))"])


def seatbelt_argv(sandbox: Confinement, argv: list[str]) -> list[str]:
    """The command line that runs a program under the profile."""
    return [PROGRAM, "-p", seatbelt_profile(sandbox), *argv]


def _real(path: str) -> str:
    """These three are links there, and rules are about real paths."""
    for name in ("/tmp", "/var", "/etc"):
        if path == name or path.startswith(f"{name}/"):
            return f"/private{path}"
    return path


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
