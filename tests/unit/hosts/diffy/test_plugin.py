"""The plugin in this repository: valid, with the hooks of `diffy init`, and harmless without the program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.validate import validate
from forge.hosts.diffy.init import ENTRIES
from house.source import ROOT

PLUGIN = ROOT / "plugins" / "diffy"
SCRIPT = PLUGIN / "hooks" / "diffy.sh"


def handlers() -> dict[str, dict[str, Any]]:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    return {event: matchers[0]["hooks"][0] for event, matchers in hooks.items()}


@pytest.mark.requirement("S3-12")
def test_plugin_and_its_marketplace_are_valid() -> None:
    for path in (PLUGIN, PLUGIN.parent):
        report = validate(str(path), strict=True)
        assert (report.success, report) == (True, report)


@pytest.mark.requirement("S3-12")
def test_plugin_has_the_same_hooks_as_the_settings(tmp_path: Path) -> None:
    start = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/diffy.sh"'
    expected = {
        event: {**entry, "command": entry["command"].replace("diffy", start, 1)}
        for event, entry in ENTRIES.items()
    }
    assert handlers() == expected


@pytest.mark.requirement("S3-11", "S3-12")
def test_script_is_silent_where_diffy_is_missing_and_passes_its_code_on(tmp_path: Path) -> None:
    shell = "/bin/sh"
    done = subprocess.run([shell, str(SCRIPT), "mark"], env={"PATH": str(tmp_path)}, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    fake = tmp_path / "diffy"
    fake.write_text('#!/bin/sh\necho "$@" >&2\nexit 2\n')
    fake.chmod(0o755)
    words = ["--hook-mode", "--apply"]
    done = subprocess.run([shell, str(SCRIPT), *words], env={"PATH": str(tmp_path)}, capture_output=True)
    assert (done.returncode, done.stderr) == (2, b"--hook-mode --apply\n")
