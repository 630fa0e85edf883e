from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forge_run import STREAM, environment

# Runs inside a network namespace that has nothing but loopback: whatever else Forge tried to reach would fail,
# and every attempt to open a connection is written down.
INSIDE = """
import subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
from fakemodel import serve
from forge_run import forge
from pathlib import Path
import json, os
with serve([[{"tool": "Bash", "input": {"command": "echo hi"}}], [{"text": "ok"}]]) as server:
    env = {**json.loads(os.environ["FORGE_ENV"]), "ANTHROPIC_BASE_URL": server.url}
    trace = ["strace", "-f", "-e", "trace=connect", "-o", os.environ["TRACE"]] if os.environ.get("TRACE") else []
    done = subprocess.run([*trace, sys.executable, "-m", "forge", *json.loads(os.environ["FORGE_ARGS"])],
                          cwd=os.environ["PROJECT"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(json.dumps({"code": done.returncode, "out": done.stdout, "err": done.stderr, "port": server.port}))
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
