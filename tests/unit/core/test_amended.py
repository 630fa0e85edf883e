from __future__ import annotations

from typing import Any

import pytest

from forge.core.amended import amended, naming_note

QUESTION = {"question": "Which?", "header": "H", "options": []}
TODOS: dict[str, Any] = {"todos": {"items": {"properties": {"content": {}}}}}


@pytest.mark.parametrize(
    ("tool", "given", "run", "shown"),
    [
        ("Edit", {"file_path": "a", "old_str": "x", "new_str": "y"}, "file_path old_string new_string", None),
        ("Edit", {"path": "a", "old_str": "x", "new_str": "y"}, "file_path old_string new_string", "same"),
        ("Edit", {"file_path": "a", "old_string": "x", "old_str": "z"}, "file_path old_string", None),
        ("Edit", {"file_path": "a", "path": "b"}, "file_path path", "same"),
        ("Write", {"path": "a", "file_text": "x"}, "file_path content", "same"),
        ("Bash", {"command": "ls", "timeout_ms": 5}, "command timeout", "same"),
        ("Bash", {"command": "ls", "timeout_ms": 5, "timeout": 6}, "command timeout timeout_ms", "same"),
        ("TaskUpdate", {"task_id": "1", "status": "completed"}, "taskId status", "same"),
        ("TaskCreate", {"title": "t"}, "subject description", "same"),
        ("TaskCreate", {"title": "t", "subject": "s", "description": "d"}, "subject description", "same"),
        ("Skill", {"skill": "x", "name": "y"}, "skill", "same"),
        ("Read", {"path": "a"}, "path", "same"),
    ],
)
def test_what_is_called_by_another_name_is_understood(
    tool: str, given: dict[str, Any], run: str, shown: str | None
) -> None:
    schema: dict[str, Any] = {"properties": {"skill": {}}}
    assert set(amended(tool, schema, given)) == set(run.split())
    expected = set(given) if shown else set(run.split())
    assert set(amended(tool, schema, given, shown=True)) == expected


def test_what_was_given_keeps_its_value() -> None:
    assert amended("TaskCreate", {}, {"description": "d"}) == {"subject": "d", "description": "d"}
    edit = {"file_path": "a", "old_string": "x", "old_str": "z"}
    assert amended("Edit", {}, edit) == {"file_path": "a", "old_string": "x"}


@pytest.mark.parametrize(
    ("tool", "given", "result"),
    [
        (
            "AskUserQuestion",
            {"questions": [QUESTION], "answers": {"Which?": ["A", "B"]}},
            {"questions": [{**QUESTION, "multiSelect": False}], "answers": {"Which?": "A,B"}},
        ),
        ("AskUserQuestion", {"questions": ["x"]}, {"questions": ["x"]}),
        ("TodoWrite", {"todos": [{"content": "a", "id": 1}, "x"]}, {"todos": [{"content": "a"}, "x"]}),
        ("TodoWrite", {"todos": "x"}, {"todos": "x"}),
    ],
)
def test_what_is_left_out_or_too_much_does_no_harm(
    tool: str, given: dict[str, Any], result: dict[str, Any]
) -> None:
    assert amended(tool, {"properties": TODOS}, given) == result


def test_a_file_that_was_written_under_wrong_names_is_told_the_right_ones() -> None:
    assert naming_note("Write", {"path": "a", "file_text": "x"}) == (
        "\n\nNote: Write's parameters are named `file_path` and `content`. `path` was read as `file_path`. "
        "`file_text` was read as `content`."
    )
    assert (
        naming_note("Write", {"file_path": "a", "content": "x"}) == naming_note("Edit", {"path": "a"}) == ""
    )
