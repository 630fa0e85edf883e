"""The two doubles almost every test of the agent uses: a model that plays turns and a host that records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from forge.agent.event import Event
from forge.agent.hooks.port import Hooks, NoHooks
from forge.agent.host import Answer, Question, Refuse
from forge.agent.record import Recorder, Stamp
from forge.agent.session import Limits, Parts, Session, Structured
from forge.core.message import Block, Message, Text, ToolUse, Usage
from forge.core.model import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    Delta,
    Ending,
    Finished,
    ModelCard,
    Options,
    Price,
    Request,
    Started,
)
from forge.core.registry import Component, Registry
from forge.core.tool import Action, Tool, ToolContext, ToolOutput
from forge.foundation.history.transcript import Transcript
from forge.foundation.origin import Scope
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.permissions.situation import Situation

CARD = ModelCard("test-model", "test", "test", price=Price(3, 15, 0.3, 3.75, 6))
ONCE = Usage(input=10, output=5)

Turn = list[Block] | Exception | Callable[[], Awaitable[list[Block]]]


class ScriptedModel:
    """Plays one turn per request; an exception is raised, a function is awaited for its blocks."""

    def __init__(self, turns: list[Turn], stop_reasons: dict[int, str] | None = None) -> None:
        self.card = CARD
        self.turns = turns
        self.stop_reasons = stop_reasons or {}
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        number = len(self.requests)
        self.requests.append(msgspec.structs.replace(request, messages=list(request.messages)))
        turn: Turn = self.turns[number] if number < len(self.turns) else [Text("done")]
        envelope = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": self.card.id,
            "content": [],
        }
        yield Started({"type": "message_start", "message": envelope}, f"msg_{number}", self.card.id, ONCE)
        if isinstance(turn, Exception):
            raise turn
        blocks = await turn() if callable(turn) else turn
        for index, block in enumerate(blocks):
            yield BlockStarted({"type": "content_block_start", "index": index}, index)
            if isinstance(block, Text):
                yield BlockDelta({"type": "content_block_delta", "index": index}, index, "text", block.text)
            yield BlockFinished({"type": "content_block_stop", "index": index}, index, block)
        calls = any(isinstance(b, ToolUse) for b in blocks)
        stop = self.stop_reasons.get(number, "tool_use" if calls else "end_turn")
        yield Ending({"type": "message_delta"}, final=False)
        yield Ending({"type": "message_stop"}, final=True)
        yield Finished(Message("assistant", blocks, f"msg_{number}", self.card.ref), stop, ONCE, self.card.id)

    async def close(self) -> None:
        pass


class RecordingHost:
    """Records events; answers questions with `answers`, then refuses because nobody is there."""

    def __init__(self, *answers: Answer) -> None:
        self.events: list[Event] = []
        self.questions: list[Question] = []
        self.answers = list(answers)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        if self.answers:
            return self.answers.pop(0)
        return Refuse(question.decision.message, asked=False)

    def of(self, kind: type[Any]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]


def counter() -> Callable[[], str]:
    """An id source that counts."""
    numbers = iter(range(1, 1_000_000))
    return lambda: f"id-{next(numbers)}"


def tool(
    name: str, run: Callable[[dict[str, Any], ToolContext], Awaitable[ToolOutput]], **facts: Any
) -> Tool:
    """A tool that takes any input."""
    schema = facts.pop("schema", {"type": "object"})
    check = facts.pop("check", None)
    return Tool(name, f"{name} for tests", schema, lambda: Action(dict[str, Any], run, check), **facts)


async def echo(args: dict[str, Any], context: ToolContext) -> ToolOutput:
    return ToolOutput(f"echo {args.get('text', '')}", {"said": args.get("text")})


def allow(*texts: str) -> list[Rule]:
    return _rules("allow", *texts)


def deny(*texts: str) -> list[Rule]:
    return _rules("deny", *texts)


def _rules(behavior: str, *texts: str) -> list[Rule]:
    parsed = [parse_rule(t, behavior, "userSettings", "/") for t in texts]
    return [r for r in parsed if not isinstance(r, str)]


def session(
    model: ScriptedModel,
    host: RecordingHost,
    tools: list[Tool],
    *,
    rules: list[Rule] | None = None,
    transcript: str = "",
    **facts: Any,
) -> Session:
    """A session in which nothing is real but the agent itself."""
    registry: Registry[Tool] = Registry([Scope.BUILTIN])
    for each in tools:
        registry.add(Component(each.name, each, each.origin))
    new_id = counter()
    recorder = Recorder(
        Transcript(transcript) if transcript else None,
        Stamp("session-1", "0", "test", "main"),
        clock=lambda: 0.0,
        new_id=new_id,
        warn=lambda text: None,
    )
    hooks: Hooks = facts.pop("hooks", None) or NoHooks()
    structured: Structured | None = facts.pop("structured", None)
    cwd = facts.pop("cwd", "/project")
    parts = Parts(
        id="session-1",
        host=host,
        model=model,
        tools=registry,
        hooks=hooks,
        situation=Situation(
            cwd=cwd, home="/home/user", rules=rules if rules is not None else allow(*_names(tools))
        ),
        recorder=recorder,
        system=["system"],
        reminders=[],
        options=Options(),
        limits=facts.pop("limits", Limits()),
        env={},
        setting=_no_setting,
        results_dir=facts.pop("results_dir", "/nowhere"),
        clock=facts.pop("clock", lambda: 0.0),
        new_id=new_id,
        persist=lambda updates: None,
        structured=structured,
    )
    return Session(parts)


def _names(tools: list[Tool]) -> list[str]:
    return [t.name for t in tools]


def _no_setting(key: str, default: Any) -> Any:
    return default


def call(name: str, identity: str = "call-1", **arguments: Any) -> ToolUse:
    return ToolUse(identity, name, arguments)


async def forever() -> list[Block]:
    await asyncio.Event().wait()
    return []
