"""The questions the LSP tool can ask, and the requests they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from forge.core.lsp.answers import (
    Answer,
    call_items,
    definitions,
    document_symbols,
    hover,
    incoming_calls,
    outgoing_calls,
    references,
    workspace_symbols,
)
from forge.core.lsp.place import uri_of
from forge.core.lsp.server import LanguageServer, Listener

PREPARE = "textDocument/prepareCallHierarchy"
NO_ITEM = Answer("No call hierarchy item found at this position", 0, 0)


class Question(msgspec.Struct, frozen=True):
    """What is asked about a file; line and column count from 1."""

    operation: str
    path: str
    line: int
    character: int
    query: str = ""


class Operation(msgspec.Struct, frozen=True):
    """`method` is the request; with `follow` it is asked about the item that `method` has found."""

    method: str
    tell: Callable[[Any, str], Answer]
    follow: str = ""


OPERATIONS = {
    "goToDefinition": Operation("textDocument/definition", definitions),
    "findReferences": Operation("textDocument/references", references),
    "hover": Operation("textDocument/hover", hover),
    "documentSymbol": Operation("textDocument/documentSymbol", document_symbols),
    "workspaceSymbol": Operation("workspace/symbol", workspace_symbols),
    "goToImplementation": Operation("textDocument/implementation", definitions),
    "prepareCallHierarchy": Operation(PREPARE, call_items),
    "incomingCalls": Operation(PREPARE, incoming_calls, "callHierarchy/incomingCalls"),
    "outgoingCalls": Operation(PREPARE, outgoing_calls, "callHierarchy/outgoingCalls"),
}


async def ask(server: LanguageServer, question: Question, cwd: str, listener: Listener | None) -> Answer:
    """Asks a server; raises Unavailable if it does not answer."""
    operation = OPERATIONS[question.operation]
    found = await server.ask(question.path, operation.method, _params(operation.method, question), listener)
    if operation.follow:
        if not isinstance(found, list) or not found:
            return NO_ITEM
        found = await server.ask(question.path, operation.follow, {"item": found[0]}, listener)
    return operation.tell(found, cwd)


def _params(method: str, q: Question) -> dict[str, Any]:
    if method == "workspace/symbol":
        return {"query": q.query}
    params: dict[str, Any] = {"textDocument": {"uri": uri_of(q.path)}}
    if method != "textDocument/documentSymbol":
        params["position"] = {"line": q.line - 1, "character": q.character - 1}
    if method == "textDocument/references":
        params["context"] = {"includeDeclaration": True}
    return params
