"""The scripted server as a program of its own, as end-to-end tests use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fakemodel
from fakemodel.asking import no_setting, reply
from forge.core.message import Text
from forge.core.models.catalog import open_model


def test_the_program_serves_a_scenario_file_and_logs_requests(tmp_path: Path) -> None:
    scenario, log = tmp_path / "scene.json", tmp_path / "log.jsonl"
    scenario.write_text(json.dumps({"steps": [{"turn": [{"text": "hello"}]}]}))
    tests = Path(fakemodel.__file__).parents[1]
    command = [sys.executable, "-m", "fakemodel", str(scenario), "--log", str(log)]
    with subprocess.Popen(command, cwd=tests, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
            finished = reply(open_model("haiku", env, no_setting))
        finally:
            process.terminate()
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert finished.message.blocks == [Text("hello")]
    assert [(entry["method"], entry["body"]["model"]) for entry in logged] == [("POST", "claude-haiku-5-5")]
