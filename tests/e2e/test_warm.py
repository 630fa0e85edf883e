from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from fakemodel import serve
from forge_run import environment, forge
from warm import warm_forge


@pytest.mark.parametrize("args", [("--version",), ("--nonsense",), ("plugin", "list", "--json"), ("-p",)])
def test_a_warm_forge_does_what_a_fresh_one_does(args: tuple[str, ...], tmp_path: Path) -> None:
    env = environment(tmp_path)
    done = subprocess.run(
        [warm_forge(), *args], cwd=tmp_path, env=env, input=b"", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == forge(
        *args, cwd=tmp_path, env=env, stdin=""
    )


def test_a_warm_forge_has_its_own_input_place_and_environment(tmp_path: Path) -> None:
    with serve([[{"tool": "Bash", "input": {"command": "echo $WORD > here"}}], [{"text": "ok"}]]) as server:
        env = environment(tmp_path, server.url, WORD="mine")
        args = [str(warm_forge()), "-p", "--allowedTools", "Bash"]
        done = subprocess.run(args, cwd=tmp_path, env=env, input=b"say", capture_output=True, timeout=60)
        asked = str(server.requests[0].body["messages"])
    assert (done.returncode, done.stdout, (tmp_path / "here").read_text()) == (0, b"ok\n", "mine\n")
    assert "say" in asked


def test_a_signal_for_a_warm_forge_reaches_it(tmp_path: Path) -> None:
    args = [
        str(warm_forge()),
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
    ]
    env, pipe = environment(tmp_path, "http://127.0.0.1:9"), subprocess.PIPE
    with subprocess.Popen(args, cwd=tmp_path, env=env, stdin=pipe, stdout=pipe) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        ask = b'{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}\n'
        running.stdin.write(ask)
        running.stdin.flush()
        assert b"control_response" in running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 143
