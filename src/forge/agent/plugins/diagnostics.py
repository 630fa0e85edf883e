"""Language servers see what tools have edited; the next request tells the model what they find wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from forge.agent.done import Done
from forge.agent.session import Session
from forge.core.message import Text, ToolUse
from forge.core.reminder import reminder
from forge.foundation.permissions.places import resolve

if TYPE_CHECKING:
    from forge.core.lsp.hearing import Hearing
    from forge.core.lsp.server import LanguageServer
    from forge.core.lsp.servers import LanguageServers

# How long the conversation waits for what a server thinks of an edit; later news come with a later request.
WAIT_SECONDS = 1.5
_EDITS = {"Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}


class Languages:
    """The servers of a conversation and of its sub-agents, and the edits they are looking at.

    `off`: this run wants none. `patience` is how long an edit may wait for them, in seconds.
    """

    def __init__(self) -> None:
        self.servers: LanguageServers | None = None
        self.off = False
        self.looking: set[asyncio.Task[None]] = set()
        self.complained: set[str] = set()
        self.patience = WAIT_SECONDS


async def show_edits(s: Session, calls: list[ToolUse], done: Mapping[str, Done]) -> None:
    """Gives edited files to their servers and waits a little for what these find."""
    paths = _edited(s, calls, done)
    servers = _servers(s) if paths else None
    if servers is None:
        return
    hearing, languages = _hearing(s), s.keep(Languages)
    awaited: list[asyncio.Task[None]] = []
    asked: list[LanguageServer] = []
    for path in paths:
        server = servers.find(path)
        if server is None:
            continue
        hearing.forget(path)
        task = asyncio.ensure_future(_look(s, server, path))
        languages.looking.add(task)
        task.add_done_callback(languages.looking.discard)
        # A server that has kept us waiting in vain is not waited for again until it speaks.
        if server.launch.config.diagnostics and not server.late:
            awaited.append(task)
            asked.append(server)
    if awaited:
        await asyncio.wait(awaited, timeout=languages.patience)
        for server, task in zip(asked, awaited, strict=True):
            server.late = server.late or not task.done()


def tell_diagnostics(s: Session) -> None:
    """Puts what servers have found since the last request into the history."""
    servers = _servers(s)
    if servers is None:
        return
    s.share(servers)
    news = _hearing(s).take()
    if news.text:
        words = reminder(news.text)
        s.recorder.reminder("diagnostics", words, {"files": news.files, "isNew": True})
        s.add_user([Text(words)])


async def end_languages(s: Session) -> None:
    """Ends all servers of a conversation."""
    languages = s.keep(Languages)
    for task in list(languages.looking):
        task.cancel()
    await asyncio.gather(*languages.looking, return_exceptions=True)
    if languages.servers is not None:
        await languages.servers.close()


def _edited(s: Session, calls: list[ToolUse], done: Mapping[str, Done]) -> list[str]:
    """The files that calls have changed, each once."""
    paths = []
    for call in calls:
        outcome = done.get(call.id)
        named = call.input.get(_EDITS.get(call.name, ""))
        if outcome is not None and isinstance(named, str) and not outcome.result.is_error:
            paths.append(resolve(named, s.situation))
    return list(dict.fromkeys(paths))


async def _look(s: Session, server: LanguageServer, path: str) -> None:
    """Shows one file to a server; the user hears once that a server cannot be used."""
    unavailable = import_module("forge.core.lsp.connection").Unavailable
    try:
        await server.edited(path, _hearing(s).hear)
    except unavailable as error:
        complained = s.keep(Languages).complained
        if server.name not in complained:
            complained.add(server.name)
            s.warn(f"Language server: {error}")


def _servers(s: Session) -> LanguageServers | None:
    """The servers, if a plugin brings one."""
    languages = s.keep(Languages)
    if languages.servers is None and not languages.off and len(s.parts.catalog.languages):
        made: LanguageServers = import_module("forge.agent.plugins.languages").language_servers(s)
        languages.servers = made
    return languages.servers


def _hearing(s: Session) -> Hearing:
    hearing: Hearing = s.keep(import_module("forge.core.lsp.hearing").Hearing)
    return hearing
