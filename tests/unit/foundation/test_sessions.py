from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.history.session_search import Hit, search
from forge.foundation.history.sessions import (
    END,
    Summary,
    find_title,
    list_sessions,
    own_title,
    summary,
    transcripts,
)
from forge.foundation.history.transcript import Transcript

STAMP = "2026-11-15T12:00:00.000Z"


def write(path: Path, *records: dict[str, Any]) -> str:
    transcript = Transcript(str(path))
    for record in records:
        transcript.append(record)
    transcript.close()
    return str(path)


def prompt(text: Any, uuid: str = "u", **facts: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    head = {"type": "user", "uuid": uuid, "parentUuid": None, "timestamp": STAMP, "permissionMode": "default"}
    return {**head, "message": message, "cwd": "/project", "gitBranch": "main", **facts}


def test_a_summary_says_what_a_list_shows(tmp_path: Path) -> None:
    cost = {"type": "cost-state", "totalCostUSD": 1.25}
    path = write(tmp_path / "one.jsonl", prompt("hello\n  world"), prompt("again", "v"), cost)
    os.utime(path, (50, 100))
    assert summary(path) == Summary(
        id="one",
        path=path,
        title="hello world",
        first_prompt="hello world",
        cwd="/project",
        branch="main",
        created=STAMP,
        modified=100.0,
        size=os.stat(path).st_size,
        turns=2,
        cost=1.25,
    )


TITLES = [
    {"type": "summary", "summary": "a summary"},
    {"type": "last-prompt", "lastPrompt": "the last prompt"},
    {"type": "ai-title", "aiTitle": "a made title"},
    {"type": "custom-title", "customTitle": "my title"},
]


@pytest.mark.parametrize("count", range(len(TITLES) + 1))
def test_the_users_own_title_wins_then_the_made_one_then_prompts(tmp_path: Path, count: int) -> None:
    path = write(tmp_path / "s.jsonl", prompt("first"), *TITLES[:count])
    found = summary(path)
    assert found is not None
    assert found.title == ["first", "a summary", "the last prompt", "a made title", "my title"][count]


@pytest.mark.parametrize(
    "records",
    [
        [],
        [{"type": "custom-title", "customTitle": "x"}],
        [prompt("sub", isSidechain=True)],
        [prompt("hidden", isMeta=True), prompt("<command-name>/x</command-name>")],
        [prompt([{"type": "tool_result", "tool_use_id": "t", "content": "x"}])],
        [prompt("Summary", isCompactSummary=True)],
        [prompt(7), prompt([7, {"type": "text", "text": 5}])],
    ],
    ids=["empty", "title only", "sub-agent", "commands", "results", "compaction", "wrong types"],
)
def test_a_file_without_a_prompt_is_not_listed(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    write(path, *records)
    assert summary(str(path)) is None


def test_of_a_large_file_only_both_ends_are_read(tmp_path: Path) -> None:
    filler = [{"type": "noise", "customTitle": "in the middle", "text": "x" * 1000}] * (END // 300)
    path = write(
        tmp_path / "s.jsonl", prompt("first"), *filler, {"type": "noise", "text": "x" * END}, TITLES[1]
    )
    found = summary(path)
    assert found is not None
    assert (found.title, found.first_prompt, found.turns) == ("in the middle", "first", 1)
    path = write(tmp_path / "t.jsonl", prompt("p" * 3 * END), {"type": "noise", "text": "x" * END})
    found = summary(path)
    assert found is not None
    assert found.first_prompt == "p" * 199 + "…"


def test_only_files_of_the_right_kind_are_transcripts(tmp_path: Path) -> None:
    for number, name in enumerate(("a.jsonl", "b.jsonl", "notes.txt")):
        (tmp_path / name).write_text("{}\n")
        os.utime(tmp_path / name, (number, number))
    (tmp_path / "folder.jsonl").mkdir()
    assert transcripts(str(tmp_path)) == [str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")]
    assert transcripts(str(tmp_path / "none")) == []


def test_lists_are_newest_first_and_titles_find_the_newest(tmp_path: Path) -> None:
    for n, name in enumerate(("old", "new")):
        path = write(tmp_path / f"{name}.jsonl", prompt("q"), {"type": "custom-title", "customTitle": "same"})
        os.utime(path, (n, n))
    (tmp_path / "notes.txt").touch()
    assert [row.id for row in list_sessions([str(tmp_path), str(tmp_path / "missing")])] == ["new", "old"]
    assert find_title(str(tmp_path), "same") == str(tmp_path / "new.jsonl")
    assert find_title(str(tmp_path), "other") is None
    assert own_title(str(tmp_path / "missing.jsonl")) == ""


@pytest.mark.parametrize("words", ["needle", "NEEDLE", 'say "needle"', "two\nlines", "käse", "KÄSE"])
def test_words_are_found_wherever_they_were_said(tmp_path: Path, words: str) -> None:
    path = write(
        tmp_path / "s.jsonl", prompt('I say "needle" and two\nlines with Käse'), {"type": "tag", "tag": words}
    )
    assert [hit.who for hit in search(path, words)] == ["user"]


def test_calls_results_and_sub_agents_are_searched(tmp_path: Path) -> None:
    use = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "find needle"}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a needle"}]}]
    path = write(tmp_path / "s.jsonl", {**prompt(use), "type": "assistant"}, prompt(result, "r"))
    write(
        tmp_path / "s" / "subagents" / "agent-a1.jsonl", prompt("my needle", isSidechain=True, agentId="a1")
    )
    assert list(search(path, "needle")) == [
        Hit("u", STAMP, "Bash", '{"command":"find needle"}'),
        Hit("r", STAMP, "result", "a needle"),
        Hit("u", STAMP, "agent a1", "my needle"),
    ]
