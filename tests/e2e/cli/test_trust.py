from __future__ import annotations

import json
import subprocess
from pathlib import Path

from e2e.cli.process import Done, forge


def test_trust_is_given_shown_and_taken_back(tmp_path: Path) -> None:
    def status() -> Done:
        return forge("trust", "--status", cwd=tmp_path)

    assert status() == Done(1, f"{tmp_path} is not trusted.\n", "")
    assert forge("trust", cwd=tmp_path) == Done(0, f"{tmp_path} is now trusted.\n", "")
    assert forge("trust", cwd=tmp_path).out == f"{tmp_path} is already trusted.\n"
    assert status() == Done(0, f"{tmp_path} is trusted.\n", "")
    assert forge("trust", "--remove", cwd=tmp_path) == Done(0, f"{tmp_path} is not trusted any more.\n", "")
    assert status().code == 1


def test_trust_belongs_to_the_root_of_the_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    below = tmp_path / "deep" / "below"
    below.mkdir(parents=True)
    assert forge("trust", cwd=below).out == f"{tmp_path} is now trusted.\n"
    assert forge("trust", "--status", str(below), cwd=tmp_path.parent).code == 0


def test_trusting_says_what_counts_from_now_on(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"allow": ["Read"], "deny": ["Bash"]}, "apiKeyHelper": "x"}')
    done = forge("trust", cwd=tmp_path, env={"COLUMNS": "200"})
    said = done.out.splitlines()[1]
    assert said == "What its settings say about apiKeyHelper, permissions.allow counts from now on."


def test_trust_the_reference_recorded_is_not_ours_to_remove(tmp_path: Path, home: Path) -> None:
    state = home / ".claude" / ".claude.json"
    state.parent.mkdir()
    state.write_text(json.dumps({"projects": {str(tmp_path): {"hasTrustDialogAccepted": True}}}))
    done = forge("trust", "--remove", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"{tmp_path} is still trusted, because {state} says so.")


def test_only_directories_can_be_trusted(tmp_path: Path) -> None:
    assert forge("trust", "missing", cwd=tmp_path) == Done(
        1, "", f"{tmp_path / 'missing'} is not a directory.\n"
    )
    both = forge("trust", "--status", "--remove", cwd=tmp_path)
    assert both == Done(1, "", "Only one of --status and --remove can be meant.\n")
