"""`forge trust`: says or changes whether the files of a checkout may allow things and run programs."""

from __future__ import annotations

import sys

from forge.foundation.errors import UsageError
from forge.foundation.paths import Places, find_places, trust_key
from forge.foundation.trust import is_trusted, read_trust, trust, untrust
from forge.hosts.cli.command import NO_COLOR, Command, named_directory, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import load_configuration
from forge.hosts.options import read_options

COMMAND = Command(
    name="trust",
    usage=("trust [DIR]", "trust --status [DIR]", "trust --remove [DIR]"),
    about=(
        "Settings that come with a repository may always forbid things. They may allow commands, add "
        "directories, and name programs or servers that see your keys only after you have trusted the "
        "repository. Trust belongs to the repository's root directory; without a repository, to the "
        "directory itself."
    ),
    flags=(
        Flag("--status", SWITCH, "", "only say whether it is trusted; ends with 1 if it is not"),
        Flag("--remove", SWITCH, "", "stop trusting it"),
        NO_COLOR,
    ),
    examples=(
        ("forge trust", "trust the repository you are in"),
        ("forge trust --status ../other", "ask about another one"),
        ("forge trust --remove", "take it back"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Trusts, or asks about, or stops trusting a directory."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    (word,) = take_words(COMMAND, given.words, ("DIR",), optional=1)
    if given.on("status") and given.on("remove"):
        raise UsageError("Only one of --status and --remove can be meant.")
    directory = named_directory(word)
    places = find_places(env, directory)
    screen = open_screen(env, plain=given.on("no_color"))
    if given.on("status"):
        return _status(places, screen)
    if given.on("remove"):
        return _remove(places, screen)
    ignored = (
        load_configuration(read_options(line), env, directory).diagnostics if not is_trusted(places) else []
    )
    return _trust(places, [note.key for note in ignored if "trusted" in note.message], screen)


def _status(places: Places, screen: Screen) -> int:
    trusted, notes = read_trust(places)
    screen.line(f"{trust_key(places)} is {'trusted' if trusted else 'not trusted'}.")
    for note in notes:
        sys.stderr.write(f"{note}\n")
    return 0 if trusted else 1


def _trust(places: Places, ignored: list[str], screen: Screen) -> int:
    already = is_trusted(places)
    if not already:
        trust(places)
    screen.line(f"{trust_key(places)} is {'already' if already else 'now'} trusted.")
    if ignored:
        screen.say(f"What its settings say about {', '.join(dict.fromkeys(ignored))} counts from now on.")
    return 0


def _remove(places: Places, screen: Screen) -> int:
    untrust(places)
    if not is_trusted(places):
        screen.line(f"{trust_key(places)} is not trusted any more.")
        return 0
    sys.stderr.write(
        f"{trust_key(places)} is still trusted, because {places.claude_state} says so.\n"
        "Remove hasTrustDialogAccepted from its entry there.\n"
    )
    return 1
