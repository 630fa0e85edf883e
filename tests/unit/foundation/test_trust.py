from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.paths import Places, find_places
from forge.foundation.trust import is_trusted, read_trust, trust, untrust


def places(root: Path, cwd: str = "repo", *, git: bool = True) -> Places:
    (root / "home").mkdir(exist_ok=True)
    (root / cwd).mkdir(parents=True, exist_ok=True)
    if git:
        (root / "repo" / ".git").mkdir(exist_ok=True)
    return find_places({"HOME": str(root / "home")}, str(root / cwd))


def accept(root: Path, name: str, value: Any = True) -> None:
    state = {"userID": "x", "projects": {str(root / name): {"hasTrustDialogAccepted": value}}}
    (root / "home").mkdir(exist_ok=True)
    (root / "home" / ".claude.json").write_text(json.dumps(state))


@pytest.mark.parametrize(
    ("accepted", "cwd", "git", "trusted"),
    [
        ("repo", "repo", True, True),
        ("repo", "repo", False, True),
        ("repo", "repo/sub", True, True),
        ("repo/sub", "repo/sub", True, False),
        ("repo", "repo/sub", False, False),
        ("repo/sub", "repo/sub", False, True),
        ("", "repo", True, False),
        ("", "repo", False, False),
    ],
)
def test_trust_of_the_reference_counts_for_exactly_one_directory(
    tmp_path: Path, accepted: str, cwd: str, git: bool, trusted: bool
) -> None:
    accept(tmp_path, accepted)
    assert is_trusted(places(tmp_path, cwd, git=git)) is trusted


def test_worktree_shares_the_trust_of_its_repository(tmp_path: Path) -> None:
    places(tmp_path, git=False)
    commands = [
        ["git", "init", "-q", "."],
        ["git", "-c", "user.email=a@example.com", "-c", "user.name=n", "commit", "-qm", "x", "--allow-empty"],
        ["git", "worktree", "add", "-q", "../tree"],
    ]
    for command in commands:
        subprocess.run(command, cwd=tmp_path / "repo", check=True, capture_output=True)
    accept(tmp_path, "repo")
    assert is_trusted(places(tmp_path, "tree", git=False))


@pytest.mark.parametrize("value", [False, "yes", 1, None])
def test_only_true_means_accepted(tmp_path: Path, value: Any) -> None:
    accept(tmp_path, "repo", value)
    assert not is_trusted(places(tmp_path))


@pytest.mark.parametrize(
    "content", ["{bad", '{"projects": 3}', "[]", '{"projects": {"x": {}}, "projects": []}', "\udcff"]
)
def test_broken_state_file_means_not_trusted_and_is_reported(tmp_path: Path, content: str) -> None:
    p = places(tmp_path)
    Path(p.claude_state).write_bytes(content.encode("utf-8", "surrogateescape"))
    trusted, notes = read_trust(p)
    assert trusted is False
    assert [note.origin.path for note in notes] == [p.claude_state]


@pytest.mark.parametrize("content", ["", "{}", '{"projects": {}}'])
def test_state_without_the_project_is_silent(tmp_path: Path, content: str) -> None:
    p = places(tmp_path)
    Path(p.claude_state).write_text(content)
    assert read_trust(p) == (False, [])


def test_own_trust_is_remembered_and_forgotten(tmp_path: Path) -> None:
    p = places(tmp_path)
    assert read_trust(p) == (False, [])
    trust(p)
    assert (is_trusted(p), is_trusted(places(tmp_path, "repo/sub"))) == (True, True)
    store = Path(p.forge_home) / "trust.json"
    assert json.loads(store.read_text()) == {"projects": {p.cwd: {"trusted": True}}}
    assert not Path(p.claude_state).exists()
    untrust(p)
    assert not is_trusted(p)


def test_broken_own_store_is_reported(tmp_path: Path) -> None:
    p = places(tmp_path)
    store = Path(p.forge_home) / "trust.json"
    store.parent.mkdir()
    store.write_text("{bad")
    trusted, notes = read_trust(p)
    assert (trusted, [str(note) for note in notes]) == (
        False,
        [
            f"{store}: cannot be used (expected a key in double quotes), so it does not make this workspace "
            "trusted. Fix the JSON, or move the file aside."
        ],
    )
