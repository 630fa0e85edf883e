"""The CLI provider is rows in tables and a package: without the package everything else works as before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge_run import environment
from house.source import ROOT

PACKAGE = "forge.core.models.claude_cli"
# The tables, and the command that prints what the mapper makes of a recorded run.
NAMED_IN = {"core/models/catalog.py", "core/models/providers.py", "hosts/cli/debug.py"}

WITHOUT = f"""
import sys
class Removed:
    def find_spec(self, name, path=None, target=None):
        if name.startswith({PACKAGE!r}):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Removed())
from forge.__main__ import main
sys.exit(main())
"""
LOADED = f"""
import {PACKAGE}.provider, json, sys
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


@pytest.mark.requirement("S4-03")
def test_nothing_but_the_tables_names_the_package() -> None:
    base = ROOT / "src" / "forge"
    texts = {path.relative_to(base).as_posix(): path.read_text("utf-8") for path in base.rglob("*.py")}
    outside = {name: text for name, text in texts.items() if not name.startswith("core/models/claude_cli/")}
    named = {name for name, text in outside.items() if "claude_cli" in text}
    imported = {
        name for name in named if f"import {PACKAGE}" in texts[name] or f"from {PACKAGE}" in texts[name]
    }
    assert (named - NAMED_IN, imported - {"hosts/cli/debug.py"}) == (set(), set())


@pytest.mark.requirement("S4-03")
def test_without_the_package_models_are_listed_and_used_as_before(home: Path) -> None:
    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WITHOUT, *argv],
            env=environment(home),
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )

    listed = json.loads(run("models", "--json").stdout)["providers"]
    (row,) = [each for each in listed if each["name"] == "claude-code"]
    assert (row["usable"], "not part of this installation" in row["problem"]) == (False, True)
    (home / "turns.json").write_text('[[{"text": "as before"}]]')
    done = run("-p", "go", "--model", f"scripted/{home}/turns.json")
    assert (done.returncode, done.stdout) == (0, "as before\n")


@pytest.mark.requirement("S4-04")
def test_the_package_needs_no_library_of_a_vendor(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment(home), capture_output=True, text=True, check=True
    )
    assert not {"anthropic", "claude_agent_sdk", "openai", "mcp", "httpx"} & set(json.loads(done.stdout))
