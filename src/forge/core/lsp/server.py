"""One language server of a session: started when it is needed, started again when it has crashed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from forge.core.lsp.connection import Connection, Launch, Unavailable, open_connection
from forge.core.lsp.finding import Finding, read_findings
from forge.core.lsp.place import path_of, uri_of
from forge.foundation.jsonrpc import Gone, Refusal

MAX_RESTARTS = 3
MOST_BYTES = 10 << 20
# How long an edit is remembered as one whose diagnostics are still to come.
PATIENCE = 60.0

Listener = Callable[[str, list[Finding]], None]


class LanguageServer:
    """Knows which files the server has open, and who wants to hear what it finds in them."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.name = launch.name
        self.late = False
        self.restarts = 0
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._sending = asyncio.Lock()
        self._failure = ""
        self._texts: dict[str, tuple[int, str]] = {}
        self._listeners: dict[str, Listener] = {}
        self._listener: Listener | None = None
        self._published: dict[str, asyncio.Event] = {}

    async def edited(self, path: str, listener: Listener) -> None:
        """Tells the server what is in a file now, and returns when it has said what it thinks of it."""
        self._listeners[path] = self._listener = listener
        if path in self._published:
            self._published[path].set()  # what an earlier edit waits for will not come any more
        published = self._published[path] = asyncio.Event()
        connection = await self._sync(path)
        if connection is None or not self.launch.config.diagnostics:
            return
        waiting = asyncio.ensure_future(published.wait())
        try:
            ends = [waiting, connection.serving]
            await asyncio.wait(ends, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not published.is_set() and not connection.alive:
            raise Unavailable(f"{self.name}: {connection.reason(connection.peer.gone)}")

    async def ask(self, path: str, method: str, params: dict[str, Any], listener: Listener | None) -> Any:
        """The answer to a request about a file; Unavailable if there is none."""
        if listener is not None and path not in self._listeners:
            self._listeners[path] = listener
        await self._sync(path)
        connection = await self._connected()
        seconds = self.launch.config.request_timeout / 1000
        try:
            return await connection.peer.request(method, params, seconds=seconds)
        except Refusal as refusal:
            why: object = refusal
        except TimeoutError:
            why = f"no answer within {seconds:g} seconds"
        except Gone as gone:
            why = connection.reason(gone)
        raise Unavailable(f"LSP request '{method}' failed for server '{self.name}': {why}")

    async def close(self) -> None:
        """Ends the server, if it runs; it is not started again."""
        async with self._starting:
            connection, self._connection = self._connection, None
            self._failure = f"{self.name} was ended"
            if connection is not None:
                await connection.close()

    async def _sync(self, path: str) -> Connection | None:
        """Opens a file in the server or gives it the new text; None if it has it already."""
        # One at a time: an older text must not arrive behind a newer one.
        async with self._sending:
            content = await asyncio.to_thread(_read, path)
            connection = await self._connected()
            return connection if self._send(connection, path, content) else None

    def _send(self, connection: Connection, path: str, content: str) -> bool:
        version, known = self._texts.get(path, (0, ""))
        if version and known == content:
            return False
        document: dict[str, Any] = {"uri": uri_of(path), "version": version + 1}
        self._texts[path] = (version + 1, content)
        try:
            if not version:
                language = self.launch.config.extension_to_language.get(extension_of(path), "plaintext")
                opened = {**document, "languageId": language, "text": content}
                connection.peer.notify("textDocument/didOpen", {"textDocument": opened})
            else:
                changes = [{"text": content}]
                changed = {"textDocument": document, "contentChanges": changes}
                connection.peer.notify("textDocument/didChange", changed)
                connection.peer.notify("textDocument/didSave", {"textDocument": {"uri": document["uri"]}})
        except Gone as gone:
            raise Unavailable(f"{self.name}: {connection.reason(gone)}") from None
        return True

    async def _connected(self) -> Connection:
        async with self._starting:
            if self._connection is not None and self._connection.alive:
                return self._connection
            if self._connection is not None:
                await self._crashed(self._connection)
            if self._failure:
                raise Unavailable(self._failure)
            self._texts.clear()
            try:
                self._connection = await open_connection(self.launch, self._notice)
            except Unavailable as unavailable:
                if not self._may_restart():
                    self._failure = str(unavailable)
                raise
            return self._connection

    async def _crashed(self, connection: Connection) -> None:
        self._connection = None
        await connection.kill()
        if not self._may_restart():
            self._failure = f"{self.name} is not started again: {connection.reason(connection.peer.gone)}"

    def _may_restart(self) -> bool:
        """Counts an attempt to start again; false if there are none left."""
        config = self.launch.config
        most = MAX_RESTARTS if config.max_restarts is None else config.max_restarts
        self.restarts += 1
        return config.restart_on_crash and self.restarts <= most

    def _notice(self, method: str, params: Any) -> None:
        if method != "textDocument/publishDiagnostics" or not isinstance(params, dict):
            return
        path = path_of(str(params.get("uri", "")))
        version = params.get("version")
        if isinstance(version, int) and version < self._texts.get(path, (0, ""))[0]:
            return  # about a text that has changed since
        self.late = False
        listener = self._listeners.get(path, self._listener)
        if listener is not None and self.launch.config.diagnostics:
            listener(path, read_findings(params.get("diagnostics")))
        if path in self._published:
            self._published[path].set()


def extension_of(path: str) -> str:
    """The ending by which servers are chosen, with its dot; empty if there is none."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from None
    if len(raw) > MOST_BYTES:
        raise Unavailable(f"{path} is too large for a language server ({MOST_BYTES >> 20} MB at most)")
    return raw.decode("utf-8", "replace")
