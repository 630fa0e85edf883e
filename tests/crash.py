"""Kills a running session at a random moment and checks what it leaves behind.

The session is a scripted one of 30 calls that write and edit files and run commands; its host allows every
call and lets each add a rule to the settings, so that a kill can hit a transcript, a file or settings being
written.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from forge.agent.resume import load
from forge.core.message import Message, ToolResult

CALLS = 30
BIG = 200_000


def scenario(path: Path) -> str:
    """Writes the scenario; each file has one of few whole contents, so that half of one would show."""
    turns: list[list[dict[str, Any]]] = []
    for n in range(CALLS // 3):
        name = f"{{cwd}}/file{n % 3}.txt"
        turns.append([{"tool": "Write", "input": {"file_path": name, "content": letter(n) * BIG}}])
        turns.append([{"tool": "Bash", "input": {"command": f"echo step {n}"}}])
        edit = {"file_path": name, "old_string": letter(n) * 10, "new_string": "-" * 10, "replace_all": True}
        turns.append([{"tool": "Edit", "input": edit}])
    turns.append([{"text": "done"}])
    path.write_text(json.dumps(turns))
    return str(path)


def letter(n: int) -> str:
    return chr(ord("a") + n)


def whole_contents() -> set[str]:
    letters = [letter(n) * BIG for n in range(CALLS // 3)]
    return {*letters, "-" * BIG}


def run_and_kill(work: Path, script: str, after_ms: float | None) -> int:
    """Runs the session and kills it after that many milliseconds; returns how many questions it asked."""
    project = work / "project"
    project.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "forge", "--model", f"scripted/{script}", "--verbose"]
    command += [
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--permission-prompt-tool",
        "stdio",
    ]
    env = {"PATH": os.environ["PATH"], "HOME": str(work / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(command, cwd=project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    timer = _killer(child, after_ms)
    asked = 0
    try:
        asked = _play_host(child)
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        timer.cancel()
        child.kill()
        child.wait(10)
        for pipe in (child.stdin, child.stdout):
            with suppress(BrokenPipeError):
                pipe.close()
    return asked


def _killer(child: subprocess.Popen[bytes], after_ms: float | None) -> Any:
    import threading

    timer = threading.Timer((after_ms if after_ms is not None else 60_000) / 1000, child.kill)
    timer.start()
    return timer


def _play_host(child: subprocess.Popen[bytes]) -> int:
    assert child.stdin is not None
    assert child.stdout is not None
    asked = 0
    _send(child, {"type": "user", "message": {"role": "user", "content": "go"}})
    for line in child.stdout:
        record = json.loads(line) if line.endswith(b"\n") else {}
        if record.get("type") == "control_request":
            asked += 1
            rule = {"toolName": "Bash", "ruleContent": f"remembered {asked}"}
            update = {
                "type": "addRules",
                "rules": [rule],
                "behavior": "allow",
                "destination": "localSettings",
            }
            answer = {"behavior": "allow", "updatedPermissions": [update]}
            body = {"subtype": "success", "request_id": record["request_id"], "response": answer}
            _send(child, {"type": "control_response", "response": body})
        elif record.get("type") == "result":
            child.stdin.close()
    return asked


def _send(child: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps(message).encode() + b"\n")
    child.stdin.flush()


def damage(work: Path) -> list[str]:
    """What is wrong with the files a killed session left; empty when nothing is."""
    found = [f"half-written {p.name}" for p in (work / "project").glob("file*.txt") if not _is_whole(p)]
    return found + damaged_records(work)


def damaged_records(work: Path) -> list[str]:
    """What is wrong with the settings and transcripts of a killed session and its sub-agents."""
    found = []
    for settings in (work / "project").glob(".*/settings*.json"):
        try:
            json.loads(settings.read_text())
        except ValueError as error:
            found.append(f"broken {settings.name}: {error}")
    for transcript in (work / "home" / ".claude").glob("projects/**/*.jsonl"):
        past = load(str(transcript))
        if past is None and _has_prompt(transcript):
            found.append(f"the transcript {transcript.name} holds no conversation")
        found += [f"unanswered {c}" for c in unanswered(past.messages if past else [])]
    return found


def unanswered(messages: list[Message]) -> list[str]:
    """Calls whose result is not in the next message."""
    missing = []
    for n, message in enumerate(messages):
        after = messages[n + 1].blocks if n + 1 < len(messages) else []
        given = {b.tool_use_id for b in after if isinstance(b, ToolResult)}
        missing += [c.id for c in message.calls if c.id not in given]
    return missing


def resumes(work: Path, script: str) -> bool:
    """Whether the killed session can be gone on with."""
    if not has_conversation(work):
        return True
    command = [sys.executable, "-m", "forge", "-p", "go on", "--continue", "--model", f"scripted/{script}"]
    env = {"PATH": os.environ["PATH"], "HOME": str(work / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=work / "project", env=env, capture_output=True, timeout=60)
    return done.returncode == 0


def has_conversation(work: Path) -> bool:
    """Whether the session lived long enough to write a transcript."""
    return any((work / "home").glob(".claude/projects/*/*.jsonl"))


def moments(count: int, longest_ms: float, seed: int) -> list[float]:
    source = random.Random(seed)
    return [source.uniform(20, longest_ms) for _ in range(count)]


def _is_whole(path: Path) -> bool:
    return path.read_text() in whole_contents()


def _has_prompt(path: Path) -> bool:
    return b'"type":"user"' in path.read_bytes()
