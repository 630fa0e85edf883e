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
with serve([[{"tool": "Bash", "input": {"command": "echo hi"}}], [{"text": "ok"}]]) as server:
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
    args = ["-p", "go", *STREAM, "--settings", json.dumps({"airGap": True})]
    env = environment(home, "http://127.0.0.1:9")
    outer = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "FORGE_ENV": json.dumps(env),
        "FORGE_ARGS": json.dumps(args),
        "PROJECT": str(tmp_path),
        "TRACE": str(tmp_path / "trace") if shutil.which("strace") else "",
    }
    command = ["unshare", "-rn", sys.executable, "-c", INSIDE]
    done = subprocess.run(command, env=outer, capture_output=True, text=True, timeout=60)
    told = json.loads(done.stdout)
    records = [json.loads(line) for line in told["out"].splitlines()]
    assert (told["code"], records[-1]["result"]) == (0, "ok"), told["err"]
    assert "WebFetch" not in records[0]["tools"]
    if outer["TRACE"]:
        lines = (tmp_path / "trace").read_text().splitlines()
        reached = [line for line in lines if "AF_INET" in line]
        assert reached
        assert [line for line in reached if f"htons({told['port']})" not in line] == []
