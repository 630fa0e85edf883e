from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from golden import Tokens, differences, recorded

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "stream-json"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

BASH = ("--allowedTools", "Bash")


def tool(used: str, /, **arguments: Any) -> dict[str, Any]:
    return {"tool": used, "input": arguments}


def text(words: str) -> list[dict[str, Any]]:
    return [{"text": words}]


def failing(status: int, kind: str, message: str, times: int = 9) -> dict[str, Any]:
    return {
        "errors": [{"status": status, "error": {"type": kind, "message": message}}] * times,
        "blocks": text("finally"),
    }


# name of the recording: turns of the model, arguments, environment
RUNS: dict[str, tuple[list[Any], tuple[str, ...], dict[str, str]]] = {
    "text": ([text("Hello there")], (), {}),
    "tool-bash": (
        [
            [*text("I will run it."), tool("Bash", command="echo hello", description="say hello")],
            text("done"),
        ],
        BASH,
        {},
    ),
    "tool-denied": ([[tool("Bash", command="touch x.txt")], text("could not")], (), {}),
    "tool-denied-rule": (
        [[tool("Bash", command="touch x.txt")], text("could not")],
        ("--disallowedTools", "Bash(touch *)"),
        {},
    ),
    "max-turns": ([[tool("Bash", command="echo 1")], text("x")], ("--max-turns", "1"), {}),
    "api-error-400": ([failing(400, "invalid_request_error", "bad thing")], (), {}),
    "api-error-429": ([failing(429, "rate_limit_error", "slow down")], (), {"CLAUDE_CODE_MAX_RETRIES": "1"}),
    "api-retry": ([failing(529, "overloaded_error", "busy", times=2)], (), {}),
    "partial-messages": (
        [[*text("Hello there friend"), {**tool("Bash", command="echo hi"), "pieces": 1}], text("bye now")],
        (*BASH, "--include-partial-messages"),
        {},
    ),
    "thinking-partial": (
        [[{"thinking": "let me think", "signature": "c2ln", "pieces": 1}, *text("Answer")]],
        ("--include-partial-messages",),
        {},
    ),
    "read-edit-write": (
        [
            [tool("Read", file_path="{cwd}/README.md")],
            [tool("Edit", file_path="{cwd}/README.md", old_string="hello", new_string="bye")],
            [tool("Write", file_path="{cwd}/new.txt", content="a\nb\n")],
            text("ok"),
        ],
        ("--permission-mode", "acceptEdits"),
        {},
    ),
    "bash-error": ([[tool("Bash", command="echo out; echo err >&2; exit 3")], text("ok")], BASH, {}),
    "unknown-tool": ([[tool("Nope")], text("ok")], (), {}),
    "bad-input": ([[tool("Bash", cmd="x")], text("ok")], BASH, {}),
    "structured-output": (
        [[tool("StructuredOutput", name="x", n=1)]],
        (
            "--json-schema",
            json.dumps(
                {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}
            ),
        ),
        {},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_repeated(name: str, tmp_path: Path) -> None:
    turns, args, more = RUNS[name]
    home, cwd = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    cwd.mkdir()
    (cwd / "README.md").write_text("hello\nworld\n")
    filled = json.loads(json.dumps(turns).replace("{cwd}", str(cwd)))
    with serve(filled) as server:
        run = forge("-p", "go", *STREAM, *args, cwd=cwd, env=environment(home, server.url, **more))
    tokens = Tokens(str(cwd), str(home))
    got = [tokens.of(r) for r in run.records]
    want = [recorded(json.loads(line)) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]
    assert [(r["type"], r.get("subtype")) for r in got] == [(r["type"], r.get("subtype")) for r in want], (
        run.err
    )
    found = [f"{w['type']}: {d}" for w, g in zip(want, got, strict=True) for d in differences(w, g)]
    assert found == []
