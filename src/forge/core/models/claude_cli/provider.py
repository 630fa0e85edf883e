"""The installed `claude` as a model: one process per conversation, started anew when the conversation is not
the one it knows."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping

import msgspec

from forge.core.message import Block, Message, Text
from forge.core.model import Delta, Finished, ModelCard, Request, closing
from forge.core.models.asides import Turn
from forge.core.models.cards import ALIASES
from forge.core.models.claude_cli.agent_mode import agent_reply, asking, value_schema
from forge.core.models.claude_cli.argv import Start, arguments
from forge.core.models.claude_cli.capabilities import abilities, dotted
from forge.core.models.claude_cli.control import assistant_line, initialize, user_line
from forge.core.models.claude_cli.environment import cli_environment
from forge.core.models.claude_cli.history_file import divide, reply_message, with_wire_names, write_history
from forge.core.models.claude_cli.locate import find_program, login_problem
from forge.core.models.claude_cli.model_mode import deferring, model_reply
from forge.core.models.claude_cli.process import Launch, start
from forge.core.models.claude_cli.talk import Answers, Talk, remove
from forge.core.models.claude_cli.wishes import check_version, read_wishes
from forge.core.models.history import Memo, tidy
from forge.core.models.providers import Provider
from forge.foundation.homes import forge_home
from forge.foundation.ids import new_uuid

_SOMEBODY = Message("user", [Text(".")])


class CliModel:
    """A model of the CLI. Its limits are those the CLI reports with its first reply."""

    def __init__(self, card: ModelCard, provider: Provider, env: Mapping[str, str]) -> None:
        self._card = card
        self._env = env
        self._wishes = read_wishes(provider.options, provider.name)
        self._program = find_program(provider.program, env)
        self._can = abilities(self._program.version)
        self._live: Talk | None = None
        self._memo: Memo = {}

    @staticmethod
    def describe(provider: Provider, env: Mapping[str, str]) -> str:
        """The program that would be used, in words; raises `UsageError` or `ConfigError`."""
        wishes = read_wishes(provider.options, provider.name)
        program = find_program(provider.program, env)
        check_version(program.version, wishes, program.path)
        return f"Claude Code {dotted(program.version)} at {program.path}, {wishes.mode} mode"

    @staticmethod
    def login_problem(provider: Provider, env: Mapping[str, str]) -> str:
        """Why a program that was found could not ask a model, "" if nothing speaks against it."""
        return login_problem(find_program(provider.program, env), env)

    @property
    def card(self) -> ModelCard:
        return self._card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        turns = tidy(request.messages, self._card, self._memo)
        # Nobody else may use it meanwhile; another request gets a process of its own.
        live, self._live = self._live, None
        talk = await self._talk(live, request, turns)
        kept = False
        try:
            async with closing(self._replies(talk, request)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, Finished):
                        self._learn(talk, delta.model)
                        talk.sent, talk.said = turns, self._as_sent(delta.message)
                        kept = not talk.spent
                    yield delta
        finally:
            if not kept:
                await talk.abort()
            elif self._live is None:
                self._live = talk
            else:
                await talk.close()

    async def close(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            await live.close()

    def _replies(self, talk: Talk, request: Request) -> AsyncIterator[Delta]:
        if self._acts(request):
            return agent_reply(talk, self._card.ref)
        return model_reply(talk, self._card.ref, request.tools)

    def _acts(self, request: Request) -> bool:
        return self._wishes.mode == "agent" and request.place is not None

    def _as_sent(self, message: Message) -> Turn | None:
        """The reply as it will stand in the next request."""
        found = tidy([message, _SOMEBODY], self._card)
        return found[0] if found[0].role == "assistant" else None

    def _learn(self, talk: Talk, model: str) -> None:
        row = talk.limits.get(model)
        window, most = (row.get(key) if isinstance(row, dict) else None for key in _LIMITS)
        if isinstance(window, int) and isinstance(most, int) and window > 0 < most:
            self._card = msgspec.structs.replace(self._card, context_window=window, max_output=most)

    async def _talk(self, live: Talk | None, request: Request, turns: list[Turn]) -> Talk:
        """The CLI that goes on with this conversation."""
        place = request.place if self._acts(request) else None
        where = (place.cwd, tuple(place.folders)) if place is not None else None
        key = (where, request.system, request.tools, request.options)
        if live is not None:
            if live.key == key and await live.is_ready():
                news = _news(live, turns)
                if news is not None and live.tell(news):
                    return live
            await live.close()
        return await self._open(request, turns, key)

    async def _open(self, request: Request, turns: list[Turn], key: object) -> Talk:
        agent, place = self._acts(request), request.place
        cwd = place.cwd if place is not None else os.getcwd()
        known = turns if agent else [with_wire_names(turn) for turn in turns]
        past = divide(known)
        model = ALIASES.get(self._card.id, self._card.id)
        folder = os.path.join(forge_home(self._env), "cache", "claude-cli")
        history = write_history(folder, past.stored, model, cwd) if past.stored else ""
        began = Start(
            self._card.id,
            request.options,
            tools=[tool.name for tool in request.tools] if agent else None,
            history=history,
            folders=[f for f in place.folders if f != cwd] if agent and place is not None else (),
            schema=value_schema(request.tools) if agent else "",
        )
        argv = [self._program.path, *arguments(began, self._can)]
        env = cli_environment(self._env, request.options.max_tokens)
        launch = Launch(argv, cwd, env, mark=new_uuid())
        answers = asking(place) if agent and place is not None else deferring(request.tools)
        talk = await _started(launch, answers, key, self._wishes.idle_seconds, history)
        try:
            cli = talk.cli
            cli.send(initialize("forge-1", request.system, server=not agent and bool(request.tools)))
            await _replay(talk, past.replayed, model)
            cli.send(user_line(past.prompt))
        except BaseException:
            await talk.abort()
            raise
        return talk


_LIMITS = ("contextWindow", "maxOutputTokens")


async def _started(launch: Launch, answers: Answers, key: object, idle: float, history: str) -> Talk:
    try:
        cli = await start(launch)
    except BaseException:
        remove(history)
        raise
    return Talk(cli, answers, key, idle, history)


async def _replay(talk: Talk, turns: list[Turn], model: str) -> None:
    """Tells a CLI what it cannot read from a file; each line of the user must be taken in before the next."""
    for number, turn in enumerate(turns):
        if turn.role == "assistant":
            talk.cli.send(assistant_line(reply_message(turn.blocks, model, 1_000_000 + number)))
        else:
            talk.cli.send(user_line(turn.blocks, query=False))
            await talk.until_result()


def _news(talk: Talk, turns: list[Turn]) -> list[Block] | None:
    """What this CLI has not been told yet; None if it knows another conversation."""
    known = len(talk.sent)
    if talk.running and len(turns) == known + 1 and turns[-1].role == "assistant":
        return [] if turns[:known] == talk.sent else None
    if talk.said is None or len(turns) != known + 2 or turns[-1].role != "user":
        return None
    return turns[-1].blocks if turns[known] == talk.said and turns[:known] == talk.sent else None
