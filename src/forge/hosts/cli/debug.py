"""`forge debug`: looks into Forge itself; for people who work on it and for reports of mistakes."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec

from forge.core.models.claude_cli.report import read_run, report
from forge.foundation.errors import UsageError
from forge.hosts.cli.command import Arguments, Command, read_arguments, take_words, unknown_word
from forge.hosts.cli.flags import VALUE, Flag
from forge.hosts.cli.parse import CommandLine

_CHUNK = 1 << 16

COMMAND = Command(
    name="debug",
    usage=("debug map-claude-cli RUN.jsonl [--exit N] [--stderr TEXT]",),
    about=(
        "map-claude-cli reads what `claude -p --output-format stream-json --verbose` has printed (a file, or "
        "- for standard input) and prints what Forge makes of it as JSON: the parts, the changes of text on "
        "the way, sub-agents, and how the run ended."
    ),
    flags=(
        Flag("--exit", VALUE, "N", "the exit code of the run; negative or 128 + N for a signal (default 0)"),
        Flag("--stderr", VALUE, "TEXT", "what the run printed on standard error"),
    ),
    examples=(
        ("forge debug map-claude-cli run.jsonl", "a run that ended by itself"),
        ("forge debug map-claude-cli run.jsonl --exit 143", "one that was killed"),
    ),
)

_TOPICS = ("map-claude-cli",)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints the mapped run."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    topic, path = take_words(COMMAND, given.words, ("What to look into", "The file"))
    if topic not in _TOPICS:
        raise unknown_word(COMMAND, topic, _TOPICS)
    changes, outcome = read_run(_chunks(path), _exit_code(given), given.text("stderr"))
    for warning in outcome.warnings:
        sys.stderr.write(f"{warning}\n")
    if outcome.unknown:
        counted = ", ".join(f"{kind} ({number})" for kind, number in sorted(outcome.unknown.items()))
        sys.stderr.write(f"Not known, and ignored: {counted}\n")
    printed = msgspec.json.encode(report(changes, outcome))
    sys.stdout.write(msgspec.json.format(printed, indent=1).decode() + "\n")
    return 0


def _exit_code(given: Arguments) -> int:
    text = given.text("exit") or "0"
    if not text.removeprefix("-").isdecimal():
        raise UsageError(f"{text!r} is no exit code: a whole number is expected.", "Example: --exit 143")
    return int(text)


def _chunks(path: str) -> Iterator[bytes]:
    if path == "-":
        yield from iter(lambda: sys.stdin.buffer.read(_CHUNK), b"")
        return
    try:
        with open(path, "rb") as file:
            yield from iter(lambda: file.read(_CHUNK), b"")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.", "A file of lines is expected.") from None
