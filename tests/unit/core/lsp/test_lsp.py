"""The LSP tool against a real language server: ty, from the package index."""

from __future__ import annotations

import asyncio
import os
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from forge.core.components.kinds import LspServer
from forge.core.lsp.connection import Launch
from forge.core.lsp.lsp import ACTION
from forge.core.lsp.servers import LanguageServers
from forge.core.registry import Component
from forge.core.tool import ToolOutput
from forge.foundation.origin import BUILTIN
from unit.core.tools.context import RecordingContext, Refused, calling

TY = os.path.join(sysconfig.get_path("scripts"), "ty")
CODE = """\
class Box:
    def size(self) -> int:
        return 1


def use(box: Box) -> int:
    return box.size()
"""


async def asking(tmp_path: Path, questions: list[dict[str, Any]]) -> list[ToolOutput]:
    (tmp_path / "m.py").write_text(CODE)
    context = RecordingContext(tmp_path)
    component = Component("plugin:p:ty", LspServer(TY, {".py": "python"}, args=["server"]), BUILTIN)
    servers = context.keep(LanguageServers)
    servers.components = lambda: [component]
    servers.prepare = lambda c: Launch(c.name, c.value, context.env, str(tmp_path))
    try:
        return [await calling(ACTION, context, **{"filePath": "m.py", **q}) for q in questions]
    finally:
        await servers.close()


def question(operation: str, line: int, character: int, **more: Any) -> dict[str, Any]:
    return {"operation": operation, "line": line, "character": character, **more}


@pytest.mark.requirement("S0-45")
def test_a_real_server_answers_all_nine_operations(tmp_path: Path) -> None:
    questions = [
        question("goToDefinition", 7, 16),
        question("findReferences", 2, 9),
        question("hover", 7, 16),
        question("documentSymbol", 1, 1),
        question("workspaceSymbol", 1, 1, query="use"),
        question("goToImplementation", 2, 9),
        question("prepareCallHierarchy", 2, 9),
        question("incomingCalls", 2, 9),
        question("outgoingCalls", 6, 5),
    ]
    answers = asyncio.run(asking(tmp_path, questions))
    assert [str(a.content).partition(" [m")[0] for a in answers] == [
        "Defined in m.py:2:9",
        "Found 2 references across 1 file:\n\nm.py:\n  Line 2:9\n  Line 7:16",
        "Hover info at 7:16:\n\n```python\nbound method Box.size() -> int\n```",
        "Document symbols:\nBox (Class) - Line 1\n  size (Method) - Line 2\nuse (Function) - Line 6",
        "Found 1 symbol in workspace:\n\nm.py:\n  use (Function) - Line 6",
        "Defined in m.py:2:9",
        "Call hierarchy item: size (Method) - m.py:2",
        "Found 1 incoming call:\n\nm.py:\n  use (Function) - Line 6 [calls at: 7:16]",
        "Found 1 outgoing call:\n\nm.py:\n  size (Method) - Line 2 [called from: 7:16]",
    ]
    assert answers[1].data == {
        "operation": "findReferences",
        "filePath": "m.py",
        "result": answers[1].content,
        "resultCount": 2,
        "fileCount": 1,
    }


def test_a_file_nobody_serves_is_an_answer_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "z.bar").write_text("x")
    (answer,) = asyncio.run(asking(tmp_path, [question("hover", 1, 1, filePath="z.bar")]))
    words = "No LSP server available for file type: .bar"
    assert answer == ToolOutput(words, {"operation": "hover", "filePath": "z.bar", "result": words})


@pytest.mark.parametrize(
    ("path", "words"),
    [("none.py", "File does not exist: none.py"), (".", "Path is not a file: .")],
)
def test_what_is_no_file_is_refused(tmp_path: Path, path: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        asyncio.run(asking(tmp_path, [question("hover", 1, 1, filePath=path)]))
    assert caught.value.message == words


def test_a_change_on_disk_is_seen_by_the_next_question(tmp_path: Path) -> None:
    async def change() -> ToolOutput:
        context = RecordingContext(tmp_path)
        (tmp_path / "m.py").write_text("one = 1\n")
        component = Component("ty", LspServer(TY, {".py": "python"}, args=["server"]), BUILTIN)
        servers = context.keep(LanguageServers)
        servers.components = lambda: [component]
        servers.prepare = lambda c: Launch(c.name, c.value, context.env, str(tmp_path))
        ask = {**question("documentSymbol", 1, 1), "filePath": "m.py"}
        await calling(ACTION, context, **ask)
        (tmp_path / "m.py").write_text("two = 2\n")
        answer = await calling(ACTION, context, **ask)
        await servers.close()
        return answer

    assert asyncio.run(change()).content == "Document symbols:\ntwo (Variable) - Line 1"
