from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, deny, echo, tool
from forge.agent.event import AgentSaid, Denied, JobEnded, JobStarted, ToolFinished
from forge.agent.host import Refuse
from forge.agent.session import Limits
from forge.agent.team.agents import agent_body
from forge.agent.team.child import choose_model
from forge.agent.team.child_host import UNATTENDED
from forge.agent.team.crew import MAX_DEPTH, MAX_RUNNING, Crew, Member
from forge.core.components.agent_type import AgentType
from forge.core.job import Job, JobEnd
from forge.core.message import Text
from forge.core.model import Delta, Model, ModelCard, Price, Request
from forge.core.registry import Component
from forge.foundation.errors import Answer, ModelError, UsageError
from forge.foundation.origin import BUILTIN
from unit.agent.casting import Cast, build, play, results, task, words


def test_what_agents_use_is_summed_per_model_in_the_ledger_of_the_conversation() -> None:
    cheap = Cast(SUB=[[Text("report")]])
    cheap.card = ModelCard("cheap", "other", "test", price=Price(1, 2))
    model = Cast(MAIN=[[task("SUB", model="other/cheap")], [Text("end")]])
    s = build(model)
    opened: list[str] = []

    def open_model(name: str) -> Model:
        opened.append(name)
        return cheap

    s.parts = msgspec.structs.replace(s.parts, open_model=open_model)
    play(s)
    spent = {name: (spend.usage.input, round(spend.cost, 9)) for name, spend in s.ledger.spent.items()}
    assert opened == ["other/cheap"]
    assert spent == {"test-model": (20, 0.00021), "cheap": (10, 0.00002)}
    assert cheap.requests("SUB")[0].model == "cheap"


@pytest.mark.parametrize(
    ("wished", "kind", "env", "opened"),
    [
        ("", "", {}, ""),
        ("", "inherit", {}, ""),
        ("cheap/one", "", {}, "cheap/one"),
        ("", "local/small", {}, "local/small"),
        ("cheap/one", "local/small", {}, "cheap/one"),
        ("cheap/one", "local/small", {"CLAUDE_CODE_SUBAGENT_MODEL": "fleet"}, "cheap/one"),
        ("", "local/small", {"CLAUDE_CODE_SUBAGENT_MODEL": "fleet"}, "local/small"),
        ("", "inherit", {"CLAUDE_CODE_SUBAGENT_MODEL": "fleet"}, ""),
        ("", "", {"CLAUDE_CODE_SUBAGENT_MODEL": "fleet"}, "fleet"),
        ("test-model", "", {}, ""),
    ],
)
def test_the_model_of_an_agent(wished: str, kind: str, env: dict[str, str], opened: str) -> None:
    model = Cast(MAIN=[[task("SUB", model=wished or None, subagent_type="mine")]], SUB=[[Text("r")]])
    s = build(model)
    mine = AgentType("mine", "d", "p", model=kind)
    s.parts.agents.add(Component("mine", mine, BUILTIN))
    asked: list[str] = []

    def open_model(name: str) -> Model:
        asked.append(name)
        return model

    s.parts = msgspec.structs.replace(s.parts, open_model=open_model, env=env)
    play(s)
    assert asked == ([opened] if opened else [])


def test_a_model_that_cannot_be_opened_is_a_clear_error() -> None:
    s = build(Cast(MAIN=[[task("SUB", model="nope")], [Text("end")]]))

    def open_model(name: str) -> Model:
        raise UsageError(f"The model {name!r} is not known.")

    s.parts = msgspec.structs.replace(s.parts, open_model=open_model)
    play(s)
    result = results(s)["call-1"]
    assert (words(result), result.is_error) == (
        "The model 'nope' cannot be used: The model 'nope' is not known.",
        True,
    )


class Endless(Cast):
    """Starts an agent in every conversation, then reports."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        first = not any(m.role == "assistant" for m in request.messages)
        turn: list[Any] = [task("SUB", f"c{len(self.seen)}")] if first else [Text("report")]
        self.seen.append(request)
        async for delta in ScriptedModel([turn]).stream(request):
            yield delta


def test_agents_nest_to_a_limit_where_the_tool_is_no_longer_there() -> None:
    model, host = Endless(), RecordingHost()
    s = build(model, host)
    play(s)
    jobs = [e.job for e in host.of(JobStarted)]
    offered = [any(t.name == "Agent" for t in r.tools) for r in model.seen]
    assert [job.depth for job in jobs] == list(range(1, MAX_DEPTH + 1))
    assert [job.parent_id for job in jobs] == ["", *(job.id for job in jobs[:-1])]
    assert offered[: MAX_DEPTH + 1] == [True] * MAX_DEPTH + [False]
    assert s.keep(Crew).report()["spawned_by_subagents"] == MAX_DEPTH - 1


def test_more_agents_than_the_limit_are_refused() -> None:
    s = build(Cast(MAIN=[[task("SUB")], [Text("end")]]))

    async def never() -> JobEnd:
        return JobEnd("completed", "")

    for n in range(MAX_RUNNING):
        job = Job(f"a{n}", "local_agent", "busy", never)
        s.keep(Crew).members[job.id] = Member(job, AgentType("x", "d"), "")
    play(s)
    assert "which is the limit" in words(results(s)["call-1"])
    assert s.keep(Crew).report()["refused"]["concurrency_limit"] == 1


@pytest.mark.parametrize(
    ("wish", "rules", "expected"),
    [
        (
            {"subagent_type": "nope"},
            [],
            "Agent type 'nope' not found. Available agents: claude, Explore, general-purpose, Plan",
        ),
        (
            {"subagent_type": "explore"},
            ["Agent(Explore)"],
            "Agent type 'Explore' has been denied by permission rule 'Agent(Explore)' from userSettings.",
        ),
        (
            {},
            ["Agent(general-purpose)"],
            "Agent type 'general-purpose' has been denied by permission rule 'Agent(general-purpose)' from"
            " userSettings.",
        ),
    ],
)
def test_an_agent_that_may_not_start(wish: dict[str, Any], rules: list[str], expected: str) -> None:
    model = Cast(MAIN=[[task("SUB", **wish)], [Text("end")]])
    s = build(model, rules=[*allow("Echo"), *deny(*rules)])
    play(s)
    result = results(s)["call-1"]
    assert (words(result), result.is_error) == (expected, True)


def test_a_type_without_any_tool_that_exists_is_refused() -> None:
    s = build(Cast(MAIN=[[task("SUB", subagent_type="mine")], [Text("end")]]))
    s.parts.agents.add(Component("mine", AgentType("mine", "d", "p", tools=["Nope"]), BUILTIN))
    play(s)
    assert words(results(s)["call-1"]).startswith(
        "Agent 'mine' would be spawned with zero tools — refusing. "
    )


@pytest.mark.parametrize(
    ("kind", "tools"),
    [
        (AgentType("mine", "d", "p"), ["Agent", "Echo", "SendMessage", "Skill", "Write"]),
        (AgentType("mine", "d", "p", tools=["Echo", "Agent(Explore)"]), ["Agent", "Echo"]),
        (AgentType("mine", "d", "p", disallowed_tools=["Write", "Task"]), ["Echo", "SendMessage", "Skill"]),
        (
            AgentType("mine", "d", "p", tools=["*"], disallowed_tools=["Echo"]),
            ["Agent", "SendMessage", "Skill", "Write"],
        ),
        (AgentType("Explore", "d", text="agent_explore"), ["Agent", "Echo", "SendMessage", "Skill", "Write"]),
    ],
)
def test_the_tools_of_an_agent(kind: AgentType, tools: list[str]) -> None:
    model = Cast(MAIN=[[task("SUB", subagent_type=kind.name)]], SUB=[[Text("r")]])
    s = build(model, tools=[tool("Write", echo)])
    s.parts.agents.add(Component(kind.name, kind, BUILTIN))
    play(s)
    (request,) = model.requests("SUB")
    assert [t.name for t in request.tools] == tools
    assert request.system[1].startswith(agent_body(kind))


@pytest.mark.parametrize("kind", ["Explore", "Plan"])
def test_the_types_that_only_look_have_no_tool_that_writes(kind: str) -> None:
    model = Cast(MAIN=[[task("SUB", subagent_type=kind)]], SUB=[[Text("r")]])
    s = build(model, tools=[tool(n, echo) for n in ("Edit", "Write", "NotebookEdit", "Read")])
    play(s)
    assert [t.name for t in model.requests("SUB")[0].tools] == ["Echo", "Read", "SendMessage", "Skill"]


def test_an_agent_may_start_only_the_types_its_tool_list_names() -> None:
    model = Cast(
        MAIN=[[task("SUB", subagent_type="mine")], [Text("end")]],
        SUB=[[task("X", "inner", subagent_type="Plan")], [Text("report")]],
    )
    host = RecordingHost()
    s = build(model, host)
    s.parts.agents.add(Component("mine", AgentType("mine", "d", "p", tools=["Agent(Explore)"]), BUILTIN))
    play(s)
    (inner,) = [e.event for e in host.of(AgentSaid) if isinstance(e.event, ToolFinished)]
    assert inner.result.content == "Agent type 'Plan' not found. Available agents: Explore"


@pytest.mark.parametrize(
    ("card", "wished", "env", "opened"),
    [
        (("anthropic", "claude-opus-4-5"), "opus", {}, False),
        (("anthropic", "claude-opus-4-5"), "sonnet", {}, True),
        (("ollama", "qwen3"), "sonnet", {}, False),
        (("ollama", "qwen3"), "sonnet", {"ANTHROPIC_DEFAULT_SONNET_MODEL": "ollama/big"}, True),
        (("ollama", "qwen3"), "anthropic/claude-sonnet-5-5", {}, True),
    ],
)
def test_what_the_name_of_a_family_means(
    card: tuple[str, str], wished: str, env: dict[str, str], *, opened: bool
) -> None:
    model = Cast()
    model.card = msgspec.structs.replace(model.card, provider=card[0], id=card[1])
    s = build(model)
    s.parts = msgspec.structs.replace(s.parts, env=env, open_model=lambda name: ScriptedModel([]))
    assert (choose_model(s, AgentType("mine", "d", "p"), wished) is not s.model) is opened


def test_what_an_agent_leaves_out_the_agents_it_starts_may_have() -> None:
    model = Cast(
        MAIN=[[task("SUB", subagent_type="mine")], [Text("end")]],
        SUB=[[task("INNER", "inner")], [Text("report")]],
        INNER=[[Text("done")]],
    )
    s = build(model, tools=[tool("Write", echo)])
    s.parts.agents.add(Component("mine", AgentType("mine", "d", "p", tools=["Agent"]), BUILTIN))
    play(s)
    told = [[t.name for t in model.requests(role)[0].tools] for role in ("SUB", "INNER")]
    assert told == [["Agent"], ["Agent", "Echo", "SendMessage", "Skill", "Write"]]


@pytest.mark.parametrize(
    ("turns", "told", "failed"),
    [
        ([[], []], "No assistant messages found", True),
        ([[call("Echo", text="x")], [], []], "  (Subagent completed but returned no output.)\n", False),
    ],
)
def test_an_agent_that_says_nothing(turns: list[Any], told: str, *, failed: bool) -> None:
    host = RecordingHost()
    s = build(Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=turns), host)
    play(s)
    result = results(s)["call-1"]
    (ended,) = [e.end for e in host.of(JobEnded)]
    assert told in words(result) and "tools-used" not in words(result)
    assert (bool(result.is_error), ended.error) == (failed, told if failed else "")


@pytest.mark.parametrize(("kind", "addressed"), [("general-purpose", True), ("Explore", False)])
def test_only_an_agent_that_can_go_on_is_named(kind: str, *, addressed: bool) -> None:
    s = build(Cast(MAIN=[[task("SUB", subagent_type=kind)], [Text("end")]], SUB=[[Text("r")]]))
    play(s)
    assert ("agentId: a" in words(results(s)["call-1"])) is addressed


def test_a_refusal_that_interrupts_ends_the_agent_and_not_the_conversation() -> None:
    host = RecordingHost(Refuse("no way", interrupt=True))
    model = Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=[[call("Echo", text="x")], [Text("never")]])
    s = build(model, host, rules=[])
    ended = play(s)
    assert (ended.result, len(model.requests("SUB"))) == ("end", 1)
    assert words(results(s)["call-1"]) == "[Request interrupted by user for tool use]"
    assert s.keep(Crew).report()["killed"]["user"] == 1


def test_an_agent_in_the_background_that_nobody_can_be_asked_for_hears_why() -> None:
    host = RecordingHost()
    model = Cast(
        MAIN=[[task("SUB", run_in_background=True)], [Text("w")], [Text("end")]],
        SUB=[[call("Echo", text="x")], [Text("r")]],
    )
    play(build(model, host, rules=[]))
    (denied,) = [e.event for e in host.of(AgentSaid) if isinstance(e.event, Denied)]
    assert (denied.reason_type, denied.message) == ("asyncAgent", UNATTENDED.format("Echo"))


def test_an_agent_that_runs_out_of_turns_says_so() -> None:
    model = Cast(
        MAIN=[[task("SUB", subagent_type="mine")], [Text("end")]],
        SUB=[[Text("so far"), call("Echo", text="x")], [Text("more")]],
    )
    s = build(model)
    s.parts.agents.add(Component("mine", AgentType("mine", "d", "p", max_turns=1), BUILTIN))
    play(s)
    told = words(results(s)["call-1"])
    assert "  NOTE: this agent stopped at its 1-turn limit before finishing." in told
    assert "\n  so far\n" in told


def test_an_agent_whose_model_fails_is_an_error_result() -> None:
    answer = Answer(400, "invalid_request_error", request_id="req_1")
    failing = ModelError("API Error: 400 bad thing", kind="invalid_request", answer=answer)
    s = build(Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=[failing]))
    ended = play(s)
    result = results(s)["call-1"]
    assert words(result) == (
        "Agent terminated early due to an API error: API Error: 400 bad thing"
        " (error type unknown, HTTP 400, request id req_1, model sent to the API: test-model)"
    )
    assert (result.is_error, ended.result, s.keep(Crew).report()["failed"]) == (True, "end", 1)


def test_an_agent_shares_the_budget_of_the_conversation() -> None:
    model = Cast(
        MAIN=[[task("SUB")], [Text("never asked")]], SUB=[[call("Echo", text="x")], [call("Echo", text="y")]]
    )
    s = build(model, limits=Limits(max_budget_usd=0.0003))
    ended = play(s)
    assert (ended.subtype, len(model.requests("SUB"))) == ("error_max_budget_usd", 2)


def test_denials_of_an_agent_are_denials_of_the_turn_and_a_missing_tool_is_said_to_be_missing_here() -> None:
    model = Cast(
        MAIN=[[task("SUB", subagent_type="Explore")], [call("Echo", "e2", text="y")], [Text("end")]],
        SUB=[[call("Echo", "e1", text="x"), task("SUB", "inner")], [Text("report")]],
    )
    host = RecordingHost()
    ended = play(build(model, host, rules=[]))
    (missing,) = [
        e.event.result.content
        for e in host.of(AgentSaid)
        if isinstance(e.event, ToolFinished) and e.event.call.id == "inner"
    ]
    assert [d.tool_use_id for d in ended.denials] == ["e1", "e2"]
    assert missing == (
        "<tool_use_error>Error: No such tool available: Agent. Agent is not among the tools available here."
        " Continue with the tools you have.</tool_use_error>"
    )
