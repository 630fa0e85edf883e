"""`forge sessions`: list, search, show, rename, export, rewind, delete recorded conversations."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from forge.foundation.errors import UsageError
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, read_arguments, unknown_word
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.sessions_place import Place, open_place

COMMAND = Command(
    name="sessions",
    usage=(
        "sessions [list] [--all]",
        "sessions search TEXT [--all]",
        "sessions show ID [--full] [--before-compaction]",
        "sessions rename ID TITLE",
        "sessions export ID [--format markdown|json] [--output FILE]",
        "sessions rewind ID --to UUID [--code | --conversation] [--dry-run]",
        "sessions delete ID... [--yes]",
        "sessions cleanup [--days N] [--dry-run] [--yes]",
    ),
    about=(
        "Every conversation is recorded. ID is a session's id, the beginning of one, or its title. Lists "
        "show the sessions of this directory; --all shows those of every directory. Rewinding takes files, "
        "the conversation or both back to where they were before a message (`show` prints their ids)."
    ),
    flags=(
        Flag("--all", SWITCH, "", "sessions of every directory, not only of this one"),
        Flag("--limit", VALUE, "number", "list and search: at most this many sessions", check="number"),
        Flag("--full", SWITCH, "", "show: tool calls and results in full"),
        Flag("--before-compaction", SWITCH, "", "show, export: also what compaction has dropped"),
        Flag("--format", VALUE, "format", "export: markdown or json", choices="markdown json"),
        Flag("-o --output", VALUE, "file", "export: write to this file"),
        Flag("--to", VALUE, "uuid", "rewind: the message to go back to"),
        Flag("--code", SWITCH, "", "rewind: only files"),
        Flag("--conversation", SWITCH, "", "rewind: only the conversation"),
        Flag("--both", SWITCH, "", "rewind: files and conversation (the default)"),
        Flag("--days", VALUE, "number", "cleanup: older than this (else cleanupPeriodDays)", check="number"),
        Flag("--dry-run", SWITCH, "", "rewind, cleanup: only say what would happen"),
        Flag("-y --yes", SWITCH, "", "do not ask before deleting"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge sessions", "the conversations of this directory"),
        ("forge sessions search 'race condition' --all", "where was that?"),
        ("forge sessions show 3f2a", "read one"),
        ("forge sessions export 3f2a -o talk.md", "keep one as Markdown"),
        ("forge sessions rewind 3f2a --to UUID --dry-run", "what would going back change?"),
        ("forge sessions cleanup --days 90 --dry-run", "what is older than three months?"),
    ),
)

# Each action is a function `run(place, arguments) -> exit code`, imported when it is asked for.
ACTIONS = {
    "list": "sessions_list:list_rows",
    "search": "sessions_list:search",
    "show": "sessions_show:show",
    "export": "sessions_show:export",
    "rename": "sessions_change:rename",
    "delete": "sessions_change:delete",
    "cleanup": "sessions_change:cleanup",
    "rewind": "sessions_rewind:rewind",
}


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Does what the first word says; without one, lists."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    action, *words = given.words or ["list"]
    if action not in ACTIONS:
        raise unknown_word(COMMAND, action, tuple(ACTIONS))
    module, _, function = ACTIONS[action].partition(":")
    place = open_place(line, env, given)
    perform: Callable[[Place, Arguments], int] = getattr(import_module(f"forge.hosts.cli.{module}"), function)
    try:
        return perform(place, Arguments(words, given.values))
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UsageError(f"{where}{error.strerror}") from None
