"""Dispatches a command line to the host or sub-command it names; each is imported on use."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from forge.foundation.errors import ForgeError
from forge.hosts.cli.flags import COMMANDS, help_text
from forge.hosts.cli.parse import CommandLine, parse
from forge.version import VERSION

_ADVICE = "This is a mistake in Forge. Run the same command with --debug to see where it happened."


def run(argv: list[str]) -> int:
    """Runs a command line; every ForgeError becomes a message on standard error and an exit code."""
    try:
        return _run(parse(argv))
    except ForgeError as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone; python would complain again while closing standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  # the last resort: the traceback goes to the log
        import_module("logging").getLogger("forge").exception("unexpected failure")
        sys.stderr.write(f"Forge failed unexpectedly: {type(error).__name__}: {error}\n{_ADVICE}\n")
        return 1


def _run(line: CommandLine) -> int:
    if line.values.get("version"):
        sys.stdout.write(f"{VERSION} (Forge)\n")
        return 0
    if line.values.get("help"):
        sys.stdout.write(help_text() + "\n")
        return 0
    env = dict(os.environ)
    if line.command:
        return int(import_module(COMMANDS[line.command][0]).run(line, env))
    return int(import_module("forge.hosts.headless").run(line, env))
