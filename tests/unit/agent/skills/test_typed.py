from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import CARD, RecordingHost, ScriptedModel, allow, deny
from forge.agent.event import TurnEnded
from forge.agent.hooks.port import NOTHING, Outcome, Told
from forge.agent.hooks.port import Block as Objection
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import Skill
from forge.core.message import Text
from forge.core.registry import Component
from forge.core.tools.builtin import builtin_tools
from forge.foundation.origin import BUILTIN
from unit.agent.skills.bench import build, skill, texts


def typed(words: str, *skills: Skill, **facts: Any) -> tuple[Session, TurnEnded, ScriptedModel]:
    model = ScriptedModel([[Text("done")]])
    s = build(model, *skills, **facts)
    return s, asyncio.run(run_turn(s, Prompt(words, "p1"))), model


@pytest.mark.requirement("S0-22")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "/dup abc",
            [
                "<command-message>dup</command-message>\n<command-name>/dup</command-name>\n"
                "<command-args>abc</command-args>\n",
                "Again: abc\n",
            ],
        ),
        (
            "/dup\tone\ntwo ",
            [
                "<command-message>dup</command-message>\n<command-name>/dup</command-name>\n"
                "<command-args>one\ntwo</command-args>\n",
                "Again: one\ntwo\n",
            ],
        ),
        (
            "/dup",
            ["<command-message>dup</command-message>\n<command-name>/dup</command-name>\n", "Again: \n"],
        ),
        (" /dup abc", [" /dup abc"]),
        ("say /dup", ["say /dup"]),
    ],
)
def test_a_typed_command_becomes_its_text(words: str, expected: list[str]) -> None:
    s, _, _ = typed(words, skill("dup", "Again: $ARGUMENTS\n"))
    assert texts(s)[-len(expected) :] == expected
    assert len(texts(s)) == len(expected) + 1


def test_a_skill_says_where_it_lives() -> None:
    s, _, _ = typed("/dup", skill("dup", "Body\n", root="/skills/dup"))
    assert texts(s)[-1] == "Base directory for this skill: /skills/dup\n\nBody\n"


@pytest.mark.requirement("S0-21")
def test_what_only_the_model_may_use_is_answered_without_it() -> None:
    _, ended, model = typed("/hidden", skill("hidden", user_invocable=False))
    assert model.requests == []
    assert (ended.subtype, ended.is_error, ended.result) == (
        "success",
        False,
        "This skill can only be invoked by Claude, not directly by users."
        ' Ask Claude to use the "hidden" skill for you.',
    )


@pytest.mark.parametrize(("words", "near"), [("/dupe x", "/dup"), ("/p:nothing", "")])
def test_an_unknown_command_is_passed_on_with_a_note(words: str, near: str) -> None:
    s, _, model = typed(words, skill("dup"))
    note, said = texts(s)[-2:]
    assert said == words
    name = words.split()[0]
    assert note.startswith(
        f"<system-reminder>\nThe user's message starts with the slash command {name}, but no "
    )
    assert ("closest available command is" in note) is bool(near)
    assert len(model.requests) == 1


@pytest.mark.parametrize("words", ["/usr/bin/env is missing", "/ hello"])
def test_a_path_is_no_command(words: str) -> None:
    s, _, _ = typed(words, skill("dup"))
    assert texts(s)[-1] == words
    assert "slash command" not in texts(s)[-2]


@pytest.mark.requirement("S0-20")
def test_a_typed_skill_brings_its_model_and_effort_for_the_turn() -> None:
    other = ScriptedModel([[Text("from the other")]])
    other.card = msgspec.structs.replace(CARD, id="other")
    s, ended, model = typed(
        "/dup", skill("dup", model="other", effort="low"), changes={"open_model": lambda name: other}
    )
    assert ended.result == "from the other"
    assert [r.options.effort for r in other.requests] == ["low"]
    assert model.requests == []
    assert (s.model, s.parts.options.effort) == (model, "")


def test_a_typed_fork_is_the_result_of_the_turn() -> None:
    s, ended, model = typed("/apart z", skill("apart", "Task [$0]\n", fork=True))
    assert ended.result == "done"
    (request,) = model.requests
    assert [b.text for b in request.messages[0].blocks if isinstance(b, Text)][-1] == "Task [z]\n"
    assert [m.role for m in s.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("body", "facts", "rules", "expected"),
    [
        ("now: !`echo hi $0`\n", {}, [], "now: hi x\n"),
        ("```!\necho a\necho b\n```\n", {}, [], "a\nb\n"),
        ("!`true`\n", {}, [], "(Bash completed with no output)\n"),
        ("no!`echo hi` $0", {}, [], "no!`echo hi` x"),
        ("!`touch made; echo made`", {"allowed_tools": ["Bash(touch:*)", "Bash(echo:*)"]}, [], "made"),
    ],
)
def test_commands_in_a_text_are_replaced_by_their_output(
    body: str, facts: dict[str, Any], rules: list[Any], expected: str, tmp_path: Path
) -> None:
    s, _, _ = typed("/sh x", skill("sh", body, **facts), rules=rules, **bash_in(tmp_path))
    assert texts(s)[-1].removesuffix("\n\nARGUMENTS: x") == expected


@pytest.mark.parametrize(
    ("body", "rules", "start"),
    [
        (
            "!`touch made`",
            [],
            'Shell command permission check failed for pattern "!`touch made`": touch in ',
        ),
        (
            "!`echo hi`",
            deny("Bash"),
            'Shell command permission check failed for pattern "!`echo hi`": Permission to use Bash has been',
        ),
        (
            "!`echo partial; exit 3`",
            allow("Bash"),
            'Shell command failed for pattern "!`echo partial; exit 3`": [stderr]\npartial',
        ),
    ],
)
def test_a_command_that_may_not_run_or_fails_ends_the_turn(
    body: str, rules: list[Any], start: str, tmp_path: Path
) -> None:
    _, ended, model = typed("/sh", skill("sh", body), rules=rules, **bash_in(tmp_path))
    assert model.requests == []
    assert ended.subtype == "success"
    assert ended.result.startswith(start)
    assert os.listdir(tmp_path / "project") == []


def test_a_policy_switches_commands_off(tmp_path: Path) -> None:
    def setting(key: str, default: Any) -> Any:
        return True if key == "disableSkillShellExecution" else default

    s, _, _ = typed("/sh", skill("sh", "a !`echo hi`"), changes={"setting": setting}, cwd=str(tmp_path))
    assert texts(s)[-1] == "a [shell command execution disabled by policy]"


@pytest.mark.parametrize("name", ["compact", "help", "clear", "context"])
def test_a_command_of_the_user_comes_before_one_of_the_program(name: str) -> None:
    s, ended, model = typed(f"/{name}", skill(name, "Mine.\n"))
    assert (texts(s)[-1], ended.result, len(model.requests)) == ("Mine.\n", "done", 1)


def test_names_in_quotes_are_read_first_and_line_ends_separate_the_texts(tmp_path: Path) -> None:
    for name in ("a.txt", "b c.txt"):
        (tmp_path / name).write_text(name)
    body = '@a.txt @"b c.txt"\n'
    s, _, _ = typed("/m", skill("m", body), tools=builtin_tools(), cwd=str(tmp_path))
    found = [t for t in texts(s) if "Read tool" in t]
    assert [("b c.txt" in t, t.endswith(">\n")) for t in found] == [
        (True, False),
        (True, True),
        (False, True),
        (False, False),
    ]


def test_files_a_text_mentions_are_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("line\n")
    s, _, _ = typed("/m", skill("m", "See @notes.txt\n"), tools=builtin_tools(), cwd=str(tmp_path))
    found = [t for t in texts(s) if "Read tool" in t]
    assert [t.partition("\n")[2][:20] for t in found] == ["Called the Read tool", "Result of calling th"]


class Objecting:
    """Hooks that answer UserPromptExpansion."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.seen: list[dict[str, Any]] = []

    async def fire(self, event: str, **payload: Any) -> Outcome:
        if event != "UserPromptExpansion":
            return NOTHING
        self.seen.append(payload)
        return self.outcome


def test_hooks_hear_of_a_typed_command_and_may_add_to_it() -> None:
    hooks = Objecting(Outcome(told=[Told("hook_additional_context", "mind the gap")]))
    s, _, _ = typed("/dup a", skill("dup"), hooks=hooks)
    assert hooks.seen == [
        {
            "expansion_type": "slash_command",
            "command_name": "dup",
            "command_args": "a",
            "prompt": "/dup a",
            "command_source": "projectSettings",
        }
    ]
    assert "mind the gap" in texts(s)


def test_hooks_may_stop_a_typed_command() -> None:
    hooks = Objecting(Outcome(blocks=[Objection("h", "not today")]))
    _, ended, model = typed("/dup a", skill("dup"), hooks=hooks)
    assert model.requests == []
    assert ended.result.startswith("UserPromptExpansion operation blocked by hook:\nnot today")


@pytest.mark.parametrize("words", ["ask @agent-helper please", 'ask @"helper (agent)" please'])
def test_a_mentioned_agent_is_pointed_out(words: str) -> None:
    model = ScriptedModel([[Text("done")]])
    s = build(model)
    s.parts.agents.add(Component("helper", AgentType("helper", "d", "p"), BUILTIN))
    asyncio.run(run_turn(s, Prompt(words, "p1")))
    assert words in texts(s)
    assert any(t.startswith('The user\'s message mentions the agent "helper"') for t in texts(s))


def test_an_opening_goes_before_the_first_prompt_only() -> None:
    s = build(ScriptedModel([]), host=RecordingHost())
    s.keep(Ecosystem).opening = "First this."
    asyncio.run(run_turn(s, Prompt("then that", "p1")))
    asyncio.run(run_turn(s, Prompt("and more", "p2")))
    assert texts(s)[-2:] == ["First this.\n\nthen that", "and more"]


def bash_in(place: Path) -> dict[str, Any]:
    (place / "project").mkdir()
    return {
        "cwd": str(place / "project"),
        "changes": {"env": dict(os.environ), "results_dir": str(place / "r")},
    }
