from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
CORPUS = SHARED / "corpus" / "commands.jsonl"
ORACLE = SHARED / "tools" / "command_oracle.py"
LIMITS = {
    "block_recall": (0.99, 1.0),
    "stop_recall": (0.995, 1.0),
    "forbidden_recall": (0.99, 1.0),
    "must_ask_recall": (0.99, 1.0),
    "over_block": (0.0, 0.005),
    "over_ask": (0.0, 0.02),
    "read_only_auto": (0.98, 1.0),
    "interactive_recall": (0.95, 1.0),
}

pytestmark = pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus is not beside this checkout")


@pytest.mark.parametrize("shell", ["bash", "all"])
def test_the_labelled_commands_are_judged_within_the_limits(shell: str, tmp_path: Path) -> None:
    program = tmp_path / "forgecmd"
    path = os.pathsep.join(p for p in sys.path if p)
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m forge.hosts.forgecmd "$@"\n'
    )
    program.chmod(0o755)
    command = [sys.executable, str(ORACLE), str(CORPUS), "--shell", shell, "--json", "--mode", "batch"]
    done = subprocess.run(
        [*command, "--classifier", f"{program} classify --jsonl"], capture_output=True, text=True, timeout=60
    )
    report = json.loads(done.stdout)
    missed = {k: report[k] for k, (low, high) in LIMITS.items() if not low <= report[k] <= high}
    assert missed == {}
