"""The diffy command line: what each call means. Parts a call does not need are not loaded."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from forge.core.review.repository import NoRepository
from forge.foundation.errors import ForgeError
from forge.hosts.diffy.request import Request, parse
from forge.version import VERSION

USAGE = """usage: diffy [BASE] [--apply] [--surface NAME] [-- PATH…]   review what changed since the last time
       diffy [BASE] --json [-- PATH…]                        list the hunks as JSON
       diffy [BASE] --decisions FILE [--apply]               carry out decisions that were made elsewhere
       diffy [BASE] --export md|json [--decisions FILE]      print a review as a document
       diffy --restore [ID] [--force]                        undo the last review, or one of --restore --list
       diffy --hook-mode --apply                             what a Stop hook runs
       diffy mark [--deliver] | watch | run -- COMMAND… | editor FILE | resume | init [--user] [--yes]
BASE is one of --base REV, --ref REV, --head, --staged; REV is a commit, `empty`, session, turn or reviewed.
Without it a review shows what is new since the last one, or else since the last commit.
options: --auto-accept lock,generated,formatting,path:PATTERN   --hook-output exit2|json   --session ID
exit codes: 0 nothing rejected, 2 something rejected, 1 error, 3 refused: the files are not as reviewed
"""
# Modules by name, so that a call loads only its own part. All functions take (words or request, environment).
SUBCOMMANDS = {
    "mark": "forge.hosts.diffy.mark:command",
    "watch": "forge.hosts.diffy.watch:command",
    "run": "forge.hosts.diffy.wrap:command",
    "editor": "forge.hosts.diffy.by_hand:edit_command",
    "resume": "forge.hosts.diffy.by_hand:resume_command",
    "init": "forge.hosts.diffy.init:command",
    "web": "forge.hosts.diffy.web.server:command",
    "ui": "forge.hosts.diffy.screen.command:command",
    "lines": "forge.hosts.diffy.screen.command:lines_command",
}
HOOK = "forge.hosts.diffy.hook:run"
INTERACTIVE = "forge.hosts.diffy.by_hand:interactive"
LIST = "forge.hosts.diffy.deciding:listed"
DECIDE = "forge.hosts.diffy.deciding:decide"
EXPORT = "forge.hosts.diffy.deciding:exported"
RESTORE = "forge.hosts.diffy.deciding:restored"
Env = Mapping[str, str]


def run(argv: Sequence[str], env: Env) -> int:
    """Runs diffy and returns its exit code."""
    hook = "--hook-mode" in argv
    try:
        if argv and argv[0] in SUBCOMMANDS:
            return _call(SUBCOMMANDS[argv[0]], list(argv[1:]), env)
        return _run(parse(argv, env, os.getcwd()), env)
    except NoRepository as error:
        return 0 if hook else _complain(error, hook)
    except ForgeError as error:
        return _complain(error, hook)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _complain(ForgeError(f"{error.filename or 'error'}: {error.strerror or error}"), hook)
    except KeyboardInterrupt:
        return 130


def _run(request: Request, env: Env) -> int:
    if request.help or request.version:
        sys.stdout.write(USAGE if request.help else f"diffy {VERSION}\n")
        return 0
    if request.restore is not None:
        return _call(RESTORE, request, env)
    if request.json:
        return _call(LIST, request, env)
    if request.export:
        return _call(EXPORT, request, env)
    if request.decisions:
        return _call(DECIDE, request, env)
    return _call(HOOK if request.hook_mode else INTERACTIVE, request, env)


def _call(name: str, given: Request | list[str], env: Env) -> int:
    module, _, function = name.partition(":")
    return int(getattr(importlib.import_module(module), function)(given, env))


def _complain(error: ForgeError, hook: bool) -> int:
    # An agent shows one line of this to its user.
    text = error.message.replace("\n", " ") if hook else str(error)
    sys.stderr.buffer.write(f"diffy: {text}\n".encode("utf-8", "replace"))
    sys.stderr.flush()
    return error.exit_code
