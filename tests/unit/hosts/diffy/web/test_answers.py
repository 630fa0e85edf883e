"""What the page changes is in the draft before it is answered."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from forge.core.review.listing import list_changes
from forge.core.review.repository import find
from forge.core.review.snapshot import take
from forge.hosts.diffy.sitting import CLEAN, QUEUED, Sitting, read_draft
from forge.hosts.diffy.surfaces.runtime import ReviewState, write_review
from forge.hosts.diffy.undelivered import collect
from forge.hosts.diffy.web.answers import Answers
from forge.hosts.diffy.web.http import Wrong


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    """Two new files to review; one has a name that is not UTF-8."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(["git", "init", "-q", "tree"], cwd=tmp_path, env=env, check=True)
    repo = find(str(tmp_path / "tree"), env)
    base = take(repo).tree
    for name in (b"a", b"\xff"):
        Path(os.fsdecode(os.path.join(os.fsencode(repo.root), name))).write_bytes(b"one\n\xfe\n")
    listing = list_changes(repo, base, take(repo).tree)
    with TemporaryDirectory(prefix="d", dir="/tmp") as runtime:
        draft = os.path.join(repo.state, "draft.json")
        state = ReviewState(
            id="1", root=repo.root, snapshot=listing.snapshot, apply=True, draft=draft, guard_ms=9
        )
        yield Sitting(write_review(runtime, state), env | {"DIFFY_RUNTIME_DIR": runtime})


def post(answers: Answers, name: str, **body: Any) -> Any:
    return json.loads(answers.post(name, json.dumps(body).encode()))


def test_page_gets_the_listing_and_what_is_decided(sitting: Sitting) -> None:
    answers = Answers(sitting)
    first, second = (file.hunks[0].id for file in sitting.listing.files)
    post(answers, "decide", hunks=[first], verdict="reject")
    post(answers, "comment", hunk=first, text="why")
    post(answers, "question", hunk=second)
    got = json.loads(answers.get("review"))
    assert [file["path"] for file in got["listing"]["files"]] == ["a", "\udcff"]
    assert (got["guard_ms"], got["states"]) == (9, {first: "rejected", second: "asked"})
    assert got["comments"] == [{"text": "why", "path": "a", "hunk": first}]
    kept = read_draft(sitting.state.draft)
    assert (kept.state(first), kept.state(second), kept.comments) == (
        "rejected",
        "asked",
        sitting.draft.comments,
    )


def test_changes_are_taken_back_and_made_again(sitting: Sitting) -> None:
    answers = Answers(sitting)
    hunk = sitting.listing.files[0].hunks[0].id
    post(answers, "decide", hunks=[hunk], verdict="accept")
    assert post(answers, "undo") == {"states": {}, "rules": {}, "comments": [], "at": hunk}
    assert post(answers, "redo")["states"] == {hunk: "accepted"}
    assert post(answers, "undo")["states"] == post(answers, "undo")["states"] == {}


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("decide", {"hunks": ["x"], "verdict": "accept"}, 400),
        ("decide", {"hunks": [], "verdict": "maybe"}, 400),
        ("comment", {"hunk": "x", "text": "t"}, 400),
        ("comment", {}, 400),
        ("finish", {"rest": "reject"}, 400),
        ("delete", {}, 404),
    ],
)
def test_nonsense_is_refused(sitting: Sitting, name: str, body: Any, status: int) -> None:
    with pytest.raises(Wrong) as caught:
        post(Answers(sitting), name, **body)
    assert caught.value.status == status


@pytest.mark.parametrize("verdict", ["reject", "accept"])
def test_review_without_an_agent_is_carried_out_and_kept(sitting: Sitting, verdict: str) -> None:
    answers = Answers(sitting)
    hunk = sitting.listing.files[0].hunks[0].id
    post(answers, "decide", hunks=[hunk], verdict=verdict)
    said = QUEUED if verdict == "reject" else CLEAN
    assert post(answers, "finish", rest="accept") == {"said": said}
    assert len(collect(sitting.repo.state, "")) == (verdict == "reject")
    assert os.path.exists(os.path.join(sitting.repo.root, "a")) == (verdict == "accept")
    assert not os.path.exists(sitting.folder)
    assert not os.path.exists(sitting.state.draft)
    with pytest.raises(Wrong) as caught:
        post(answers, "undo")
    assert (caught.value.status, json.loads(answers.get("state"))["closed"]) == (409, said)
