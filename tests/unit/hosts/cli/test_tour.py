from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import ScriptedModel
from forge.agent.event import ApiFailed, Denied, Requesting, Streaming, ToolFinished
from forge.agent.host import AskPermission, Refuse
from forge.core.message import Message, Text, ToolResult, ToolUse
from forge.core.model import BlockDelta, BlockFinished, Request
from forge.core.models.scripted import load_scenario
from forge.foundation.permissions.situation import Decision
from forge.hosts.cli.screen import Screen
from forge.hosts.cli.tour import Check, Stage, build_stage, load_tour
from forge.hosts.cli.tour_check import CHECKS, Evidence, Finding, examine
from forge.hosts.cli.tour_host import PacedModel, TourHost, reading_times, result_lines, subject
from forge.hosts.options import RunOptions

TOUR = load_tour()
PUSH = ToolUse("c1", "Bash", {"command": "git push"})


def finished(call: ToolUse, text: str, data: Any = None, *, error: bool | None = None) -> ToolFinished:
    return ToolFinished("u", call, ToolResult(call.id, text, error), data)


def evidence(host: TourHost, directory: Path) -> Evidence:
    stage = Stage(str(directory), str(directory), {"PATH": "/usr/bin:/bin"}, RunOptions())
    return Evidence(stage, host, str(directory / "none.jsonl"))


def test_every_check_of_the_story_is_of_a_known_kind() -> None:
    assert {check.kind for check in TOUR.checks} <= set(CHECKS)


def test_dangerous_command_of_the_story_is_denied_by_its_own_settings() -> None:
    asked = [
        block["input"]["command"] for step in TOUR.steps for block in step.turn if block.get("tool") == "Bash"
    ]
    assert [command for command in asked if "push" in command] == ["git push --force origin main"]
    assert "Bash(git push *)" in TOUR.settings["permissions"]["deny"]


def test_scenario_that_can_be_named_only_reads() -> None:
    blocks = [block for turn in load_scenario("tour").turns for block in turn]
    assert [block["input"].get("command", block["tool"]) for block in blocks if "tool" in block] == [
        "ls",
        "Glob",
    ]


def test_stage_hands_over_neither_keys_nor_configuration(tmp_path: Path) -> None:
    mine = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "ANTHROPIC_API_KEY": "secret",
        "MY_TOKEN": "secret",
        "CLAUDE_CONFIG_DIR": "/home/me/.claude",
        "FORGE_HOME": "/home/me/.forge",
        "GIT_DIR": "/home/me/repo/.git",
    }
    stage = build_stage(TOUR, str(tmp_path), mine)
    assert "secret" not in stage.env.values() and not any("/home/me" in value for value in stage.env.values())
    assert (stage.env["LANG"], stage.env["HOME"]) == ("C.UTF-8", f"{stage.directory}/home")
    assert stage.options.model == f"scripted/{stage.directory}/scenario.json"


def test_stage_names_its_own_directory_in_the_script(tmp_path: Path) -> None:
    stage = build_stage(TOUR, str(tmp_path), {"PATH": "/usr/bin:/bin"})
    script = (tmp_path / "scenario.json").read_text()
    assert "{cwd}" not in script
    assert f'"file_path": "{stage.repository}/pages.py"' in script
    assert json.loads((tmp_path / "settings.json").read_text()) == TOUR.settings
    assert (tmp_path / "bookshop" / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_events_are_told_in_order() -> None:
    out = io.StringIO()
    host = TourHost(TOUR, "/shop", Screen(out, colour=False, width=60))
    host.emit(Requesting())
    host.emit(Streaming(BlockDelta({}, 0, "text", "I publish"), "m"))
    host.emit(Streaming(BlockFinished({}, 0, Text("I publish")), "m"))
    host.emit(Denied(PUSH, "not allowed"))
    host.emit(finished(PUSH, "Permission denied.", error=True))
    told = out.getvalue().splitlines()
    assert told[1].startswith("1/8 First the model asks")
    assert told[-4:] == [
        "  ◆ I publish",
        "  ✗ Bash git push",
        "    │ REFUSED by the permission rules. It did not run.",
        "    │ Permission denied.",
    ]


def test_nobody_is_asked_during_the_tour() -> None:
    host = TourHost(TOUR, "/shop", None)
    answer = asyncio.run(host.ask(AskPermission(PUSH, Decision("ask", "may I?"))))
    assert answer == Refuse("may I?", asked=False)


def test_failures_of_the_session_are_remembered() -> None:
    host = TourHost(TOUR, "/shop", None)
    host.emit(ApiFailed("u", "the model is gone", "connection"))
    assert host.troubles == ["the model is gone"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ToolUse("c", "Bash", {"command": "ls", "description": "x"}), "ls"),
        (ToolUse("c", "Grep", {"pattern": "x", "path": "/shop/a"}), "x"),
        (ToolUse("c", "Read", {"file_path": "/shop/a/b.py"}), "a/b.py"),
        (ToolUse("c", "Other", {"n": 1}), ""),
    ],
)
def test_calls_are_named_by_what_they_are_about(call: ToolUse, words: str) -> None:
    assert subject(call, "/shop") == words


LINES = [f"line {n}" for n in range(1, 11)]


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (finished(PUSH, "one\n\n\x1b[31mtwo"), [("one", "dim"), ("two", "dim")]),
        (
            finished(PUSH, "\n".join(LINES), error=True),
            [("(2 lines above)", "dim"), *((line, "red") for line in LINES[2:])],
        ),
        (
            finished(ToolUse("c", "Grep", {}), "\n".join(LINES)),
            [*((line, "dim") for line in LINES[:8]), ("(2 more lines)", "dim")],
        ),
        (
            finished(ToolUse("c", "Edit", {}), "done", {"structuredPatch": [{"lines": [" a", "-b", "+c"]}]}),
            [(" a", "dim"), ("-b", "red"), ("+c", "green")],
        ),
        (finished(ToolUse("c", "Read", {}), "1\ta", {"file": {"numLines": 7}}), [("7 lines", "dim")]),
    ],
)
def test_results_are_shown_in_a_few_lines(event: ToolFinished, lines: list[tuple[str, str]]) -> None:
    assert result_lines(event) == lines


def test_pauses_are_before_replies_and_between_words() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def play() -> int:
        model = PacedModel(ScriptedModel([[Text("a")], [Text("b")]]), [1.5], 0.25, sleep)
        request = Request("m", [], [Message("user", [Text("go")])], [])
        return sum([len([d async for d in model.stream(request)]) for _ in range(2)])

    assert asyncio.run(play()) > 2
    assert slept == [1.5, 0.25, 0.25]
    assert len(reading_times(TOUR)) == len(TOUR.steps) and max(reading_times(TOUR)) < 3


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (Check("failed", "x", command="git push"), "`git push` did not fail"),
        (Check("failed", "x", command="true"), "`true` was never called"),
        (Check("passes", "x", command="true"), "the session did not see `true` succeed"),
        (Check("passes", "x", command="false"), "`false` ends with code 1"),
        (Check("changed", "x", path="a"), "git sees changes in: nothing"),
        (Check("refused", "x", command="git push"), "`git push` was not refused"),
        (Check("refused", "x", command="true"), "`true` was never called"),
        (Check("recorded", "x"), "none.jsonl: No such file or directory"),
    ],
)
def test_checks_see_what_did_not_come_true(tmp_path: Path, check: Check, problem: str) -> None:
    host = TourHost(TOUR, "/shop", None)
    host.emit(finished(PUSH, "pushed"))
    host.emit(finished(ToolUse("c2", "Bash", {"command": "false"}), ""))
    story = msgspec.structs.replace(TOUR, checks=[check])
    (finding,) = examine(story, evidence(host, tmp_path))
    assert (finding.ok, finding.problem.removeprefix(f"{tmp_path}/")) == (False, problem)


def test_checks_are_satisfied_by_what_did(tmp_path: Path) -> None:
    host = TourHost(TOUR, "/shop", None)
    host.emit(Denied(PUSH, "no"))
    host.emit(finished(PUSH, "no", error=True))
    story = msgspec.structs.replace(TOUR, checks=[Check("refused", "was refused", command="git push")])
    assert examine(story, evidence(host, tmp_path)) == [Finding("was refused", True)]
