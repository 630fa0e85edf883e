"""The SDK control protocol on standard input and output: prompts, permission questions, session commands."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from forge.agent.event import Event, Folded, TurnEnded, TurnStarted
from forge.agent.host import Allow, Answer, AskPermission, Question, Refuse
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.message import decode_blocks
from forge.foundation.errors import UsageError
from forge.hosts.build import Built
from forge.hosts.configuration import Configuration
from forge.hosts.control_requests import Requests, can_use_tool
from forge.hosts.options import RunOptions
from forge.hosts.sink import Sink
from forge.hosts.stdin import lines
from forge.hosts.wire import Wire

_decode = msgspec.json.Decoder().decode


class Control:
    """One connection: reads messages while a turn runs, answers requests, asks the host for permission."""

    def __init__(self, o: RunOptions, c: Configuration, built: Built, out: tuple[Wire, Sink]) -> None:
        self._o = o
        self._session = built.session
        self._wire, self._sink = out
        self._requests = Requests(o, c, built)
        self._prompts: asyncio.Queue[Prompt | None] = asyncio.Queue()
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._told: dict[str, Prompt] = {}
        self._open = True
        self._running = False
        self._failure: UsageError | None = None
        env = c.env
        self._host_only = env.get("CLAUDE_CODE_SDK_READS_SESSION_STATE") == "1"
        self._states = self._host_only or env.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"

    async def serve(self) -> int:
        """Runs turns until standard input ends and everything queued is done."""
        reader = asyncio.ensure_future(self._read())
        last: TurnEnded | None = None
        try:
            while (prompt := await self._prompts.get()) is not None:
                last = await self._turn(prompt)
        finally:
            reader.cancel()
        if self._failure is not None:
            raise self._failure
        return 1 if last is not None and last.is_error else 0

    async def ask(self, question: Question) -> Answer:
        """Asks the host; a closed connection or a broken answer is a refusal."""
        if not self._open or self._o.permission_prompt_tool != "stdio":
            return Refuse(question.decision.message, asked=False)
        self._state("requires_action")
        request_id = self._session.parts.new_id()
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = future
        self._send_request(request_id, can_use_tool(question))
        try:
            answer = await future
        except asyncio.CancelledError:
            self._sink.record({"type": "control_cancel_request", "request_id": request_id})
            raise
        finally:
            self._asked.pop(request_id, None)
        self._state("running")
        return _read_answer(question, answer)

    def before(self, event: Event) -> None:
        """What the host hears in front of an event's own records."""
        if isinstance(event, TurnStarted):
            self._lifecycle(event.prompt_uuid, "started")
            self._state("running")
        elif isinstance(event, Folded):
            self._replay(event.prompt_uuid)
            self._lifecycle(event.prompt_uuid, "started")
        elif isinstance(event, TurnEnded):
            for uuid in event.prompt_uuids[1:]:
                self._lifecycle(uuid, "completed")

    def after(self, event: Event) -> None:
        """What the host hears behind an event's own records."""
        if isinstance(event, TurnStarted):
            self._replay(event.prompt_uuid)
        elif isinstance(event, TurnEnded):
            for uuid in event.prompt_uuids[:1]:
                self._lifecycle(uuid, "completed")

    async def _turn(self, prompt: Prompt) -> TurnEnded:
        session = self._session
        self._running = True
        try:
            ended = await session.run(lambda: run_turn(session, prompt))
        finally:
            self._running = False
        for waiting in session.take_pending():
            self._prompts.put_nowait(waiting)
        if self._prompts.empty() or not self._open:
            self._state("idle")
        if not self._open and self._prompts.empty():
            self._prompts.put_nowait(None)
        return ended

    async def _read(self) -> None:
        try:
            async for line in lines():
                self._receive(line)
        except UsageError as error:
            self._failure = error
            self._session.interrupt()
        self._open = False
        for future in self._asked.values():
            if not future.done():
                future.set_result({"behavior": "deny", "message": "Stream closed"})
        if not self._running or self._failure is not None:
            self._prompts.put_nowait(None)

    def _receive(self, line: bytes) -> None:
        try:
            message = _decode(line)
        except msgspec.DecodeError as error:
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
        given = raw.get("uuid")
        told = isinstance(given, str) and bool(given)
        uuid = str(given) if told else self._session.parts.new_id()
        blocks = content if isinstance(content, str) else decode_blocks(content)
        prompt = Prompt(blocks, uuid, raw.get("shouldQuery") is not False, raw.get("client_composed") is True)
        if told:
            self._told[prompt.uuid] = prompt
            self._lifecycle(prompt.uuid, "queued")
        if self._running and prompt.query:
            self._session.pending.append(prompt)
        else:
            self._prompts.put_nowait(prompt)

    def _request(self, message: dict[str, Any]) -> None:
        request_id, request = message.get("request_id"), message.get("request")
        if not isinstance(request_id, str) or not isinstance(request, dict):
            return
        answer = self._requests.answer(request)
        self._sink.record({"type": "control_response", "response": {**answer, "request_id": request_id}})
        for record in self._requests.take_records(self._wire):
            self._sink.record(record)

    def _response(self, response: Any) -> None:
        if not isinstance(response, dict):
            return
        future = self._asked.get(str(response.get("request_id")))
        if future is None or future.done():
            return
        body = response.get("response")
        if response.get("subtype") == "success" and isinstance(body, dict):
            future.set_result(body)
        else:
            reason = response.get("error") or "The host gave no answer."
            future.set_result({"behavior": "deny", "message": str(reason)})

    def _send_request(self, request_id: str, request: dict[str, Any]) -> None:
        self._sink.record({"type": "control_request", "request_id": request_id, "request": request})

    def _state(self, state: str) -> None:
        if self._states:
            only = True if self._host_only else None
            self._sink.record(self._wire.system("session_state_changed", state=state, sdk_host_only=only))

    def _lifecycle(self, uuid: str, state: str) -> None:
        if uuid in self._told:
            self._sink.record(
                {
                    "type": "command_lifecycle",
                    "command_uuid": uuid,
                    "state": state,
                    "uuid": self._session.parts.new_id(),
                    "session_id": self._session.id,
                }
            )

    def _replay(self, uuid: str) -> None:
        prompt = self._told.get(uuid)
        if prompt is not None and self._o.replay_user_messages:
            self._sink.record(self._wire.user(prompt.content, uuid, isReplay=True))


def _read_answer(question: AskPermission, answer: dict[str, Any]) -> Answer:
    if answer.get("behavior") == "allow":
        updated, updates = answer.get("updatedInput"), answer.get("updatedPermissions")
        changed = updated if isinstance(updated, dict) else None
        return Allow(changed, updates if isinstance(updates, list) else [])
    message = answer.get("message")
    words = message if isinstance(message, str) and message else question.decision.message
    return Refuse(words, interrupt=answer.get("interrupt") is True)
