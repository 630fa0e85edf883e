"""`forge plugin`: installs, switches, updates, lists and makes plugins, and looks after marketplaces."""

from __future__ import annotations

import os
import sys

import msgspec

from forge.core.installing.command import plugin_command
from forge.core.plugins.context import Context
from forge.foundation.errors import UsageError
from forge.hosts.cli.command import JSON, Command, help_text
from forge.hosts.cli.flags import LIST, REPEAT, SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.configuration import load_configuration
from forge.hosts.options import read_options

COMMAND = Command(
    name="plugin",
    usage=(
        "plugin install NAME[@MARKETPLACE] [--config KEY=VALUE]",
        "plugin install PATH | GIT-URL[#REF] | ZIP-URL | npm:PACKAGE",
        "plugin uninstall NAME [--keep-data] [--prune]",
        "plugin enable NAME | disable NAME | disable --all",
        "plugin update NAME",
        "plugin list [--json [--available]]",
        "plugin details NAME",
        "plugin configure ID [--config KEY=VALUE | --values-stdin]",
        "plugin prune [--dry-run]",
        "plugin validate PATH [--strict]",
        "plugin init NAME [--with PART...]",
        "plugin reload",
        "plugin marketplace add SOURCE | list | update [NAME] | remove NAME",
    ),
    about=(
        "Plugins bring skills, commands, agents, hooks and servers. They come from marketplaces, or from a "
        "directory: that is copied, and switched off until you enable it. What is installed here is there in "
        "Claude Code too, and the other way round. Without a terminal nothing is asked: what would need an "
        "answer is refused, unless --yes says so."
    ),
    flags=(
        Flag("-s --scope", VALUE, "scope", "user (the default), project or local"),
        Flag("--config", REPEAT, "key=value", "install, configure: set an option of the plugin"),
        Flag("--marketplace", VALUE, "source", "install: from this marketplace, which is added first"),
        Flag("-y --yes", SWITCH, "", "answer questions with yes"),
        Flag("--keep-data", SWITCH, "", "uninstall: keep what the plugin has saved"),
        Flag("--prune", SWITCH, "", "uninstall: also remove dependencies nothing needs any more"),
        Flag("-a --all", SWITCH, "", "disable: every plugin"),
        Flag("--available", SWITCH, "", "list: also what marketplaces offer (with --json)"),
        Flag("--values-stdin", SWITCH, "", "configure: read a JSON object of values"),
        Flag("--dry-run", SWITCH, "", "prune: only say what would happen"),
        Flag("--strict", SWITCH, "", "validate: warnings count as errors"),
        Flag("--with", LIST, "parts", "init: skills agents commands hooks mcp lsp output-style"),
        Flag("--sparse", LIST, "paths", "marketplace add: the directories that are needed"),
        Flag("-f --force", SWITCH, "", "init: write the manifest anew"),
        JSON,
    ),
    examples=(
        ("forge plugin marketplace add owner/repo", "a marketplace on GitHub"),
        ("forge plugin install name@market", "install from it"),
        ("forge plugin install ./my-plugin", "install a directory, switched off"),
        ("forge plugin enable my-plugin@local", "trust it and switch it on"),
        ("forge plugin list --json --available", "everything, for a script"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Runs the command and prints what it says."""
    if not line.rest or "--help" in line.rest or "-h" in line.rest:
        sys.stdout.write(help_text(_called(line.command)) + "\n")
        return 0 if line.rest else 1
    context = open_context(line, env, interactive=sys.stdin.isatty() and sys.stdout.isatty())
    try:
        outcome = plugin_command(line.rest, context)
    except UsageError as error:
        raise UsageError(error.message, error.hint or f"See: forge {line.command} --help") from None
    sys.stdout.write(outcome.out)
    sys.stdout.flush()
    sys.stderr.write(outcome.err)
    return outcome.code


def _called(name: str) -> Command:
    """The command under the name it was called by."""
    usage = tuple(name + text.removeprefix(COMMAND.name) for text in COMMAND.usage)
    examples = tuple(
        (text.replace("forge plugin", f"forge {name}"), about) for text, about in COMMAND.examples
    )
    return msgspec.structs.replace(COMMAND, name=name, usage=usage, examples=examples)


def open_context(line: CommandLine, env: dict[str, str], *, interactive: bool) -> Context:
    """The surroundings of a command in this process; questions only where somebody can answer."""
    c = load_configuration(read_options(line), env, os.getcwd())
    return Context(
        places=c.places,
        env=env,
        setting=c.settings.get,
        ask=_ask if interactive else None,
        say=_say,
        warn=_warn,
        read_input=sys.stdin.read,
    )


def _ask(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _warn(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
