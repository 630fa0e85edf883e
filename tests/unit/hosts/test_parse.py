from __future__ import annotations

import pytest

from forge.foundation.errors import UsageError
from forge.hosts.cli.parse import parse, window
from forge.hosts.options import RunOptions, read_options


@pytest.mark.parametrize(
    ("argv", "values", "words"),
    [
        (["-p", "hello", "world"], {"print": True}, ["hello", "world"]),
        (["-pc", "x"], {"print": True, "continue_": True}, ["x"]),
        (["--model=a", "--model", "b"], {"model": "b"}, []),
        (
            ["--allowedTools", "Bash(git *)", "Edit", "-p", "x"],
            {"allowed_tools": ["Bash(git *)", "Edit"], "print": True},
            ["x"],
        ),
        (["--allowed-tools=A", "--allowedTools", "B"], {"allowed_tools": ["A", "B"]}, []),
        (["--resume", "-p"], {"resume": True, "print": True}, []),
        (["-r", "abc", "-p"], {"resume": "abc", "print": True}, []),
        (["--tools", ""], {"tools": [""]}, []),
        (["--system-prompt", ""], {"system_prompt": ""}, []),
        (["--append-system-prompt", "-x"], {"append_system_prompt": "-x"}, []),
        (["--plugin-dir", "a", "--plugin-dir", "b"], {"plugin_dir": ["a", "b"]}, []),
        (["--", "-p", "text"], {}, ["-p", "text"]),
        (["--permission-mode", "default"], {"permission_mode": "default"}, []),
        (["--forward-subagent-text", "hi"], {"forward_subagent_text": True}, ["hi"]),
        (["-"], {}, ["-"]),
    ],
)
def test_flags_are_read_as_the_reference_reads_them(
    argv: list[str], values: dict[str, object], words: list[str]
) -> None:
    line = parse(argv)
    assert (line.values, line.words) == (values, words)


def test_a_command_takes_the_rest_of_the_line() -> None:
    line = parse(["--verbose", "config", "get", "--json"])
    assert (line.command, line.rest, line.values) == ("config", ["get", "--json"], {"verbose": True})


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--zzz"], "error: unknown option '--zzz'"),
        (["-pz"], "error: unknown option '-pz'"),
        (["--modell", "x"], "error: unknown option '--modell'\n(Did you mean --model?)"),
        (["--model"], "error: option '--model <model>' argument missing"),
        (["--allowedTools"], "error: option '--allowedTools, --allowed-tools <tools...>' argument missing"),
        (
            ["--output-format", "xml"],
            "error: option '--output-format <format>' argument 'xml' is invalid."
            " Allowed choices are text, json, stream-json.",
        ),
        (
            ["--permission-mode", "foo"],
            "error: option '--permission-mode <mode>' argument 'foo' is invalid."
            " Allowed choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan.",
        ),
        (
            ["--max-turns", "abc"],
            "error: option '--max-turns <turns>' argument 'abc' is invalid. must be a number",
        ),
        (
            ["--max-budget-usd", "0"],
            "error: option '--max-budget-usd <amount>' argument '0' is invalid."
            " --max-budget-usd must be a positive number greater than 0",
        ),
    ],
)
def test_wrong_flags_get_the_words_scripts_know(argv: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(argv)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["-p", "x", "--output-format", "stream-json"],
            "Error: When using --print, --output-format=stream-json requires --verbose",
        ),
        (
            ["-p", "--input-format", "stream-json"],
            "Error: --input-format=stream-json requires output-format=stream-json.",
        ),
        (["-p", "--session-id", "x"], "Error: Invalid session ID. Must be a valid UUID."),
        (
            ["-p", "--resume"],
            "Error: --resume requires a valid session ID or session title when used with --print."
            " Usage: forge -p --resume <session-id|title>",
        ),
        (["-p", "x", "--resume-session-at", "u"], "Error: --resume-session-at requires --resume"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(argv: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_options(parse(argv))
    assert str(error.value) == message


def test_numbers_are_converted() -> None:
    o = read_options(
        parse(["-p", "hi", "--max-turns", "3", "--max-budget-usd", "0.5", "--max-thinking-tokens", "8000"])
    )
    assert o == RunOptions(prompt="hi", print=True, max_turns=3, max_budget_usd=0.5, max_thinking_tokens=8000)


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ("auto", 0),
        ("100k", 100_000),
        ("1M", 1_000_000),
        ("200000", 200_000),
        ("200", 200_000),
        ("50k", None),
        ("2M", None),
        ("abc", None),
        ("", None),
    ],
)
def test_the_size_of_a_window(value: str, tokens: int | None) -> None:
    assert window(value) == tokens


def test_a_window_of_no_size_is_refused() -> None:
    with pytest.raises(UsageError, match="It must be 'auto', or between 100k and 1M"):
        parse(["--autocompact", "50k"])
