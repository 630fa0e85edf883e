"""diffy under the real reference CLI: its plugin, and two rounds on a popup and on a page."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chromium import Page, browser, needs_chromium
from conformance.test_reference import REFERENCE, reference
from diffy_rounds import (
    FEEDBACK,
    HIDDEN,
    SECOND,
    TURNS,
    awake,
    by_keys,
    by_page,
    recording_browser,
    served,
    told,
)
from diffy_run import AFTER, BEFORE, Tree, new_tree
from fakemodel import Server, serve
from forge.hosts.diffy.undelivered import Letter, keep
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
@pytest.mark.parametrize("start", ["", "diffy run -- "], ids=["popup", "wrapper"])
def test_two_rounds_with_the_reference_on_a_terminal(tmp_path: Path, start: str) -> None:
    with project(tmp_path) as (tree, server), terminal(tree.env, tree.root, size=(120, 40)) as person:
        person.run(f"stty -a > ../before; {start}{shlex.join([REFERENCE, *ARGS])}; stty -a > ../after")
        person.until("❯")
        person.tmux("send-keys", "-l", "go")
        person.press("Enter")
        by_keys(person)
        person.until("done again")
        assert told(server.bodies).rstrip() == SAID.rstrip()
        assert (tree.root / "a.txt").read_text() == SECOND
        person.tmux("send-keys", "-l", "/exit")
        person.until("/exit")
        person.press("Enter")
        wait_for(lambda: tree.text("after"), person.screen)
        assert tree.text("after") == tree.text("before")


@needs_tmux
def test_agent_that_stops_waiting_gets_the_feedback_with_the_next_prompt(tmp_path: Path) -> None:
    with (
        project(tmp_path) as (tree, server),
        terminal(tree.env, tree.root, nested=False) as companion,
        terminal(tree.env, tree.root, nested=False, size=(120, 40)) as person,
    ):
        companion.run("diffy watch")
        companion.until("waiting for reviews")
        person.run(shlex.join([REFERENCE, *ARGS]))
        person.until("❯")
        person.tmux("send-keys", "-l", "go")
        person.press("Enter")
        awake(companion, "+ TWO")
        person.press("Escape")
        companion.until("no longer waits")
        companion.press("r")
        companion.until("✗1")
        companion.press("Enter")
        companion.until("Finish?")
        companion.press("y")
        companion.until("waiting for reviews")
        person.until("❯")
        person.tmux("send-keys", "-l", "go on")
        person.press("Enter")
        awake(companion, "+ 2")
        sent = json.dumps(server.bodies[2], ensure_ascii=False)
        assert "UserPromptSubmit hook additional context: [diffy review result]" in sent


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


def test_feedback_that_was_kept_goes_with_the_next_prompt(tmp_path: Path) -> None:
    with project(tmp_path) as (tree, server):
        keep(str(tree.root / ".git" / "diffy"), Letter(FEEDBACK), 1)
        reference("-p", "go", *ARGS, cwd=tree.root, env=tree.env)
        assert FEEDBACK.rstrip() in json.dumps(server.bodies[0], ensure_ascii=False).replace("\\n", "\n")


@pytest.mark.requirement("S3-12")
def test_plugin_is_valid_and_installs_in_both_programs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home)
    report = json.loads(
        reference("plugin", "validate", str(PLUGIN), "--strict", "--json", cwd=tmp_path, env=env)
    )
    assert (report["success"], report["manifest"]["warnings"]) == (True, [])
    assert "✔" in reference("plugin", "marketplace", "add", str(PLUGIN.parent), cwd=tmp_path, env=env)
    assert "✔" in reference("plugin", "install", "diffy@forge-tools", cwd=tmp_path, env=env)
    listed = json.loads(forge("plugin", "list", "--json", cwd=tmp_path, env=env).out)
    assert [(row["id"], row["enabled"], row.get("errors")) for row in listed] == [
        ("diffy@forge-tools", True, None)
    ]


def choose_answer(page: Page, number: int) -> None:
    page.until("document.querySelector('#ask[open]')")
    page.click(f"#answers button:nth-child({number})")


@needs_chromium
def test_page_is_used_with_keys_and_mouse(tmp_path: Path) -> None:
    with served(tmp_path) as (tree, hook, url), browser(tree.env) as page:
        page.open(url)
        page.until("document.body && document.body.dataset.ready")
        page.value("window.now = Date.now, Date.now = () => opened, 0")
        page.press("r")  # within the first moment: no verdict
        assert "3 pending" in page.value("document.body.innerText")
        page.value("Date.now = window.now, 0")
        page.until("Date.now() - opened > review.guard_ms")
        page.press("c")
        page.until("document.querySelector('#comment[open]')")
        page.write("keep two")
        page.click("#comment button.primary")
        page.until("document.querySelector('article p').textContent === 'comment: keep two'")
        page.press("r")
        page.until("document.querySelectorAll('article.rejected').length === 1")
        page.click("article:nth-of-type(2) button")
        page.until("document.querySelectorAll('article.accepted').length === 1")
        page.press("u")
        page.until("document.querySelectorAll('article.accepted').length === 0")
        shown = page.value("document.body.innerText")
        assert "a␛[31mb<U+202E>c<script>alert(1)</script>" in shown
        page.press("Enter")
        choose_answer(page, 2)
        page.until("document.body.dataset.ended")
        assert page.value("document.getElementById('agent').textContent") == "sent to the agent"
        assert {urlsplit(url).netloc for url in page.requests} == {urlsplit(url).netloc}
        _, err = hook.communicate(timeout=20)
        assert (hook.returncode, "  comment: keep two\n" in err) == (2, True)
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"], "new.txt": HIDDEN}
