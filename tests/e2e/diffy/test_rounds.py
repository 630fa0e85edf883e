"""Forge, its hooks and a reviewer, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chromium import browser, needs_chromium
from diffy_rounds import FEEDBACK, SECOND, TURNS, by_keys, by_page, recording_browser, told
from diffy_run import Tree, event, new_tree
from fakemodel import Server, serve
from forge.hosts.diffy.undelivered import Letter, keep
from forge_run import MODEL, forge
from house.source import ROOT
from tmux import needs_tmux, terminal, wait_for

PLUGIN = ROOT / "plugins" / "diffy"
ARGS = ["-p", "go", "--model", MODEL, "--allowedTools", "Bash"]
SAID = f"Stop hook feedback:\n[diffy --hook-mode --apply]: {FEEDBACK}"


@contextmanager
def project(place: Path) -> Iterator[tuple[Tree, Server]]:
    """A tree whose settings have what `diffy init` writes, and a model that plays two rounds."""
    with new_tree(place) as tree, serve(TURNS) as server:
        assert tree.diffy("init", "--yes").returncode == 0
        tree.env |= {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url}
        tree.env["BROWSER"] = recording_browser(place)
        yield tree, server


@needs_tmux
@pytest.mark.requirement("S3-01", "S3-02", "S3-06")
@pytest.mark.parametrize("surface", ["", "tmux-popup"], ids=["lent terminal", "popup"])
def test_two_rounds_with_forge_on_a_terminal(tmp_path: Path, surface: str) -> None:
    with project(tmp_path) as (tree, server), terminal(tree.env, tree.root, nested=bool(surface)) as person:
        run = f"DIFFY_SURFACE={surface} forge {' '.join(ARGS)}"
        person.run(f"stty -a > ../before; {run} > ../said; echo $? > ../code; stty -a > ../after")
        by_keys(person)
        wait_for(lambda: tree.text("after"), person.screen)
        assert (tree.text("code"), tree.text("said")) == ("0\n", "done again\n")
        assert told(server.bodies).rstrip() == SAID.rstrip()
        assert (tree.root / "a.txt").read_text() == SECOND
        assert tree.text("after") == tree.text("before")


@needs_chromium
@pytest.mark.requirement("S3-06", "S3-12")
def test_two_rounds_with_forge_and_the_plugin_on_a_page(tmp_path: Path) -> None:
    with project(tmp_path) as (tree, server), browser(tree.env) as page:
        (tree.root / ".claude" / "settings.json").unlink()
        run = subprocess.Popen(
            [sys.executable, "-m", "forge", *ARGS, "--plugin-dir", str(PLUGIN)],
            cwd=tree.root,
            env=tree.env | {"DIFFY_UNATTENDED": "web"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        by_page(tree, page)
        out, _ = run.communicate(timeout=20)
        assert (run.returncode, out) == (0, "done again\n")
        assert FEEDBACK.rstrip() in told(server.bodies)
        assert (tree.root / "a.txt").read_text() == SECOND


def test_feedback_that_was_kept_goes_with_the_next_prompt(tmp_path: Path) -> None:
    with new_tree(tmp_path) as tree, serve([[{"text": "yes"}]]) as server:
        assert tree.diffy("init", "--yes").returncode == 0
        keep(str(tree.root / ".git" / "diffy"), Letter(FEEDBACK), 1)
        env = tree.env | {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url}
        assert forge("-p", "go", "--model", MODEL, cwd=tree.root, env=env).out == "yes\n"
        assert FEEDBACK.rstrip() in json.dumps(server.bodies[-1], ensure_ascii=False).replace("\\n", "\n")
        assert tree.diffy("mark", "--deliver", stdin=event("UserPromptSubmit")).stdout == ""
