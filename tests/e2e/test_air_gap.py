from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forge_run import STREAM, environment

# Runs where there is nothing but loopback, and writes down every connection Forge opens.
INSIDE = """
import json, os, subprocess, sys
from fakemodel import serve

subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
calls = [{"tool": name, "input": given} for name, given in json.loads(os.environ["CALLS"])]
with serve([calls, [{"text": "ok"}]]) as server:
    calls[0]["input"]["command"] = f"exec 3<>/dev/tcp/127.0.0.1/{server.port}"
    trace = os.environ["TRACE"]
    command = ["strace", "-f", "-e", "trace=connect", "-o", trace] if trace else []
    command += [sys.executable, "-m", "forge", *json.loads(os.environ["FORGE_ARGS"])]
    env = {**json.loads(os.environ["FORGE_ENV"]), "ANTHROPIC_BASE_URL": server.url}
    cwd = os.environ["PROJECT"]
    done = subprocess.run(command, cwd=cwd, env=env, stdin=-3, capture_output=True, text=True)
    told = {"code": done.returncode, "out": done.stdout, "err": done.stderr, "port": server.port}
    print(json.dumps(told))
"""


def namespaces_work() -> bool:
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, timeout=10).returncode == 0


@pytest.mark.skipif(not namespaces_work(), reason="this system does not let us make a network namespace")
def test_an_air_gapped_run_needs_nothing_but_the_model(home: Path, tmp_path: Path) -> None:
    far = "http://127.0.0.1:9/v1"
    settings = {
        "airGap": True,
        "hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": far}]}]},
        "providers": {"far": {"protocol": "openai_chat", "baseUrl": far, "auth": "none"}},
        "webSearch": {"endpoint": far},
    }
    # What a project says must not open the gap.
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"airGap": false}')
    servers = {"mcpServers": {"far": {"type": "http", "url": far}, "old": {"type": "sse", "url": far}}}
    agent = {"description": "d", "prompt": "p", "model": "far/x", "run_in_background": False}
    calls = [
        ("Bash", {"command": "to the model"}),
        ("WebFetch", {"url": far, "prompt": "p"}),
        ("Agent", agent),
        ("Monitor", {"description": "d", "timeout_ms": 1000, "ws": {"url": "ws://127.0.0.1:9"}}),
    ]
    args = ["-p", "go", *STREAM, "--settings", json.dumps(settings), "--mcp-config", json.dumps(servers)]
    args.append("--dangerously-skip-permissions")
    env = environment(home, "http://127.0.0.1:9")
    outer = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "FORGE_ENV": json.dumps(env),
        "FORGE_ARGS": json.dumps(args),
        "PROJECT": str(tmp_path),
        "CALLS": json.dumps(calls),
        "TRACE": str(tmp_path / "trace") if shutil.which("strace") else "",
    }
    command = ["unshare", "-rn", sys.executable, "-c", INSIDE]
    done = subprocess.run(command, env=outer, capture_output=True, text=True, timeout=60)
    told = json.loads(done.stdout)
    records = [json.loads(line) for line in told["out"].splitlines()]
    assert (told["code"], records[-1]["result"]) == (0, "ok"), told["err"]
    assert not {"WebFetch", "mcp__far__x"} & set(records[0]["tools"])
    assert [server["status"] for server in records[0]["mcp_servers"]] == ["failed", "failed"]
    answers = " ".join(json.dumps(r["message"]) for r in records if r["type"] == "user")
    for words in (
        "Connection refused",
        "No such tool available: WebFetch",
        "airGap only models of",
        "WebSocket is not available",
    ):
        assert words in answers
    if outer["TRACE"]:
        lines = (tmp_path / "trace").read_text().splitlines()
        reached = [line for line in lines if "AF_INET" in line]
        assert reached
        assert [line for line in reached if f"htons({told['port']})" not in line] == []
