"""Background work whose end nobody heard is told of when a conversation goes on."""

from __future__ import annotations

from typing import Any

import pytest

from forge.agent.lost_work import LostWork
from forge.agent.texts.load import text
from forge.core.reminder import reminder

Record = dict[str, Any]
RUNNING = (
    "Command running in background with ID: b1. Output is being written to: /t/b1.output. You will hear."
)
MOVED = (
    f"{'x' * 5000}\nCommand did not complete within its 1s timeout and was moved to the background (ID: b1)."
    " Output is being written to: /t/b1.output. You will hear."
)
WATCHING = "Monitor started (task b1, expires in 5s)."
LAUNCHED = [{"type": "text", "text": "Async agent launched successfully. (x)\nagentId: b1 (internal)"}]


def use(name: str, call: str, **given: Any) -> Record:
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


def result(call: str, content: Any, **more: Any) -> Record:
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return {"type": "user", "message": {"content": [block]}}


def news(task: str, status: str = "<status>completed</status>") -> str:
    return f"<task-notification>\n<task-id>{task}</task-id>\n{status}\n</task-notification>"


def told(*records: Record) -> list[str]:
    work = LostWork()
    assert list(work.watch(records)) == list(records)
    return work.told()


@pytest.mark.parametrize(
    ("began", "output", "status", "what"),
    [
        (RUNNING, "/t/b1.output", "stopped", "shell command"),
        (MOVED, "/t/b1.output", "stopped", "shell command"),
        (WATCHING, "", "stopped", "shell command"),
        (LAUNCHED, "", "failed", 'agent "look"'),
    ],
)
def test_work_without_an_end_is_told_of(began: Any, output: str, status: str, what: str) -> None:
    place = f"<output-file>{output}</output-file>\n" if output else ""
    body = (
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>c1</tool-use-id>\n"
        f"{place}<status>{status}</status>\n"
        f"<summary>Background {what} didn't finish before the previous session ended</summary>\n"
        f"<note>{text('lost_work')}</note>\n</task-notification>"
    )
    words = told(use("Agent", "c1", description="look"), result("c1", began))
    assert words == [reminder(f"{text('job_news')}\n\n{body}")]


@pytest.mark.parametrize(
    "end",
    [
        {"type": "user", "message": {"content": news("b1")}},
        {"type": "user", "message": {"content": [{"type": "text", "text": f"x\n{news('b1')}"}]}},
        {"type": "attachment", "rendered": [{"content": reminder(news("b1"))}]},
    ],
)
def test_work_that_has_ended_is_not(end: Record) -> None:
    assert told(result("c1", RUNNING), end) == []


def test_work_that_was_stopped_is_not() -> None:
    stop = use("TaskStop", "c2", task_id="b1")
    assert told(result("c1", RUNNING), stop, result("c2", "ok")) == []
    assert len(told(result("c1", RUNNING), stop, result("c2", "no", is_error=True))) == 1


def test_news_of_something_else_or_of_progress_ends_nothing() -> None:
    other = {"type": "user", "message": {"content": news("b2") + news("b1", "<event>line</event>")}}
    assert len(told(result("c1", WATCHING), other)) == 1


@pytest.mark.parametrize("content", [None, 5, [], [5], [{"type": "image"}], "words"])
def test_other_results_begin_nothing(content: Any) -> None:
    assert told(result("c1", content), {"type": "user", "message": 5}, {"rendered": [5]}) == []
