"""The command line and the environment the CLI is started with."""

from __future__ import annotations

import pytest

from forge.core.model import Options
from forge.core.models.claude_cli.argv import Start, arguments
from forge.core.models.claude_cli.capabilities import abilities, read_version
from forge.core.models.claude_cli.environment import cli_environment

BASE = ["-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
CHOICE = ["--model", "sonnet", "--permission-prompt-tool", "stdio"]
APART = ["--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"]
UNKEPT = ["--no-session-persistence", "--tools"]
PARTIAL = "--include-partial-messages"


@pytest.mark.requirement("S4-05")
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((1, 0, 30), [*BASE, *CHOICE]),
        ((1, 0, 109), [*BASE, PARTIAL, *CHOICE]),
        ((2, 0, 0), [*BASE, PARTIAL, *CHOICE]),
        ((2, 1, 88), [*BASE, PARTIAL, *CHOICE, *APART, *UNKEPT, ""]),
        ((2, 1, 325), [*BASE, PARTIAL, *CHOICE, *APART, *UNKEPT, "", "--effort", "low"]),
    ],
)
def test_each_version_gets_only_the_flags_it_knows(
    version: tuple[int, int, int], expected: list[str]
) -> None:
    assert arguments(Start("sonnet", Options(effort="low")), abilities(version)) == expected


def test_in_agent_mode_it_has_the_tools_forge_offers_but_those_that_leave_something_open() -> None:
    names = ["Bash", "Read", "AskUserQuestion", "ExitPlanMode", "CronCreate", "mcp__files__list"]
    start = Start("opus", Options(), tools=names, history="/h.jsonl", folders=["/a", "/b"])
    argv = arguments(start, abilities((2, 1, 325)))
    assert argv[argv.index("--tools") :] == [
        *("--tools", "Bash,Read"),
        *("--add-dir", "/a", "--add-dir", "/b"),
        *("--resume", "/h.jsonl"),
    ]


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        (Options(), []),
        (Options(thinking="disabled"), ["--thinking", "disabled"]),
        (
            Options(thinking="enabled", thinking_budget=4000),
            ["--thinking", "enabled", "--max-thinking-tokens", "4000"],
        ),
        (Options(thinking_display="summarized"), ["--thinking-display", "summarized"]),
        (Options(thinking_display="updates", effort="extreme"), []),
    ],
)
def test_wishes_it_would_refuse_are_not_passed_on(options: Options, flags: list[str]) -> None:
    argv = arguments(Start("sonnet", options), abilities((2, 1, 325)))
    assert argv[argv.index("--tools") + 2 :] == flags


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("2.1.325 (Claude Code)", (2, 1, 325)),
        ("0.2.126\n", (0, 2, 126)),
        ("2.2.0-beta.1 (Claude Code)", (2, 2, 0)),
        ("claude: not a version", None),
        ("2.1", None),
        ("", None),
        ("²¹.1.1", None),
    ],
)
def test_a_version_is_three_numbers(printed: str, version: tuple[int, int, int] | None) -> None:
    assert read_version(printed) == version


def test_marks_of_a_surrounding_cli_are_removed_but_not_the_account() -> None:
    env = {
        "PATH": "/bin",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SSE_PORT": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "CLAUDE_CONFIG_DIR": "/c",
        "FORGE_HOME": "/f",
    }
    assert cli_environment(env, max_tokens=500) == {
        "PATH": "/bin",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "CLAUDE_CONFIG_DIR": "/c",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "500",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "DISABLE_AUTO_COMPACT": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }
