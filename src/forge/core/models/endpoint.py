"""One model server: address, key, headers; posts requests and reads event streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.http.client import Client, Response, Timeouts
from forge.core.models.credential import Credential
from forge.core.models.errors import Peer, http_error, stream_error, unreadable
from forge.core.models.sse import Parser
from forge.foundation.encode import NOT_JSON, dumps
from forge.version import VERSION

_decode = msgspec.json.Decoder().decode
_KEPT_FOR_DIAGNOSIS = 65_536


class Address(msgspec.Struct, frozen=True):
    """Where and how to ask. `auth` is x-api-key, bearer, both or none; `hint` helps when unreachable."""

    base_url: str
    auth: str
    peer: Peer
    headers: dict[str, str] = {}
    hint: str = ""

    def __repr__(self) -> str:
        # Headers may hold secrets.
        return f"Address({self.peer.host}, {self.auth})"


class Endpoint:
    """Sends authenticated requests to one server."""

    def __init__(self, address: Address, credential: Credential, env: Mapping[str, str]) -> None:
        self._address = address
        self._credential = credential
        self._client = Client(env, _timeouts(env))

    async def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Response:
        """Posts a JSON body; raises `ModelError` unless the answer is a success."""
        raw = dumps(body)
        response = await self._send("POST", path, raw, headers or {})
        if response.status == 401 and self._credential.renewable:
            async with response:
                self._credential.forget()
            response = await self._send("POST", path, raw, headers or {})
        return await self._checked(response)

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """The decoded JSON at a path; raises `ModelError`."""
        async with await self._checked(await self._send("GET", path, b"", headers or {})) as response:
            try:
                return _decode(await response.read_all())
            except NOT_JSON:
                raise unreadable("something that is not JSON") from None

    async def close(self) -> None:
        await self._client.close()

    async def _send(self, method: str, path: str, body: bytes, extra: Mapping[str, str]) -> Response:
        address = self._address
        headers = {"user-agent": f"forge/{VERSION}", "accept": "text/event-stream, application/json"}
        if body:
            headers["content-type"] = "application/json"
        headers |= extra
        headers |= _auth(address.auth, await self._credential.get())
        headers |= {name.lower(): value for name, value in address.headers.items()}
        url = address.base_url.rstrip("/") + path
        return await self._client.send(method, url, headers, body, address.hint)

    async def _checked(self, response: Response) -> Response:
        if 200 <= response.status < 300:
            return response
        async with response:
            body = self._credential.hide(await response.read_all(limit=_KEPT_FOR_DIAGNOSIS))
            raise http_error(response.status, response.headers, body, self._address.peer)


class EventReader:
    """Decodes the events of a streamed answer, as many at a time as have arrived. `done` after `[DONE]`."""

    def __init__(self, response: Response) -> None:
        self.request_id = response.headers.get("request-id") or response.headers.get("x-request-id") or ""
        self.done = False
        self._response = response
        self._parser = Parser()
        self._unseen: bytes | None = b""
        self._ended = False

    async def next(self) -> list[dict[str, Any]] | None:
        """The next events; None at the end of the stream or after `[DONE]`."""
        while not self._ended:
            piece = await self._response.read()
            found = self._parser.feed(piece) if piece else self._parser.end()
            self._ended = not piece
            if found:
                self._unseen = None
                return self._events(found)
            if self._unseen is not None:
                self._unseen = (self._unseen + piece)[:_KEPT_FOR_DIAGNOSIS]
        return self._without_events()

    def _events(self, found: list[bytes]) -> list[dict[str, Any]]:
        events = []
        for data in found:
            if data == b"[DONE]":
                self.done = self._ended = True
                break
            try:
                event = _decode(data)
            except NOT_JSON:
                raise unreadable("an event that is not JSON", self.request_id) from None
            if isinstance(event, dict):
                events.append(event)
        return events

    def _without_events(self) -> list[dict[str, Any]] | None:
        """Some servers answer 200 with a plain JSON document: an error, or the whole reply at once."""
        if not self._unseen:
            return None
        try:
            document = _decode(self._unseen)
        except NOT_JSON:
            document = None
        self._unseen = None
        if not isinstance(document, dict):
            raise unreadable("no event stream", self.request_id)
        if document.get("error"):
            raise stream_error(document, self.request_id)
        return [document]


def _auth(style: str, key: str) -> dict[str, str]:
    if not key or style == "none":
        return {}
    headers = {}
    if style in ("x-api-key", "both"):
        headers["x-api-key"] = key
    if style in ("bearer", "both"):
        headers["authorization"] = f"Bearer {key}"
    return headers


def _timeouts(env: Mapping[str, str]) -> Timeouts:
    wanted = env.get("API_TIMEOUT_MS", "")
    return Timeouts(idle=int(wanted) / 1000) if wanted.isdecimal() and int(wanted) else Timeouts()
