from __future__ import annotations

import pytest

from forge.foundation.errors import UsageError
from forge.hosts.cli.command import Arguments, Command, help_text, read_arguments, take_words, unknown_word
from forge.hosts.cli.flags import COMMANDS, SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine, parse, parse_with

COMMAND = Command(
    name="try",
    usage=("try [DIR]", "try --list"),
    about="Tries something.",
    flags=(Flag("--list", SWITCH, "", "only list"), Flag("--to", VALUE, "place", "where to")),
    examples=(("forge try", "try it"), ("forge try --to somewhere/far/away here", "far away")),
)


def line(*rest: str) -> CommandLine:
    given = CommandLine()
    given.rest = list(rest)
    return given


def test_help_has_usage_options_and_examples() -> None:
    assert help_text(COMMAND) == (
        "Usage: forge try [DIR]\n"
        "       forge try --list\n"
        "\n"
        "Tries something.\n"
        "\n"
        "Options:\n"
        "  --list        only list\n"
        "  --to <place>  where to\n"
        "  -h, --help    print this help\n"
        "\n"
        "Examples:\n"
        "  forge try                         try it\n"
        "  forge try --to somewhere/far/away here\n"
        "      far away"
    )


def test_arguments_are_read_by_the_table_of_the_command() -> None:
    assert read_arguments(COMMAND, line("here", "--to=x", "--list")) == Arguments(
        ["here"], {"to": "x", "list": True}
    )


def test_asking_for_help_prints_it_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_arguments(COMMAND, line("--help")) is None
    assert capsys.readouterr().out.startswith("Usage: forge try")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--lost"], "error: unknown option '--lost'\n(Did you mean --list?)"),
        (["--to"], "error: option '--to <place>' argument missing"),
    ],
)
def test_wrong_options_point_to_the_help(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_arguments(COMMAND, line(*words))
    assert (caught.value.message, caught.value.hint) == (message, "See: forge try --help")


def test_words_are_counted() -> None:
    assert take_words(COMMAND, ["a"], ("KEY", "VALUE"), optional=1) == ["a", ""]
    with pytest.raises(UsageError, match="VALUE is missing"):
        take_words(COMMAND, ["a"], ("KEY", "VALUE"))
    with pytest.raises(UsageError, match="'b' is not expected"):
        take_words(COMMAND, ["a", "b"], ("KEY",))


def test_unknown_words_get_the_nearest_known_one() -> None:
    assert "Did you mean 'unset'?" in str(unknown_word(COMMAND, "unsett", ("set", "unset")))


def test_subcommand_gets_everything_after_its_name() -> None:
    given = parse(["--model", "m", "config", "set", "-x", "--project"])
    assert (given.command, given.rest, given.values) == ("config", ["set", "-x", "--project"], {"model": "m"})


def test_tables_without_commands_take_every_word_as_it_is() -> None:
    assert parse_with((), list(COMMANDS)).words == list(COMMANDS)
