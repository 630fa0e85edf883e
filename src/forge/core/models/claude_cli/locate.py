"""Finds the installed `claude` and asks for its version, once for every file that is found."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from forge.core.models.claude_cli.capabilities import Version, read_version
from forge.core.models.claude_cli.environment import cli_environment
from forge.foundation.atomic import update_text
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError
from forge.foundation.homes import forge_home
from forge.foundation.lenient import read_as
from forge.foundation.redact import redact

_SECONDS = 10.0
_SHOWN = 200
_INSTALL = "Install Claude Code, or set `providers.claude-code.program` to where it is."


class Program(msgspec.Struct, frozen=True):
    """A CLI that answers."""

    path: str
    version: Version


class Seen(msgspec.Struct, frozen=True):
    """What a file said about itself; `stamp` is its time and size, since the next version is another file."""

    path: str
    stamp: list[int]
    printed: str


def find_program(name: str, env: Mapping[str, str]) -> Program:
    """The program of a name or path; raises `UsageError` that says why it cannot be used."""
    path = _search(os.path.expanduser(name), env)
    info = os.stat(path)
    stamp = [info.st_mtime_ns, info.st_size]
    cache = os.path.join(forge_home(env), "cache", "claude-cli.json")
    seen = read_as(cache, Seen)
    printed = seen.printed if seen is not None and (seen.path, seen.stamp) == (path, stamp) else ""
    version = read_version(printed)
    if version is None:
        printed = _ask(path, env)
        version = read_version(printed)
        if version is None:
            raise UsageError(
                f"{path} --version printed {printed[:_SHOWN]!r}, which is not a version of Claude Code.",
                _INSTALL,
            )
        _keep(cache, Seen(path, stamp, printed))
    return Program(path, version)


def login_problem(program: Program, env: Mapping[str, str]) -> str:
    """Why the CLI could not ask a model; "" if it is logged in, or does not say."""
    try:
        told = msgspec.json.decode(_run(program.path, ("auth", "status"), env).stdout)
    except (UsageError, *NOT_JSON):
        return ""
    if isinstance(told, dict) and told.get("loggedIn") is False:
        return "Claude Code is not logged in: start `claude` in a terminal and log in."
    return ""


def _search(name: str, env: Mapping[str, str]) -> str:
    if os.sep in name:
        return _runnable(os.path.abspath(name))
    refused = ""
    for folder in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            refused = refused or path
    if refused:
        return _runnable(refused)
    raise UsageError(f"The program `{name}` was not found on the PATH.", _INSTALL)


def _runnable(path: str) -> str:
    if not os.path.isfile(path):
        raise UsageError(f"There is no program {path}.", _INSTALL)
    if not os.access(path, os.X_OK):
        raise UsageError(f"{path} may not be executed by this user.", "Correct its rights (chmod +x).")
    return path


def _ask(path: str, env: Mapping[str, str]) -> str:
    done = _run(path, ("--version",), env)
    if done.returncode:
        said = redact(done.stderr.decode("utf-8", "replace").strip())[-_SHOWN:]
        raise UsageError(f"{path} --version failed with exit code {done.returncode}: {said}", _INSTALL)
    return done.stdout.decode("utf-8", "replace").strip()


def _run(path: str, args: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [path, *args],
            env=cli_environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        words = f"{path} {' '.join(args)} did not answer within {_SECONDS:g} seconds."
        raise UsageError(words, _INSTALL) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be started: {error.strerror}.", _INSTALL) from None


def _keep(cache: str, seen: Seen) -> None:
    # Without the note the program is asked again, which only takes longer.
    with suppress(OSError):
        os.makedirs(os.path.dirname(cache), mode=0o700, exist_ok=True)
        update_text(cache, lambda _: msgspec.json.encode(seen).decode())
