from __future__ import annotations

import asyncio
import io
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.agent.event import (
    AgentSaid,
    ApiFailed,
    Denied,
    HookEnded,
    JobEnded,
    JobStarted,
    Replied,
    Streaming,
    ToolFinished,
    TurnEnded,
)
from forge.agent.host import AskPermission, Refuse
from forge.agent.rewind import Change
from forge.core.job import Job, JobEnd
from forge.core.message import Text, ToolResult, ToolUse, Usage
from forge.core.model import BlockDelta, BlockFinished
from forge.core.models.scripted import load_scenario
from forge.foundation.permissions.situation import Decision
from forge.hosts.cli.screen import Screen
from forge.hosts.cli.tour import Check, Stage, build_stage, load_tour, write_settings
from forge.hosts.cli.tour_check import CHECKS, Evidence, Finding, examine
from forge.hosts.cli.tour_host import Rewound, TourHost
from forge.hosts.cli.tour_lines import result_lines, result_size, subject
from forge.hosts.options import RunOptions

TOUR = load_tour()
PUSH = ToolUse("c1", "Bash", {"command": "git push"})
READ = ToolUse("c3", "Read", {"file_path": "/shop/a.py"})


async def _never() -> JobEnd:
    raise AssertionError


AGENT = Job("a1", "local_agent", "Look", _never, agent_type="Explore", backgrounded=False)
PROOF = Job("b1", "local_bash", "Proof print", _never, command="sleep 1")
ENDED = TurnEnded("success", "completed", False, 1, "end_turn", Usage(input=1000, output=234))


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
        "https_proxy": "http://secret",
    }
    stage = build_stage(TOUR, str(tmp_path), mine)
    assert not any("secret" in value for value in stage.env.values())
    assert not any("/home/me" in value for value in stage.env.values())
    assert (stage.env["LANG"], stage.env["HOME"]) == ("C.UTF-8", f"{stage.directory}/home")
    assert (stage.env["TMPDIR"], stage.options.model) == (f"{stage.directory}/tmp", "tour/scripted")


def test_settings_of_the_stage_are_those_of_the_story_and_the_place_of_its_model(tmp_path: Path) -> None:
    stage = build_stage(TOUR, str(tmp_path), {"PATH": "/usr/bin:/bin"})
    write_settings(TOUR, stage, "http://127.0.0.1:1")
    written = json.loads((tmp_path / "settings.json").read_text())
    assert written.pop("providers")["tour"]["baseUrl"] == "http://127.0.0.1:1"
    (group,) = written.pop("hooks")["Stop"]
    assert [shlex.split(hook["command"])[1] for hook in group["hooks"]] == [str(tmp_path / "review.py")]
    assert written == TOUR.settings
    assert (tmp_path / "bookshop" / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_events_are_told_in_order() -> None:
    out = io.StringIO()
    host = TourHost(TOUR, "/shop", Screen(out, colour=False, width=60))
    host.present(TOUR.steps[0])
    host.emit(Streaming(BlockDelta({}, 0, "text", "I publish"), "m"))
    host.emit(Streaming(BlockFinished({}, 0, Text("I publish")), "m"))
    host.emit(Denied(PUSH, "not allowed"))
    host.emit(finished(PUSH, "Permission denied.", error=True))
    told = out.getvalue().splitlines()
    assert told[1].startswith("1/9 First the model asks")
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
        (ToolUse("c", "Read", {"file_path": "/tmp/b1.output"}), "its output"),
        (ToolUse("c", "Agent", {"subagent_type": "Plan", "description": "Think"}), "Plan: Think"),
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
            [("(6 lines above)", "dim"), *((line, "red") for line in LINES[6:])],
        ),
        (
            finished(ToolUse("c", "Grep", {}), "\n".join(LINES)),
            [*((line, "dim") for line in LINES[:4]), ("(6 more lines)", "dim")],
        ),
        (
            finished(
                ToolUse("c", "Edit", {}), "done", {"structuredPatch": [{"lines": [" a", "-b", "+c", " d"]}]}
            ),
            [(" a", "dim"), ("-b", "red"), ("+c", "green")],
        ),
        (finished(READ, "1\ta", {"file": {"content": "a\nb\n"}}), [("a", "dim"), ("b", "dim")]),
        (finished(READ, "1\ta", {"file": {"content": "a\n" * 7}}), [("7 lines", "dim")]),
        (
            finished(ToolUse("c", "Bash", {"run_in_background": True}), "Command running in …"),
            [("goes on in the background", "dim")],
        ),
    ],
)
def test_results_are_shown_in_a_few_lines(event: ToolFinished, lines: list[tuple[str, str]]) -> None:
    assert result_lines(event) == lines


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (finished(READ, "1\ta", {"file": {"content": "a\n" * 7}}), "7 lines"),
        (finished(ToolUse("c", "Grep", {}), "one"), "1 line"),
        (finished(READ, "gone", error=True), "failed"),
    ],
)
def test_results_of_a_sub_agent_are_told_in_a_word_or_two(event: ToolFinished, words: str) -> None:
    assert result_size(event) == words


def told_by(*events: Any) -> tuple[TourHost, list[str]]:
    out = io.StringIO()
    host = TourHost(TOUR, "/shop", Screen(out, colour=False, width=60))
    for event in events:
        host.emit(event)
    return host, out.getvalue().splitlines()


def test_sub_agent_is_shown_beside_a_line_of_its_own_with_its_usage() -> None:
    call = finished(ToolUse("c", "Agent", {}), "report")
    host, told = told_by(
        JobStarted(AGENT),
        AgentSaid(AGENT, finished(READ, "1\ta", {"file": {"content": "a\n"}})),
        AgentSaid(AGENT, Replied("u", {}, Text("Found it."))),
        AgentSaid(AGENT, ENDED),
        JobEnded(AGENT, JobEnd("completed", "done", usage={"tool_uses": 1})),
        call,
    )
    assert told == [
        "  ● Agent Explore: Look",
        "    │ ● Read a.py: 1 line",
        "    │ ◆ Found it.",
        "    │ its own conversation: 1 tool call, about 1,234 tokens",
    ]
    assert (host.finished, host.usage, host.agent_usage) == ([call], Usage(), ENDED.usage)


def test_end_of_a_job_is_told_when_the_sentence_is_over() -> None:
    _, told = told_by(
        JobStarted(PROOF),
        Streaming(BlockDelta({}, 0, "text", "I am"), "m"),
        JobEnded(PROOF, JobEnd("failed", "Proof print failed")),
        Streaming(BlockDelta({}, 0, "text", " busy"), "m"),
        Streaming(BlockFinished({}, 0, Text("I am busy")), "m"),
    )
    assert told == ["  ◆ I am busy", "", "  » Proof print failed"]


@pytest.mark.parametrize(
    ("code", "shown"), [(0, []), (2, ["│ - a.py (lines 1-2): rejected", "│ comment: no"])]
)
def test_a_review_is_shown_when_it_objects(code: int, shown: list[str]) -> None:
    out = io.StringIO()
    host = TourHost(TOUR, "/shop", Screen(out, colour=False, width=60))
    said = "[diffy review result]\nrejected 1 of 2 hunks.\n\n- a.py (lines 1-2): rejected\n  comment: no\n"
    host.emit(HookEnded("1", "Stop", "Stop", said, "", said, code, "error"))
    assert [line.strip() for line in out.getvalue().splitlines() if "│" in line] == shown
    assert len(host.reviews) == bool(code)


def test_rewind_says_which_files_came_back() -> None:
    out = io.StringIO()
    host = TourHost(TOUR, "/shop", Screen(out, colour=False, width=60))
    host.rewind("Back.", Rewound([Change("/shop/a.py", "x@v1", 2, 1), Change("/shop/b.py", None, 0, 3)], []))
    assert out.getvalue().splitlines() == [
        "",
        "1/9 Back.",
        "  « Rewind to before the first request",
        "    │ restored a.py (+2 -1)",
        "    │ removed b.py (+0 -3)",
    ]


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
        (Check("delegated", "x"), "agent.jsonl: No such file or directory"),
        (Check("background", "x", command="sleep 1"), "nothing was done while `sleep 1` ran"),
        (Check("background", "x", command="true"), "`true` did not end in the background"),
        (Check("rewound", "x", path="a"), "taken back: b"),
        (Check("rewound", "x", path="b"), "git still saw changes in: b"),
    ],
)
def test_checks_see_what_did_not_come_true(tmp_path: Path, check: Check, problem: str) -> None:
    host = TourHost(TOUR, "/shop", None)
    host.emit(finished(PUSH, "pushed"))
    host.emit(finished(ToolUse("c2", "Bash", {"command": "false"}), ""))
    agent = msgspec.structs.replace(AGENT, output_path=str(tmp_path / "agent.jsonl"))
    for job, status in ((agent, "completed"), (PROOF, "failed")):
        host.emit(JobStarted(job))
        host.emit(JobEnded(job, JobEnd(status, "over")))
    host.rewind("back", Rewound([Change(str(tmp_path / "b"), None, 0, 1)], ["b"]))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    story = msgspec.structs.replace(TOUR, checks=[check])
    (finding,) = examine(story, evidence(host, tmp_path))
    assert (finding.ok, finding.problem.removeprefix(f"{tmp_path}/")) == (False, problem)


def test_checks_are_satisfied_by_what_did(tmp_path: Path) -> None:
    host = TourHost(TOUR, "/shop", None)
    host.emit(Denied(PUSH, "no"))
    host.emit(finished(PUSH, "no", error=True))
    story = msgspec.structs.replace(TOUR, checks=[Check("refused", "was refused", command="git push")])
    assert examine(story, evidence(host, tmp_path)) == [Finding("was refused", True)]
