"""Baselines: what begins a session, what begins a turn, and what is delivered with a prompt."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from forge.core.review import baseline
from forge.core.review.repository import Repository, find
from forge.hosts.diffy.mark import delivery, mark
from forge.hosts.diffy.payload import Payload

START = Payload("s", hook_event_name="SessionStart", source="startup")
PROMPT = Payload("s", hook_event_name="UserPromptSubmit")


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(["git", "init", "-q", "tree"], cwd=tmp_path, env=env, check=True)
    return find(str(tmp_path / "tree"), env)


def trees(repo: Repository, *events: Payload) -> list[str]:
    """What each baseline is after these events, as the number of the event whose tree it has."""
    known: dict[str, str] = {"": "none"}
    for number, event in enumerate(events):
        Path(repo.root, "file").write_text(str(number))
        mark(repo, event, float(number))
        found = baseline.read(repo, "s")
        for tree in (found.turn, found.session):
            known.setdefault(tree, str(number))
    found = baseline.read(repo, "s")
    return [known[found.session], known[found.turn]]


@pytest.mark.parametrize(
    ("events", "marks"),
    [
        ([START], ["0", "0"]),
        ([START, PROMPT], ["0", "1"]),
        ([START, PROMPT, PROMPT], ["0", "2"]),
        ([PROMPT], ["0", "0"]),
        ([START, Payload("s", hook_event_name="SessionStart", source="resume")], ["0", "0"]),
        ([START, PROMPT, Payload("s", hook_event_name="SessionStart", source="compact")], ["0", "1"]),
        ([START, Payload("t", hook_event_name="UserPromptSubmit")], ["0", "0"]),
        ([START, Payload(hook_event_name="UserPromptSubmit")], ["0", "1"]),
    ],
)
def test_events_move_the_baselines(repo: Repository, events: list[Payload], marks: list[str]) -> None:
    assert trees(repo, *events) == marks


def test_texts_are_delivered_beside_the_prompt() -> None:
    assert json.loads(delivery(["one", "two\n"], "UserPromptSubmit")) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "one\n\ntwo\n"}
    }
