from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge.foundation.history.transcript import read_records
from forge_run import environment, forge

TURNS: list[Any] = [
    [
        {"text": "Two things at once."},
        {"tool": "Bash", "input": {"command": "echo one"}},
        {"tool": "Read", "input": {"file_path": "{cwd}/README.md"}},
    ],
    [{"tool": "Edit", "input": {"file_path": "{cwd}/README.md", "old_string": "hello", "new_string": "bye"}}],
    [{"tool": "Bash", "arguments": "{not json"}],
    [{"tool": "Bash", "input": {"command": "rm -rf build"}}],
    [{"text": "All done."}],
]

PROTOCOLS = ("anthropic", "openai_chat", "openai_responses")


def play(protocol: str, project: Path, home: Path) -> tuple[list[Any], dict[str, Any]]:
    """Runs the scenario through one protocol; the conversation as the transcript has it, and the result."""
    project.mkdir(parents=True)
    home.mkdir()
    (project / "README.md").write_text("hello\nworld\n")
    turns = json.loads(json.dumps(TURNS).replace("{cwd}", str(project)))
    with serve(turns) as server:
        base = server.url if protocol == "anthropic" else f"{server.url}/v1"
        row = {"protocol": protocol, "baseUrl": base, "auth": "none", "models": {"m": {}}}
        args = (
            "--settings",
            json.dumps({"providers": {"fake": row}}),
            "--model",
            "fake/m",
            "--allowedTools",
            "Bash",
        )
        mode = (
            "--permission-mode",
            "acceptEdits",
            "--disallowedTools",
            "Bash(rm *)",
            "--output-format",
            "json",
        )
        run = forge("-p", "go", *args, *mode, cwd=project, env=environment(home))
    assert run.code == 0, run.err
    (path,) = home.rglob("*.jsonl")
    told = [r["message"] for r in read_records(str(path)) if r["type"] in ("user", "assistant")]
    return [plain(m["content"], project) for m in told], run.records[0]


def plain(content: Any, project: Path) -> Any:
    """Content without ids and paths of this run."""
    text = json.dumps(content).replace(str(project), "{cwd}")
    blocks = json.loads(text)
    for block in blocks if isinstance(blocks, list) else []:
        block.pop("id", None)
        block.pop("tool_use_id", None)
    return blocks


def test_one_scenario_gives_the_same_transcript_and_result_through_every_protocol(tmp_path: Path) -> None:
    played = {name: play(name, tmp_path / name / "project", tmp_path / name / "home") for name in PROTOCOLS}
    transcripts = {name: transcript for name, (transcript, _) in played.items()}
    assert transcripts["openai_chat"] == transcripts["anthropic"]
    assert transcripts["openai_responses"] == transcripts["anthropic"]
    compared = ("subtype", "is_error", "result", "num_turns", "terminal_reason", "stop_reason", "usage")
    results = {name: {k: result[k] for k in compared} for name, (_, result) in played.items()}
    assert results["openai_chat"] == results["anthropic"]
    assert results["openai_responses"] == results["anthropic"]
    assert results["anthropic"]["result"] == "All done."
    denied = [d["tool_input"] for d in played["anthropic"][1]["permission_denials"]]
    assert denied == [{"command": "rm -rf build"}]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_second_request_holds_what_the_first_one_brought(protocol: str, tmp_path: Path) -> None:
    transcript, _ = play(protocol, tmp_path / "project", tmp_path / "home")
    assert transcript[0] == "go"
    assert transcript[1] == [{"type": "text", "text": "Two things at once."}]
