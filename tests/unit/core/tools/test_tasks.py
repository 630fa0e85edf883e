from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.tool import Action
from forge.core.tools import taskcreate, taskget, tasklist, taskupdate
from forge.core.tools.tasks import Task, TaskWatch, folder, load, unfinished
from unit.core.tools.context import RecordingContext, call, failure

ACTIONS: dict[str, Action[Any]] = {
    "create": taskcreate.ACTION,
    "get": taskget.ACTION,
    "list": tasklist.ACTION,
    "update": taskupdate.ACTION,
}


def play(ctx: RecordingContext, steps: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [call(ACTIONS[name], ctx, **given).content for name, given in steps]


Step = tuple[str, dict[str, Any]]
A: Step = ("create", {"subject": "a", "description": "da"})
B: Step = ("create", {"subject": "b", "description": "db"})
LIST: Step = ("list", {})
MADE = "Task #1 created successfully: a"


def update(**changes: Any) -> tuple[str, dict[str, Any]]:
    return "update", {"taskId": "1", **changes}


@pytest.mark.parametrize(
    ("steps", "texts"),
    [
        ([LIST], ["No tasks found"]),
        ([A, B, LIST], [MADE, "Task #2 created successfully: b", "#1 [pending] a\n#2 [pending] b"]),
        ([A, update(status="in_progress"), LIST], [MADE, "Updated task #1 status", "#1 [in_progress] a"]),
        ([A, update()], [MADE, "Updated task #1 "]),
        ([A, update(subject="a", owner="me"), LIST], [MADE, "Updated task #1 owner", "#1 [pending] a (me)"]),
        ([update(status="completed"), ("get", {"taskId": "1"})], ["Task not found", "Task not found"]),
    ],
    ids=["empty", "two", "state", "nothing new", "owner", "unknown number"],
)
def test_texts_are_the_observed_ones(
    tmp_path: Path, steps: list[tuple[str, dict[str, Any]]], texts: list[str]
) -> None:
    assert play(RecordingContext(tmp_path), steps) == texts


def test_a_task_waits_until_what_it_waits_for_is_done(tmp_path: Path) -> None:
    steps: list[Step] = [
        A,
        B,
        ("update", {"taskId": "1", "status": "in_progress", "addBlocks": ["2"]}),
        ("update", {"taskId": "2", "addBlockedBy": ["9"]}),
        LIST,
        ("get", {"taskId": "1"}),
        ("update", {"taskId": "1", "status": "completed"}),
        LIST,
        ("get", {"taskId": "2"}),
    ]
    assert play(RecordingContext(tmp_path), steps)[2:] == [
        "Updated task #1 status, blocks",
        "Updated task #2 blockedBy",
        "#1 [in_progress] a\n#2 [pending] b [blocked by #1]",
        "Task #1: a\nStatus: in_progress\nDescription: da\nBlocks: #2",
        "Updated task #1 status",
        "#1 [completed] a\n#2 [pending] b",
        "Task #2: b\nStatus: pending\nDescription: db\nBlocked by: #1",
    ]


def test_a_deleted_task_is_gone_and_its_number_is_not_used_again(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    play(ctx, [A, B, ("update", {"taskId": "2", "addBlocks": ["1"]})])
    gone = call(taskupdate.ACTION, ctx, taskId="2", status="deleted")
    assert (gone.content, gone.data) == (
        "Updated task #2 deleted",
        {
            "success": True,
            "taskId": "2",
            "updatedFields": ["deleted"],
            "statusChange": {"from": "pending", "to": "deleted"},
        },
    )
    assert play(ctx, [LIST, B, LIST]) == [
        "#1 [pending] a",
        "Task #3 created successfully: b",
        "#1 [pending] a\n#3 [pending] b",
    ]


def test_metadata_is_merged_and_null_deletes_a_key(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    call(taskcreate.ACTION, ctx, subject="a", description="d", metadata={"k": 1, "j": "x"})
    call(taskupdate.ACTION, ctx, taskId="1", metadata={"k": None, "z": [2]})
    assert load(folder(ctx)) == {
        "1": Task(id="1", subject="a", description="d", metadata={"j": "x", "z": [2]})
    }


def test_a_task_is_a_file_the_reference_reads(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    call(taskcreate.ACTION, ctx, subject="x", description="d", activeForm="f", metadata={"a": 1})
    call(taskupdate.ACTION, ctx, taskId="1", owner="o", addBlocks=["1"])
    path = tmp_path / "home" / ".claude" / "tasks" / "session-1" / "1.json"
    assert path.read_text() == (
        '{\n  "id": "1",\n  "subject": "x",\n  "description": "d",\n  "activeForm": "f",\n  "owner": "o",\n'
        '  "status": "pending",\n  "blocks": [\n    "1"\n  ],\n  "blockedBy": [\n    "1"\n  ],\n'
        '  "metadata": {\n    "a": 1\n  }\n}'
    )


def test_the_list_survives_the_process_and_damaged_files(tmp_path: Path) -> None:
    play(RecordingContext(tmp_path), [A, B, ("update", {"taskId": "1", "status": "completed"})])
    place = tmp_path / "home" / ".claude" / "tasks" / "session-1"
    (place / "3.json").write_text("{")
    (place / "notes.json").write_text("{}")
    later = RecordingContext(tmp_path)
    assert [task.subject for task in unfinished(later)] == ["b"]
    assert play(later, [A]) == ["Task #4 created successfully: a"]


def test_sessions_have_lists_of_their_own(tmp_path: Path) -> None:
    play(RecordingContext(tmp_path), [A])
    other = RecordingContext(tmp_path)
    other.session_id = "session-2"
    assert play(other, [LIST]) == ["No tasks found"]


def test_an_objection_undoes_a_creation_and_keeps_a_task_open(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    heard = []

    async def object_to(event: str, task: Task) -> str:
        heard.append((event, task.id, task.status))
        return "" if task.subject == "a" and event == "TaskCreated" else f"{event}: no"

    ctx.keep(TaskWatch).object_to = object_to
    assert play(ctx, [A]) == ["Task #1 created successfully: a"]
    assert failure(taskcreate.ACTION, ctx, subject="b", description="") == ("failed", "TaskCreated: no")
    assert play(ctx, [("update", {"taskId": "1", "status": "completed"}), LIST]) == [
        "TaskCompleted: no",
        "#1 [pending] a",
    ]
    assert heard == [
        ("TaskCreated", "1", "pending"),
        ("TaskCreated", "2", "pending"),
        ("TaskCompleted", "1", "completed"),
    ]
