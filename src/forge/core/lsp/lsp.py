"""The LSP tool: asks a language server about a place in a file."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.lsp.connection import Unavailable
from forge.core.lsp.hearing import Hearing
from forge.core.lsp.operations import Question, ask
from forge.core.lsp.server import extension_of
from forge.core.lsp.servers import LanguageServers
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.homes import absolute


class Args(msgspec.Struct, frozen=True, rename="camel"):
    operation: str
    file_path: str
    line: int
    character: int
    query: str = ""


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what is no file."""
    _refuse_missing(_path(args, ctx), args.file_path)


def _refuse_missing(path: str, given: str) -> None:
    if not os.path.exists(path):
        raise ToolError(f"File does not exist: {given}")
    if not os.path.isfile(path):
        raise ToolError(f"Path is not a file: {given}")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Asks the server of the file's extension."""
    path = _path(args, ctx)
    facts: dict[str, Any] = {"operation": args.operation, "filePath": args.file_path}
    server = ctx.keep(LanguageServers).find(path)
    if server is None:
        words = f"No LSP server available for file type: {extension_of(path)}"
        return ToolOutput(words, {**facts, "result": words})
    question = Question(args.operation, path, args.line, args.character, args.query)
    try:
        answer = await ask(server, question, ctx.cwd, ctx.keep(Hearing).hear)
    except Unavailable as error:
        words = f"Error performing {args.operation}: {error}"
        return ToolOutput(words, {**facts, "result": words})
    counted = {"resultCount": answer.results, "fileCount": answer.files}
    return ToolOutput(answer.text, {**facts, "result": answer.text, **counted})


def _path(args: Args, ctx: ToolContext) -> str:
    return absolute(args.file_path, ctx.cwd, ctx.env.get("HOME", "~"))


ACTION: Action[Args] = Action(Args, run, check)
