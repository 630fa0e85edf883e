from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, deny, echo, tool
from forge.agent.host import Allow
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.core.components.kinds import Skill
from forge.core.message import Text, ToolResult
from unit.agent.skills.bench import build, skill, texts

SKILLS = [
    skill("note", "Note [$ARGUMENTS]\n", display="Fancy Note"),
    skill("manual", model_invocable=False),
    skill("grants", "Grants.\n", allowed_tools=["Read"]),
    skill("hooked", hooks={"Stop": []}),
]


def used(
    *calls: dict[str, str], rules: list[Any] | None = None, host: RecordingHost | None = None
) -> Session:
    turns: list[Any] = [[call("Skill", f"call-{n}", **each)] for n, each in enumerate(calls)]
    s = build(ScriptedModel([*turns, [Text("end")]]), *SKILLS, rules=rules or [], host=host)
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    return s


def answer(s: Session) -> tuple[str, bool]:
    results = [b for m in s.messages for b in m.blocks if isinstance(b, ToolResult)]
    return str(results[-1].content), bool(results[-1].is_error)


@pytest.mark.requirement("S0-23")
def test_the_body_of_a_skill_follows_its_result() -> None:
    s = used({"skill": "note", "args": "x"})
    assert texts(s)[-2:] == ["Launching skill: note", "Note [x]\n"]


@pytest.mark.parametrize("asked", ["/note", "Fancy Note"])
def test_a_skill_is_found_by_its_other_names(asked: str) -> None:
    s = used({"skill": asked})
    assert texts(s)[-2:] == [f"Launching skill: {asked.removeprefix('/')}", "Note []\n"]


def test_the_same_skill_again_is_not_repeated() -> None:
    s = used({"skill": "note", "args": "x"}, {"skill": "note", "args": "x"}, {"skill": "note", "args": "y"})
    assert texts(s)[-5:] == [
        "Launching skill: note",
        "Skill /note is already loaded above; instructions unchanged. Arguments: x",
        "Launching skill: note",
        "(Re-invocation of /note — the skill instructions were previously loaded; the arguments or dynamic"
        " output below are new.)\n",
        "Note [y]\n",
    ]


@pytest.mark.requirement("S0-21")
@pytest.mark.parametrize(
    ("asked", "start"),
    [
        ("nothing", "<tool_use_error>Unknown skill: nothing"),
        ("nota", "<tool_use_error>Unknown skill: nota. Did you mean note?</tool_use_error>"),
        (
            "manual",
            "<tool_use_error>Skill manual cannot be used with Skill tool due to disable-model-invocation.",
        ),
        ("help", "<tool_use_error>help is a UI command, not a skill."),
        ("clear", "<tool_use_error>clear is a built-in CLI command, not a skill."),
        ("", "<tool_use_error>Invalid skill format: </tool_use_error>"),
        (
            "grants",
            "Execute skill: grants. The user can add the allow rule Skill(grants) to"
            " .claude/settings.local.json to let it run without asking.",
        ),
        ("hooked", "Execute skill: hooked."),
    ],
)
def test_a_skill_that_cannot_be_used_is_an_error(asked: str, start: str) -> None:
    words, failed = answer(used({"skill": asked}))
    assert failed
    assert words.startswith(start)


@pytest.mark.parametrize("rule", ["Skill", "Skill(grants)", "Skill(grants *)", "Skill(gr:*)"])
def test_an_allow_rule_lets_a_skill_grant_tools(rule: str) -> None:
    assert answer(used({"skill": "grants"}, rules=allow(rule))) == ("Launching skill: grants", False)


@pytest.mark.parametrize("rule", ["Skill(other)", "Skill(gran)", "Skill(gran *)"])
def test_a_rule_for_another_skill_does_not(rule: str) -> None:
    assert answer(used({"skill": "grants"}, rules=allow(rule)))[1]


@pytest.mark.parametrize("asked", ["note", "Fancy Note"])
def test_a_denied_skill_is_refused_under_all_its_names(asked: str) -> None:
    words = answer(used({"skill": asked}, rules=deny("Skill(note)")))
    assert words == ("Skill execution blocked by permission rules", True)


def test_the_user_may_be_asked_and_is_offered_a_rule() -> None:
    host = RecordingHost(Allow())
    assert answer(used({"skill": "grants"}, host=host)) == ("Launching skill: grants", False)
    (question,) = host.questions
    assert question.decision.suggestions == [
        {
            "type": "addRules",
            "rules": [{"toolName": "Skill", "ruleContent": "grants"}],
            "behavior": "allow",
            "destination": "localSettings",
        }
    ]


def test_what_a_skill_allows_and_forbids_ends_with_the_turn() -> None:
    careful = skill("careful", allowed_tools=["Echo"], disallowed_tools=["Other"])
    turns: list[Any] = [
        [call("Skill", "c1", skill="careful")],
        [call("Echo", "c2", text="a"), call("Other", "c3")],
        [Text("end")],
        [call("Echo", "c4", text="b")],
        [Text("end")],
    ]
    s = build(
        ScriptedModel(turns), careful, tools=[tool("Echo", echo), tool("Other", echo)], rules=allow("Skill")
    )
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    results = {
        b.tool_use_id: str(b.content) for m in s.messages for b in m.blocks if isinstance(b, ToolResult)
    }
    assert results["c2"] == "echo a"
    assert results["c3"] == "Permission to use Other has been denied."
    asyncio.run(run_turn(s, Prompt("again", "p2")))
    last = next(
        b for m in s.messages for b in m.blocks if isinstance(b, ToolResult) and b.tool_use_id == "c4"
    )
    assert last.is_error
    assert [r.text for r in s.situation.rules] == ["Skill"]


def test_a_forbidden_tool_stays_in_the_request() -> None:
    careful = skill("careful", disallowed_tools=["Other"])
    model = ScriptedModel([[call("Skill", "c1", skill="careful")], [Text("end")]])
    s = build(model, careful, tools=[tool("Other", echo)], rules=allow("Skill"))
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    assert [[t.name for t in r.tools if t.name == "Other"] for r in model.requests] == [["Other"], ["Other"]]


def test_an_effort_holds_for_the_turn_and_another_model_does_not() -> None:
    model = ScriptedModel([[call("Skill", "c1", skill="eager")], [Text("end")]])
    s = build(model, skill("eager", effort="high", model="other"))
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    assert [r.options.effort for r in model.requests] == ["", "high"]
    assert s.parts.options.effort == ""


@pytest.mark.requirement("S0-19")
@pytest.mark.parametrize(
    ("agent", "word"), [("", "one task"), ("Explore", "you only look"), ("nobody", "one task")]
)
def test_a_forked_skill_runs_in_a_sub_agent_of_its_kind(agent: str, word: str) -> None:
    apart = skill("apart", "Task [$0]\n", fork=True, agent=agent)
    model = ScriptedModel([[call("Skill", "c1", skill="apart", args="z")], [Text("report")], [Text("end")]])
    s = build(model, apart)
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    assert answer(s) == ('Skill "apart" completed (forked execution).\n\nResult:\nreport', False)
    inner = model.requests[1]
    assert [b.text for b in inner.messages[0].blocks if isinstance(b, Text)][-1] == "Task [z]\n"
    assert word in inner.system[1].lower()


def test_variants_of_other_directories_are_pointed_out() -> None:
    plain, web = skill("deploy", "Plain.\n"), skill("apps/web:deploy", "Web.\n", area="apps/web")
    s = build(ScriptedModel([[call("Skill", "c1", skill="deploy")], [Text("end")]]), plain, web)
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    body, note = texts(s)[-2:]
    assert body == "Plain.\n\n"
    assert note.startswith(
        '<system-reminder>\nDirectory-scoped variants of the "deploy" skill exist in this repo:\n'
        "- `apps/web:deploy` — for files under apps/web/\n"
    )


def test_a_skill_whose_file_is_gone_is_an_error() -> None:
    gone = Skill("gone", path="/nowhere/SKILL.md", root="/nowhere", described=True)
    s = build(ScriptedModel([[call("Skill", "c1", skill="gone")], [Text("end")]]), gone)
    asyncio.run(run_turn(s, Prompt("hi", "p1")))
    words, failed = answer(s)
    assert failed
    assert "/nowhere/SKILL.md" in words
