from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.core.components.kinds import LspServer
from forge.core.lsp.connection import Launch, Unavailable
from forge.core.lsp.finding import Finding
from forge.core.lsp.server import LanguageServer, extension_of
from forge.core.lsp.servers import LanguageServers
from forge.core.registry import Component
from forge.foundation.origin import BUILTIN
from house.source import ROOT
from leftovers import left_running

SERVER = str(ROOT / "tests/language_server.py")
LANGUAGES = {".foo": "foolang"}
HOVER = ("textDocument/hover", {"textDocument": {"uri": "x"}})


def config(mode: str, log: str = "", **facts: Any) -> LspServer:
    return LspServer(sys.executable, LANGUAGES, args=["-I", "-S", SERVER, mode, log], **facts)


def use(
    tmp_path: Path, config: LspServer, what: Callable[[LanguageServer, str], Awaitable[Any]]
) -> tuple[Any, list[list[Finding]]]:
    """The result of what is done with a server and a file `a.foo`, and everything that was heard."""
    path = tmp_path / "a.foo"
    path.write_text("good\n  bad line\n")

    async def run() -> Any:
        server = LanguageServer(Launch("plugin:p:fake", config, dict(os.environ), str(tmp_path)))
        try:
            async with asyncio.timeout(10):
                return await what(server, str(path))
        finally:
            await server.close()
            assert left_running() == []

    return asyncio.run(run()), heard_of(tmp_path)


def heard_of(tmp_path: Path) -> list[list[Finding]]:
    return HEARD.pop(str(tmp_path / "a.foo"), [])


HEARD: dict[str, list[list[Finding]]] = {}


def hear(path: str, findings: list[Finding]) -> None:
    HEARD.setdefault(path, []).append(findings)


async def edit_once(server: LanguageServer, path: str) -> None:
    await server.edited(path, hear)


def test_a_file_is_opened_then_changed_and_saved_and_what_is_wrong_is_heard(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def twice(server: LanguageServer, path: str) -> None:
        await server.edited(path, hear)
        Path(path).write_text("bad\n")
        await server.edited(path, hear)

    settings = {"a": {"b": 1}}
    _, heard = use(tmp_path, config("good", str(log), settings=settings), twice)
    assert heard == [[Finding(2, 3, "  bad line", end=(1, 1))], [Finding(1, 1, "bad", end=(1, 1))]]
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    uri = f"file://{tmp_path}/a.foo"
    asked = [m for m in sent if "method" in m and m["method"] != "initialize"]
    assert [(m["method"], m.get("params")) for m in asked] == [
        ("initialized", {}),
        ("workspace/didChangeConfiguration", {"settings": settings}),
        (
            "textDocument/didOpen",
            {
                "textDocument": {
                    "uri": uri,
                    "version": 1,
                    "languageId": "foolang",
                    "text": "good\n  bad line\n",
                }
            },
        ),
        (
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "bad\n"}]},
        ),
        ("textDocument/didSave", {"textDocument": {"uri": uri}}),
        ("shutdown", None),
        ("exit", None),
    ]
    answers = {m["id"]: m.get("result", m.get("error")) for m in sent if "method" not in m}
    assert answers == {
        900: [1, None, settings],
        901: None,
        902: {"code": -32601, "message": "Forge does not know workspace/unheardOf"},
    }


def test_the_handshake_names_the_project_and_what_the_client_can_do(tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = {"initialization_options": {"deep": [1]}, "workspace_folder": "inner"}
    use(tmp_path, config("good", str(log), **options), edit_once)
    params = json.loads(log.read_text().splitlines()[0])["params"]
    known = {k: v for k, v in params.items() if k not in ("capabilities", "processId", "clientInfo")}
    assert known == {
        "initializationOptions": {"deep": [1]},
        "workspaceFolders": [{"uri": f"file://{tmp_path}/inner", "name": "inner"}],
        "rootPath": f"{tmp_path}/inner",
        "rootUri": f"file://{tmp_path}/inner",
    }
    assert params["capabilities"]["workspace"]["configuration"] is True


def test_a_crashed_server_is_started_again_for_the_next_edit(tmp_path: Path) -> None:
    log = str(tmp_path / "log")

    async def crash_and_edit(server: LanguageServer, path: str) -> int:
        with pytest.raises(Unavailable, match="it has ended; its last words: I cannot go on"):
            await server.edited(path, hear)
        await server.edited(path, hear)
        return server.restarts

    restarts, heard = use(tmp_path, config("once", log), crash_and_edit)
    assert (restarts, heard) == (1, [[Finding(2, 3, "  bad line", end=(1, 1))]])


@pytest.mark.parametrize(
    ("facts", "starts"),
    [({"max_restarts": 0}, 1), ({"max_restarts": 2}, 3), ({"restart_on_crash": False}, 1), ({}, 4)],
)
def test_a_server_that_always_crashes_is_given_up(tmp_path: Path, facts: dict[str, Any], starts: int) -> None:
    log = tmp_path / "log"

    async def insist(server: LanguageServer, path: str) -> str:
        words = ""
        for _ in range(6):
            with pytest.raises(Unavailable) as caught:
                await server.ask(path, *HOVER, None)
            words = str(caught.value)
        return words

    words, _ = use(tmp_path, config("crash", str(log), **facts), insist)
    assert words == ("plugin:p:fake is not started again: it has ended; its last words: I cannot go on")
    assert log.read_text().count('"initialize"') == starts


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (config("hang", startup_timeout=100), "did not start: it did not answer within 0.1 seconds"),
        (config("garbage"), "did not start: "),
        (LspServer("/no/such/program", LANGUAGES), "cannot be started: No such file or directory"),
        (LspServer("true", LANGUAGES), "did not start: it has ended"),
        (
            LspServer("sh", LANGUAGES, args=["-c", "echo my reason >&2; exit 3"]),
            "did not start: it has ended; its last words: my reason",
        ),
    ],
)
def test_a_server_that_does_not_come_up_says_why(tmp_path: Path, given: LspServer, reason: str) -> None:
    async def fail(server: LanguageServer, path: str) -> str:
        with pytest.raises(Unavailable) as caught:
            await server.edited(path, hear)
        return str(caught.value)

    words, _ = use(tmp_path, given, fail)
    assert words.startswith("plugin:p:fake")
    assert reason in words


@pytest.mark.parametrize(
    ("method", "reason"),
    [("textDocument/definition", "boom"), ("textDocument/hover", "no answer within 0.2 seconds")],
)
def test_a_request_without_an_answer_says_which_one_and_why(tmp_path: Path, method: str, reason: str) -> None:
    async def ask(server: LanguageServer, path: str) -> str:
        with pytest.raises(Unavailable) as caught:
            await server.ask(path, method, {}, None)
        return str(caught.value)

    words, _ = use(tmp_path, config("good", request_timeout=200), ask)
    assert words == f"LSP request '{method}' failed for server 'plugin:p:fake': {reason}"


def test_a_server_that_ignores_the_goodbye_is_killed_with_its_children(tmp_path: Path) -> None:
    use(tmp_path, config("deaf", shutdown_timeout=50), edit_once)


def test_interrupting_a_start_leaves_no_process_behind(tmp_path: Path) -> None:
    async def interrupt(server: LanguageServer, path: str) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await server.edited(path, hear)
        assert left_running() == []

    use(tmp_path, config("hang"), interrupt)


def test_diagnostics_can_be_switched_off(tmp_path: Path) -> None:
    _, heard = use(tmp_path, config("good", diagnostics=False), edit_once)
    assert heard == []


@pytest.mark.parametrize(
    ("path", "extension"),
    [("/a/b.py", ".py"), ("/a.d/b", ""), ("/a/.bashrc", ".bashrc"), ("/a/b.tar.gz", ".gz"), ("x", "")],
)
def test_servers_are_chosen_by_the_last_extension(path: str, extension: str) -> None:
    assert extension_of(path) == extension


def test_the_first_server_of_an_extension_serves_it_and_one_that_left_is_ended() -> None:
    first = Component("one", LspServer("one", {".foo": "a"}), BUILTIN)
    second = Component("two", LspServer("two", {".foo": "b", ".bar": "b"}), BUILTIN)
    present = [first, second]

    async def choose() -> list[str | None]:
        servers = LanguageServers()
        servers.components = lambda: present
        before = [servers.find(path) for path in ("/x.foo", "/x.bar", "/x.py", "/x.foo")]
        assert before[0] is before[3]
        present.remove(first)
        after = servers.find("/x.foo")
        await servers.close()
        return [server.name if server else None for server in [*before, after]]

    assert asyncio.run(choose()) == ["one", "two", None, "one", "two"]
