"""What models send out of habit, made what they mean: such calls are run, not refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Names that hosts never see; what is there twice is dropped.
_SHOWN = {"Edit": {"old_str": "old_string", "new_str": "new_string"}}
_TAKEN = {
    "Bash": {"timeout_ms": "timeout"},
    "Edit": {"path": "file_path"},
    "TaskCreate": {"title": "subject", "name": "subject", "content": "subject"},
    "TaskUpdate": {"id": "taskId", "task_id": "taskId"},
    "Write": {"path": "file_path", "file_text": "content"},
}
# Where one text is enough, it stands for the other too.
_EITHER = {"TaskCreate": ("subject", "description")}
# Tools that do not mind what they do not know; the schema that is sent is strict all the same.
_LENIENT = frozenset({"Agent", "Monitor", "SendMessage", "Skill", "ToolSearch"})
_EXPLAINED = {"Write": "`file_path` and `content`"}


def amended(
    tool: str, schema: Mapping[str, Any], value: dict[str, Any], *, shown: bool = False
) -> dict[str, Any]:
    """The input of a call as the tool's schema has it; as it is `shown`, only what is sure."""
    names = _SHOWN.get(tool, {})
    if names and (not shown or "file_path" in value):
        rest = {k: v for k, v in value.items() if k not in names}
        value = {**{right: value[wrong] for wrong, right in names.items() if wrong in value}, **rest}
    if shown:
        return value
    value = _renamed(tool, value)
    if tool == "AskUserQuestion":
        return _with_answers(value)
    if tool == "TodoWrite" and isinstance(todos := value.get("todos"), list):
        known = schema["properties"]["todos"]["items"]["properties"]
        return {**value, "todos": [_only(known, item) for item in todos]}
    known = schema.get("properties")
    return _only(known, value) if tool in _LENIENT and known else value


def naming_note(tool: str, value: Mapping[str, Any]) -> str:
    """What the result of a call with wrong names adds, so that the next one has the right names."""
    if tool not in _EXPLAINED:
        return ""
    read = [f"`{k}` was read as `{v}`." for k, v in _TAKEN[tool].items() if k in value and v not in value]
    words = f"Note: {tool}'s parameters are named {_EXPLAINED[tool]}. {' '.join(read)}"
    return f"\n\n{words}" if read else ""


def _with_answers(value: dict[str, Any]) -> dict[str, Any]:
    """Questions for one answer unless they say otherwise; several answers of a host in one text."""
    answers, questions = value.get("answers"), value.get("questions")
    if isinstance(answers, dict):
        told = {k: ",".join(map(str, v)) if isinstance(v, list) else v for k, v in answers.items()}
        value = {**value, "answers": told}
    if not isinstance(questions, list):
        return value
    asked = [
        {**q, "multiSelect": q.get("multiSelect", False)} if isinstance(q, dict) else q for q in questions
    ]
    return {**value, "questions": asked}


def _only(known: Mapping[str, Any], value: Any) -> Any:
    return {k: v for k, v in value.items() if k in known} if isinstance(value, dict) else value


def _renamed(tool: str, value: dict[str, Any]) -> dict[str, Any]:
    for wrong, right in _TAKEN.get(tool, {}).items():
        if wrong in value and right not in value:
            value = {right if k == wrong else k: v for k, v in value.items()}
        elif wrong in value and tool == "TaskCreate":
            value = {k: v for k, v in value.items() if k != wrong}
    either = _EITHER.get(tool, ())
    given = [name for name in either if name in value]
    return {**{name: value[given[0]] for name in either}, **value} if len(given) == 1 else value
