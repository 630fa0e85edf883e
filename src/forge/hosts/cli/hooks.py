"""`forge hooks`: which hooks there are and why some do not count, and a trial of one event."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError
from forge.foundation.hookspec import EVENTS
from forge.hosts.cli.command import JSON, NO_COLOR, Command, read_arguments, take_words, unknown_word
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.configuration import load_configuration
from forge.hosts.options import read_options

COMMAND = Command(
    name="hooks",
    usage=("hooks list [EVENT] [--json]", "hooks test EVENT [--tool NAME] [--input JSON] [--json]"),
    about=(
        "`list` shows the hooks of settings, plugins, skills and agents by event, with the file each comes "
        "from, and says of every hook that does not count why. `test` runs the hooks of one event as they "
        "would be run, and shows which matched, how they ended and what their answers amount to. Nothing is "
        "done with the answer, but the hooks themselves really run."
    ),
    flags=(
        Flag("--tool", VALUE, "name", "test: the tool of a tool event (default Bash)"),
        Flag("--input", VALUE, "json", "test: fields of the event as a JSON object, or @FILE"),
        Flag("-y --yes", SWITCH, "", "test: also run hooks of a project that is not trusted"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge hooks list", "all hooks, and why some do not count"),
        ("forge hooks list PreToolUse --json", "those of one event, for scripts"),
        (
            'forge hooks test PreToolUse --input \'{"tool_input": {"command": "rm -rf /"}}\'',
            "would this command be blocked?",
        ),
        ("forge hooks test SessionStart", "what a session would be told"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Lists hooks or tries one event."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    what, event = take_words(COMMAND, given.words or ["list"], ("list or test", "EVENT"), optional=1)
    if what not in ("list", "test"):
        raise unknown_word(COMMAND, what, ("list", "test"))
    if event and event not in EVENTS:
        raise unknown_word(COMMAND, event, EVENTS)
    options = read_options(line)
    c = load_configuration(options, env, os.getcwd())
    if what == "list":
        return int(import_module("forge.hosts.cli.hooks_list").show(options, c, event, given))
    if not event:
        raise UsageError("EVENT is missing.", "See: forge hooks --help")
    tool = given.text("tool")
    fields = read_input(given.text("input"))
    if tool:
        fields = {**fields, "tool_name": tool}
    return int(import_module("forge.hosts.cli.hooks_test").try_event(options, c, (event, fields), given))


def read_input(text: str) -> dict[str, Any]:
    """The fields given with --input: a JSON object, or the name of a file that holds one."""
    if not text:
        return {}
    try:
        if text.startswith("@"):
            with open(text[1:], "rb") as file:
                value = msgspec.json.decode(file.read())
        else:
            value = msgspec.json.decode(text.encode())
    except OSError as error:
        raise UsageError(f"--input: {text[1:]} cannot be read: {error.strerror}") from None
    except NOT_JSON as error:
        raise UsageError(
            f"--input is not JSON: {error}", 'Example: --input \'{"source": "resume"}\''
        ) from None
    if not isinstance(value, dict):
        raise UsageError("--input must be a JSON object with fields of the event.")
    return value
