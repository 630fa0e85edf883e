"""The SDK control protocol on standard input and output: prompts, permission questions, session commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from forge.agent.background import Background
from forge.agent.drive import Patience
from forge.agent.event import Event, Folded, TurnEnded, TurnStarted
from forge.agent.hooks.lending import engine_of
from forge.agent.host import Answer, Question, Refuse
from forge.agent.loop import run_turn
from forge.agent.mcp.servers import Servers
from forge.agent.session import Prompt
from forge.agent.skills.ecosystem import Ecosystem
from forge.core.message import ToolUse, decode_blocks
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError
from forge.hosts.attention import tell_later
from forge.hosts.build import Built
from forge.hosts.configuration import Configuration
from forge.hosts.control_hooks import HookCalls, after_switch, before_switch, concerns_hooks
from forge.hosts.control_question import CLOSED, ask_elsewhere, can_use_tool, read_answer
from forge.hosts.control_requests import SLOW, respond, respond_slowly
from forge.hosts.control_seat import Refused, Seat
from forge.hosts.control_waiting import Waiting, lifecycle
from forge.hosts.options import RunOptions
from forge.hosts.sink import Sink
from forge.hosts.stdin import lines
from forge.hosts.wire import Wire
from forge.hosts.wire_result import failed_start

_decode = msgspec.json.Decoder().decode


class Control:
    """One connection: reads messages while a turn runs, answers requests, asks the host for permission."""

    def __init__(self, o: RunOptions, c: Configuration, built: Built, out: tuple[Wire, Sink]) -> None:
        self._o = o
        self._session = built.session
        self._wire, self._sink = out
        self._waiting = Waiting(built.session)
        self.seat = self._seat = Seat(o, c, built, self._waiting)
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._hooks = HookCalls(built.session, out[1])
        if (engine := engine_of(built.session)) is not None:
            engine.call_back = self._hooks.call
        built.session.keep(Servers).ask_host = self._hooks.ask
        self.begin: Callable[[], Awaitable[str]] | None = None
        self.put_off: Callable[[], list[ToolUse]] = list
        self.source: AsyncIterator[bytes] | None = None
        self._prompts: dict[str, Prompt] = {}
        self._failure: UsageError | None = None
        self._said = ""
        for_all = c.env.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"
        self._states = for_all or c.env.get("CLAUDE_CODE_SDK_READS_SESSION_STATE") == "1"
        # An SDK that reads the state for itself keeps such records from its user.
        self._host_only = not for_all

    async def serve(self, patience: Patience) -> int:
        """Runs turns until standard input ends and everything queued is done."""
        reader = asyncio.ensure_future(self._read())
        last: TurnEnded | None = None
        try:
            while (prompt := await self._waiting.take(patience)) is not None:
                await self._first()
                last = await self._turn(prompt)
                await self._close_retired()
            await asyncio.gather(*self._seat.errands)
        finally:
            reader.cancel()
            await self._session.keep(Background).close()
        if self._failure is not None:
            raise self._failure
        return 1 if last is not None and last.is_error else 0

    async def ask(self, question: Question) -> Answer:
        """Asks the host; a closed connection or a broken answer is a refusal."""
        if self._o.permission_prompt_tool != "stdio":
            return await ask_elsewhere(self._session, self._o.permission_prompt_tool, question)
        if self._waiting.closed:
            return Refuse(CLOSED)
        self._state("requires_action")
        request_id = self._session.parts.new_id()
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = future
        request = can_use_tool(question, self._session)
        self._sink.record({"type": "control_request", "request_id": request_id, "request": request})
        words = f"Claude needs your permission to use {question.call.name}"
        late = tell_later(self._session, "permission_prompt", words)
        try:
            answer = await future
        except asyncio.CancelledError:
            self._withdraw(request_id)
            raise
        finally:
            late.cancel()
            self._asked.pop(request_id, None)
        self._state("running")
        return read_answer(answer)

    def _withdraw(self, request_id: str) -> None:
        """Tells the host, once, that a question needs no answer any more."""
        if self._asked.pop(request_id, None) is not None:
            self._sink.record({"type": "control_cancel_request", "request_id": request_id})

    def before(self, event: Event) -> None:
        """What the host hears in front of an event's own records."""
        waiting = self._waiting
        if waiting.busy and not waiting.started:
            waiting.started = True
            if waiting.doomed:
                waiting.doomed = False
                self._session.interrupt()
        if isinstance(event, TurnStarted):
            self._state("running")
            *earlier, last = self._parts(event.prompt_uuid)
            self._wire.named = [uuid for uuid in (*earlier, last) if uuid in waiting.told]
            for uuid in earlier:
                self._replay(uuid)
            for uuid in (*earlier, last):
                self._lifecycle(uuid, "started")
        elif isinstance(event, Folded):
            self._replay(event.prompt_uuid)
            self._lifecycle(event.prompt_uuid, "started")
        elif isinstance(event, TurnEnded):
            for uuid in event.prompt_uuids[1:]:
                self._over(uuid, event)

    def after(self, event: Event) -> None:
        """What the host hears behind an event's own records."""
        if isinstance(event, TurnStarted):
            self._replay(event.prompt_uuid)
        elif isinstance(event, TurnEnded):
            for part in [part for uuid in event.prompt_uuids[:1] for part in self._parts(uuid)]:
                self._over(part, event)

    def _parts(self, uuid: str) -> list[str]:
        """All prompts that became this one."""
        return [*self._waiting.joined.get(uuid, ()), uuid]

    async def _turn(self, prompt: Prompt) -> TurnEnded:
        session, waiting = self._session, self._waiting
        waiting.busy, waiting.started, waiting.current = True, False, prompt.uuid
        if prompt.uuid in waiting.joined and prompt.uuid in self._prompts:
            self._prompts[prompt.uuid] = prompt
        try:
            ended = await session.run(lambda: run_turn(session, prompt))
        finally:
            waiting.busy = waiting.started = False
        for uuid in self._parts(prompt.uuid):
            self._over(uuid, ended)
        waiting.joined.pop(prompt.uuid, None)
        if waiting.idle:
            self._state("idle")
        return ended

    async def _first(self) -> None:
        """The start of the session: hooks of the host count too, so it waits for the first prompt."""
        begin, self.begin = self.begin, None
        if begin is None:
            return
        eco = self._session.keep(Ecosystem)
        opening, eco.opening = eco.opening, ""
        for words in (await begin(), opening):
            if words:
                await self._turn(Prompt(words, self._session.parts.new_id()))
        if calls := self.put_off():
            await self._turn(Prompt("", self._session.parts.new_id(), calls=calls))

    async def _close_retired(self) -> None:
        """Models that were replaced are of no use once no turn can ask them any more."""
        retired, self._seat.retired = self._seat.retired, []
        for model in retired:
            await model.close()

    async def _read(self) -> None:
        try:
            async for line in self.source or lines():
                self._receive(line)
        except UsageError as error:
            self._failure = error
            self._waiting.interrupt()
        self._waiting.close(drop=self._failure is not None)
        self._hooks.close()
        for future in self._asked.values():
            if not future.done():
                future.set_result({"behavior": "deny", "message": CLOSED})

    def _receive(self, line: bytes) -> None:
        try:
            message = _decode(line)
        except NOT_JSON as error:
            shown = line[:200].decode("utf-8", "replace")
            raise UsageError(f"Error parsing streaming input line: {shown}: {error}") from None
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "user":
            self._user(message)
        elif kind == "control_request":
            self._request(message)
        elif kind == "control_response":
            self._response(message.get("response"))

    def _user(self, raw: dict[str, Any]) -> None:
        message = raw.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not content or not isinstance(content, str | list):
            return
        self._refuse_if_barred()
        given = raw.get("uuid")
        told = isinstance(given, str) and bool(given)
        uuid = str(given) if told else self._session.parts.new_id()
        blocks = content if isinstance(content, str) else decode_blocks(list(filter(_is_block, content)))
        prompt = Prompt(blocks, uuid, raw.get("shouldQuery") is not False, raw.get("client_composed") is True)
        if told:
            self._waiting.told.add(uuid)
            self._lifecycle(uuid, "queued")
        if self._o.replay_user_messages:
            self._prompts[uuid] = prompt
        self._waiting.put(prompt, str(raw.get("priority")))

    def _refuse_if_barred(self) -> None:
        """A host whose guards were refused must not get a turn without them."""
        if barred := self._seat.barred:
            self._sink.record(failed_start(barred, self._session.parts.new_id()))
            raise UsageError(barred)

    def _request(self, message: dict[str, Any]) -> None:
        request_id, request = message.get("request_id"), message.get("request")
        if not isinstance(request_id, str) or not isinstance(request, dict):
            return
        slow = request.get("subtype") in SLOW
        if request.get("subtype") == "interrupt":
            self._hooks.withdraw()
            for asked in list(self._asked):
                self._withdraw(asked)
        if not slow and not concerns_hooks(self._seat, request):
            self._respond(request_id, request)
            return
        work = self._respond_slowly if slow else self._switch
        self._seat.run_beside(work(request_id, request))

    async def _respond_slowly(self, request_id: str, request: dict[str, Any]) -> None:
        self._sink.record(await respond_slowly(self._seat, request_id, request))

    def _respond(self, request_id: str, request: dict[str, Any]) -> None:
        for record in respond(self._seat, request_id, request, self._wire):
            self._sink.record(record)

    async def _switch(self, request_id: str, request: dict[str, Any]) -> None:
        """Another model, unless a hook objects."""
        try:
            facts = await before_switch(self._seat, request)
        except Refused as refused:
            answer = {"subtype": "error", "error": str(refused), "error_code": refused.code}
            response = {**answer, "request_id": request_id}
            self._sink.record({"type": "control_response", "response": response})
            return
        self._respond(request_id, request)
        if facts is not None:
            await after_switch(self._seat, facts)

    def _response(self, response: Any) -> None:
        if not isinstance(response, dict) or self._hooks.answered(response):
            return
        future = self._asked.get(str(response.get("request_id")))
        if future is None or future.done():
            return
        body = response.get("response")
        if response.get("subtype") == "success":
            future.set_result(body if isinstance(body, dict) else {})
        else:
            reason = str(response.get("error") or "the host gave no reason")
            words = f"Tool permission request failed: Error: {reason}"
            future.set_result({"behavior": "deny", "message": words})

    def _state(self, state: str) -> None:
        if self._states and state != self._said:
            self._said = state
            only = True if self._host_only else None
            self._sink.record(self._wire.system("session_state_changed", state=state, sdk_host_only=only))

    def _lifecycle(self, uuid: str, state: str) -> None:
        if uuid in self._waiting.told:
            self._sink.record(lifecycle(self._session, uuid, state))

    def _over(self, uuid: str, ended: TurnEnded) -> None:
        """The last the host hears of a prompt."""
        aborted = ended.terminal_reason.startswith("aborted")
        self._lifecycle(uuid, "cancelled" if aborted else "completed")
        self._waiting.told.discard(uuid)
        self._prompts.pop(uuid, None)

    def _replay(self, uuid: str) -> None:
        prompt = self._prompts.get(uuid)
        if prompt is not None:
            self._sink.record(self._wire.user(prompt.content, uuid, isReplay=True))


def _is_block(value: Any) -> bool:
    return isinstance(value, dict)
