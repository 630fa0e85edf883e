"""diffy under the real reference CLI: its plugin, and two rounds on a popup and on a page."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chromium import browser, needs_chromium
from conformance.test_reference import REFERENCE, reference
from diffy_rounds import FEEDBACK, SECOND, TURNS, by_keys, by_page, recording_browser, told
from diffy_run import Tree, new_tree
from fakemodel import Server, serve
from forge_run import MODEL, environment, forge
from house.source import ROOT
from tmux import needs_tmux, terminal, wait_for

PLUGIN = ROOT / "plugins" / "diffy"
ARGS = ["--model", MODEL, "--allowedTools", "Bash"]
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1"}
SAID = f"Stop hook feedback:\n[diffy --hook-mode --apply]: {FEEDBACK}"


@contextmanager
def project(place: Path) -> Iterator[tuple[Tree, Server]]:
    """A tree with the hooks of `diffy init` that the CLI trusts, and a model that plays two rounds."""
    with new_tree(place) as tree, serve(TURNS) as server:
        assert tree.diffy("init", "--yes").returncode == 0
        tree.env |= {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url, **QUIET}
        tree.env["BROWSER"] = recording_browser(place)
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": {str(tree.root): {"hasTrustDialogAccepted": True}},
        }
        (place / "home" / ".claude.json").write_text(json.dumps(known))
        yield tree, server


@needs_tmux
@pytest.mark.requirement("S3-01", "S3-06")
def test_two_rounds_with_the_reference_in_a_popup(tmp_path: Path) -> None:
    with project(tmp_path) as (tree, server), terminal(tree.env, tree.root, size=(120, 40)) as person:
        person.run(f"stty -a > ../before; {shlex.join([REFERENCE, *ARGS])}; stty -a > ../after")
        person.until("❯")
        person.tmux("send-keys", "-l", "go")
        person.press("Enter")
        by_keys(person)
        person.until("done again")
        assert told(server.bodies).rstrip() == SAID.rstrip()
        assert (tree.root / "a.txt").read_text() == SECOND

        def left() -> str:
            person.press("C-c")
            return tree.text("after")

        wait_for(left, person.screen)
        assert tree.text("after") == tree.text("before")


@needs_chromium
@pytest.mark.requirement("S3-01", "S3-06")
def test_two_rounds_with_the_reference_on_a_page(tmp_path: Path) -> None:
    with project(tmp_path) as (tree, server), browser(tree.env) as page:
        run = subprocess.Popen(
            [REFERENCE, "-p", "go", *ARGS],
            cwd=tree.root,
            env=tree.env | {"DIFFY_UNATTENDED": "web"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        by_page(tree, page)
        out, _ = run.communicate(timeout=30)
        assert (run.returncode, out) == (0, "done again\n")
        assert told(server.bodies).rstrip() == SAID.rstrip()
        assert (tree.root / "a.txt").read_text() == SECOND


@pytest.mark.requirement("S3-12")
def test_plugin_is_valid_and_installs_in_both_programs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home)
    report = json.loads(
        reference("plugin", "validate", str(PLUGIN), "--strict", "--json", cwd=tmp_path, env=env)
    )
    assert (report["success"], report["manifest"]["warnings"]) == (True, [])
    assert "✔" in reference("plugin", "marketplace", "add", str(ROOT), cwd=tmp_path, env=env)
    assert "✔" in reference("plugin", "install", "diffy@forgecode", cwd=tmp_path, env=env)
    listed = json.loads(forge("plugin", "list", "--json", cwd=tmp_path, env=env).out)
    assert [(row["id"], row["enabled"], row.get("errors")) for row in listed] == [
        ("diffy@forgecode", True, None)
    ]
