"""A running language server: its process, the handshake, its questions, its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from forge.core.components.kinds import LspServer
from forge.core.lsp.place import uri_of
from forge.foundation.jsonrpc import METHOD_NOT_FOUND, Gone, HeaderFraming, Peer, Refusal, connect
from forge.foundation.system.piped import LastWords, spawn_piped
from forge.foundation.system.process import Child, Unsupported
from forge.version import VERSION

STARTUP_SECONDS = 30.0
SHUTDOWN_SECONDS = 2.0
_CAPABILITIES = {
    "workspace": {
        "configuration": True,
        "workspaceFolders": False,
        "didChangeWatchedFiles": {"dynamicRegistration": False},
    },
    "textDocument": {
        "synchronization": {
            "dynamicRegistration": False,
            "willSave": False,
            "willSaveWaitUntil": False,
            "didSave": True,
        },
        "publishDiagnostics": {
            "relatedInformation": True,
            "tagSupport": {"valueSet": [1, 2]},
            "versionSupport": True,
            "codeDescriptionSupport": True,
            "dataSupport": False,
        },
        "hover": {"dynamicRegistration": False, "contentFormat": ["markdown", "plaintext"]},
        "definition": {"dynamicRegistration": False, "linkSupport": True},
        "references": {"dynamicRegistration": False},
        "documentSymbol": {"dynamicRegistration": False, "hierarchicalDocumentSymbolSupport": True},
        "callHierarchy": {"dynamicRegistration": False},
    },
    "general": {"positionEncodings": ["utf-16"]},
}


class Launch(msgspec.Struct, frozen=True):
    """How a server is started; variables are replaced, `cwd` is the project."""

    name: str
    config: LspServer
    env: Mapping[str, str] = {}
    cwd: str = "/"

    @property
    def root(self) -> str:
        return os.path.normpath(os.path.join(self.cwd, self.config.workspace_folder))


class Unavailable(Exception):
    """The server cannot be used; the text says which one and why."""


class Connection:
    """A server that has said hello; `serving` ends with it."""

    def __init__(self, launch: Launch, child: Child, peer: Peer, errors: LastWords) -> None:
        self.launch = launch
        self.peer = peer
        self._child = child
        self._errors = errors
        self.serving = asyncio.ensure_future(peer.serve())

    @property
    def alive(self) -> bool:
        return self.peer.gone is None

    def reason(self, error: object) -> str:
        """What went wrong, with what the server itself has said about it."""
        said = str(self._errors)
        return f"{error}" + (f"; its last words: {said[-500:]}" if said else "")

    async def greet(self) -> None:
        """The handshake."""
        config, root = self.launch.config, self.launch.root
        folder = {"uri": uri_of(root), "name": os.path.basename(root)}
        options = config.initialization_options
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": "Forge", "version": VERSION},
            "initializationOptions": {} if options is None else options,
            "workspaceFolders": [folder],
            "rootPath": root,
            "rootUri": folder["uri"],
            "capabilities": _CAPABILITIES,
        }
        await self.peer.request("initialize", params)
        self.peer.notify("initialized", {})
        if config.settings is not None:
            self.peer.notify("workspace/didChangeConfiguration", {"settings": config.settings})

    async def close(self) -> None:
        """Says goodbye, waits a little and kills what is left of the server and its children."""
        seconds = _seconds(self.launch.config.shutdown_timeout, SHUTDOWN_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                await self.peer.request("shutdown")
                self.peer.notify("exit")
                await self._child.wait()
        except (TimeoutError, Gone, Refusal):
            pass
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Ends the whole process group."""
        self._child.kill()
        self.peer.end("it was ended")
        self.serving.cancel()
        await asyncio.gather(self.serving, return_exceptions=True)
        await self._errors.close()
        await self._child.wait()


async def open_connection(launch: Launch, notice: Callable[[str, Any], None]) -> Connection:
    """Starts a server; Unavailable if it does not come up in time."""
    limit = _seconds(launch.config.startup_timeout, STARTUP_SECONDS)
    try:
        connection = await _started(launch, notice)
    except (OSError, Unsupported, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"{launch.name}: {launch.config.command} cannot be started: {why}") from None
    try:
        async with asyncio.timeout(limit):
            await connection.greet()
    except TimeoutError:
        why = f"it did not answer within {limit:g} seconds"
    except (Gone, Refusal) as error:
        why = str(error)
    except asyncio.CancelledError:
        await asyncio.shield(connection.kill())
        raise
    else:
        return connection
    await connection.kill()
    raise Unavailable(f"{launch.name} did not start: {connection.reason(why)}")


async def _started(launch: Launch, notice: Callable[[str, Any], None]) -> Connection:
    config = launch.config
    argv = [config.command, *config.args]
    child, reading, writing, errors_end = spawn_piped(argv, launch.cwd, launch.env)
    errors = LastWords()
    await errors.listen(errors_end)
    peer = Peer(await connect(reading, writing), HeaderFraming(), _answers(launch), notice)
    return Connection(launch, child, peer, errors)


def _answers(launch: Launch) -> Callable[[str, Any], Any]:
    """What a server may ask of us."""

    async def answer(method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            items = params.get("items", []) if isinstance(params, dict) else []
            return [_section(launch.config.settings, item) for item in items]
        if method == "workspace/workspaceFolders":
            return [{"uri": uri_of(launch.root), "name": os.path.basename(launch.root)}]
        if method == "workspace/applyEdit":
            return {"applied": False, "failureReason": "Forge changes files only through its tools."}
        if method in _NOTHING_TO_SAY:
            return None
        raise Refusal(f"Forge does not know {method}", METHOD_NOT_FOUND)

    return answer


_NOTHING_TO_SAY = frozenset(
    [
        "client/registerCapability",
        "client/unregisterCapability",
        "window/showMessageRequest",
        "window/workDoneProgress/create",
        "workspace/diagnostic/refresh",
        "workspace/semanticTokens/refresh",
        "workspace/inlayHint/refresh",
        "workspace/codeLens/refresh",
    ]
)


def _section(settings: Any, item: Any) -> Any:
    """The part of the settings a server asks for; null where there is none."""
    name = item.get("section") if isinstance(item, dict) else None
    found = settings
    for key in name.split(".") if isinstance(name, str) and name else ():
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _seconds(milliseconds: float | None, default: float) -> float:
    return default if milliseconds is None else milliseconds / 1000
