from __future__ import annotations

import json
import os
import select
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from house.source import ROOT

EXAMPLE = str(ROOT / "docs/examples/python-types")
PATH = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
OK = [{"text": "ok"}]


def tool(used: str, /, **given: Any) -> list[dict[str, Any]]:
    return [{"tool": used, "input": given}]


def last_texts(body: dict[str, Any]) -> str:
    """What the last message says; reminders may stand inside a result."""
    blocks = body["messages"][-1]["content"]
    return "\n".join(str(block.get("text") or block.get("content", "")) for block in blocks)


@pytest.mark.requirement("S0-45")
def test_the_example_plugin_reports_type_errors_after_an_edit(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    asked = {"operation": "hover", "filePath": str(file), "line": 1, "character": 1}
    turns = [
        tool("Write", file_path=str(file), content="size: str = 3\n"),
        tool("ToolSearch", query="select:LSP"),
        tool("LSP", **asked),
        OK,
    ]
    with serve(turns) as server:
        env = environment(home, server.url, PATH=PATH)
        mode = ("--permission-mode", "acceptEdits")
        run = forge("-p", "go", "--plugin-dir", EXAMPLE, *mode, *STREAM, cwd=tmp_path, env=env)
        bodies = [request.body for request in server.requests]
    assert run.code == 0, run.err
    assert "LSP" in run.of("system", "init")[0]["tools"]
    told = last_texts(bodies[1])
    assert "<new-diagnostics>The following new diagnostic issues were detected:\n\nm.py:\n" in told
    assert "  ✘ [Line 1:13] Object of type `Literal[3]` is not assignable to `str`" in told
    assert "<new-diagnostics>" not in last_texts(bodies[2])
    results = [r["tool_use_result"] for r in run.of("user") if "tool_use_result" in r]
    assert results[-1]["result"].startswith("Hover info at 1:1:")


def test_without_language_servers_there_is_no_such_tool(home: Path, tmp_path: Path) -> None:
    with serve([OK]) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", *STREAM, cwd=tmp_path, env=env)
    assert "LSP" not in run.of("system", "init")[0]["tools"]


def test_a_server_that_cannot_start_is_reported_and_the_work_goes_on(home: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    broken = '{"x": {"command": "no-such-server", "extensionToLanguage": {".py": "python"}}}'
    (plugin / ".lsp.json").write_text(broken)
    turns = [tool("Write", file_path=str(tmp_path / "m.py"), content="x\n"), OK]
    with serve(turns) as server:
        env = environment(home, server.url)
        run = forge(
            "-p", "go", "--plugin-dir", str(plugin), "--permission-mode", "acceptEdits", cwd=tmp_path, env=env
        )
    assert (run.code, run.out) == (0, "ok\n")
    assert "no-such-server cannot be started: No such file or directory" in run.err


def test_no_server_outlives_the_session(home: Path, tmp_path: Path) -> None:
    plugin, fifo = tmp_path / "plugin", tmp_path / "fifo"
    plugin.mkdir()
    os.mkfifo(fifo)
    # The server and its child hold the fifo open as long as they live.
    script = 'exec 3>"$CLAUDE_PROJECT_DIR/fifo"; echo up >&3; sleep 1000 & exec "$0" -I -S "$1" deaf'
    arguments = ["-c", script, sys.executable, str(ROOT / "tests/language_server.py")]
    facts = {"command": "sh", "args": arguments, "extensionToLanguage": {".py": "p"}, "shutdownTimeout": 50}
    (plugin / ".lsp.json").write_text(json.dumps({"x": facts}))
    turns = [tool("Write", file_path=str(tmp_path / "m.py"), content="x\n"), OK]
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with serve(turns) as server:
        env = environment(home, server.url)
        run = forge(
            "-p", "go", "--plugin-dir", str(plugin), "--permission-mode", "acceptEdits", cwd=tmp_path, env=env
        )
    assert run.code == 0, run.err
    assert os.read(reading, 100) == b"up\n"
    os.set_blocking(reading, True)
    ready, _, _ = select.select([reading], [], [], 5)
    assert (ready, os.read(reading, 1)) == ([reading], b"")
    os.close(reading)
