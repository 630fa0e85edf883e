from __future__ import annotations

from typing import Any

import pytest

from forge.core.models.claude_cli.changes import Answered
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import ToolPart
from unit.core.models.claude_cli.printed import (
    Line,
    answer,
    call,
    fed,
    init,
    mapped,
    result,
    streamed,
    system,
    text,
    user,
    whole,
)

USAGE = {"input_tokens": 10, "output_tokens": 5}
TOKENS = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}


def growing(*texts: str) -> list[Line]:
    """The dialect of growing texts: the last line is the whole one."""
    partial = {"partial": True}
    lines = [whole(text(words), by=None, line=partial) for words in texts[:-1]]
    return [*lines, whole(text(texts[-1]), by=None)]


@pytest.mark.requirement("S4-12", "S4-13")
@pytest.mark.parametrize(
    ("texts", "deltas"),
    [
        (["Hello"], ["append Hello"]),
        (["Hel", "Hello", "Hello"], ["append Hel", "append lo"]),
        (["Hello", "Hel"], ["append Hello", "reset Hel"]),
        (["Hello", "Goodbye", "Goodbye!"], ["append Hello", "reset Goodbye", "append !"]),
        (["a", "", "a"], ["append a", "reset ", "append a"]),
        (["a", "b", "a"], ["append a", "reset b", "reset a"]),
    ],
)
def test_growing_text_is_told_as_its_rest_and_a_broken_one_anew(texts: list[str], deltas: list[str]) -> None:
    got = mapped(*growing(*texts), result())
    assert [f"{row['op']} {row['text']}" for row in got["deltas"]] == deltas
    assert [part.get("text") for part in got["parts"]] == [None, texts[-1], None]


def test_growing_text_may_keep_its_uuid() -> None:
    lines = [{**line, "uuid": "u1"} for line in growing("a", "ab", "abc")]
    assert mapped(*lines, result())["parts"][1] == text("abc")


def test_growing_line_may_hold_several_blocks() -> None:
    partial = {"partial": True}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    got = mapped(
        whole(thought, line=partial),
        whole(thought, text("a"), line=partial),
        whole(thought, text("ab"), call(x=1), line=partial),
        whole(thought, text("abc"), call(x=2)),
        result(),
    )
    kinds = [part["type"] for part in got["parts"]]
    assert kinds == ["step-start", "reasoning", "text", "tool", "step-finish"]
    assert (got["parts"][2]["text"], got["parts"][3]["input"]) == ("abc", {"x": 2})


def test_lines_without_an_id_continue_until_the_turn_ends() -> None:
    got = mapped(*growing("a", "ab"), whole(text("c"), by=None), result(), *growing("d"), result())
    assert [(p["type"], p.get("text")) for p in got["parts"]] == [
        ("step-start", None),
        ("text", "ab"),
        ("text", "c"),
        ("step-finish", None),
        ("step-start", None),
        ("text", "d"),
        ("step-finish", None),
    ]


def test_plain_text_is_a_block_and_blocks_of_unknown_kinds_are_none() -> None:
    got = mapped(
        {"type": "assistant", "message": {"id": "m", "content": "hi"}}, whole({"type": "new"}, by="m")
    )
    assert [part["type"] for part in got["parts"]] == ["step-start", "text", "step-finish"]


def test_text_of_an_interrupted_line_is_incomplete() -> None:
    got = mapped(whole(text("half"), line={"aborted": True}), result(terminal_reason="aborted_streaming"))
    assert got["parts"][1:] == [
        {**text("half"), "incomplete": True},
        {"type": "step-finish", "step": 1, "reason": "aborted", "cost_usd": 0},
    ]


def finishes(*lines: Line) -> list[Any]:
    parts = mapped(*lines)["parts"]
    return [(part["reason"], part.get("tokens")) for part in parts if part["type"] == "step-finish"]


def test_stop_reason_and_usage_of_a_whole_line_are_those_of_its_step() -> None:
    old = [whole(text("a"), stop_reason="max_tokens", usage=USAGE), result()]
    assert finishes(*old) == [("length", None)]
    fallback = [*streamed("a"), whole(text("b"), by="msg_2", stop_reason="end_turn", usage=USAGE), result()]
    assert finishes(*fallback) == [("stop", TOKENS), ("stop", TOKENS)]
    placeholder = [*streamed("a"), whole(text("b"), by="msg_2", stop_reason=None, usage=USAGE), result()]
    assert finishes(*placeholder) == [("stop", TOKENS), ("stop", None)]


@pytest.mark.requirement("S4-14")
@pytest.mark.parametrize(
    ("lines", "tokens"),
    [
        ([init()], (0, 0)),
        ([*streamed("a"), result(usage={"input_tokens": 99, "output_tokens": 99})], (10, 5)),
        ([whole(text("a"), usage=USAGE), result(usage={"input_tokens": 20, "output_tokens": 7})], (20, 7)),
        ([whole(text("a"), usage=USAGE), *[result(usage=USAGE)] * 2], (20, 10)),
        # Repeated on every line of a message, counted once.
        ([whole(text("a"), usage=USAGE), whole(call(), usage=USAGE), result()], (10, 5)),
        ([whole(text("a"), usage=USAGE), whole(text("b"), by="msg_2", usage=USAGE)], (20, 10)),
    ],
)
def test_tokens_come_from_the_best_source_there_is(lines: list[Line], tokens: tuple[int, int]) -> None:
    told = mapped(*lines)["final"]["tokens"]
    assert (told["input"], told["output"]) == tokens


def tool(status: str, output: str | None, given: Line | None = None) -> Line:
    part = {"type": "tool", "call_id": "t1", "name": "Bash", "input": given or {}}
    return {**part, "status": status, "output": output}


@pytest.mark.requirement("S4-18")
@pytest.mark.parametrize(
    ("lines", "status", "output"),
    [
        ([], "pending", None),
        ([answer()], "completed", "out"),
        ([answer(is_error=False)], "completed", "out"),
        ([answer(is_error=True)], "error", "out"),
        ([answer(content=[text("a"), {"type": "image", "source": {}}, text("b")])], "completed", "a\nb"),
        ([answer(content=None)], "completed", ""),
        ([answer("other")], "pending", None),
        ([answer(line={"isReplay": True})], "pending", None),
        (
            [
                answer(
                    is_error=True,
                    line={"tool_result_meta": [{"id": "t1", "non_execution_kind": "user-rejected"}]},
                )
            ],
            "denied",
            "out",
        ),
        (
            [
                answer(
                    is_error=True,
                    line={"tool_result_meta": [{"id": "t1", "non_execution_kind": "permission-rule"}]},
                )
            ],
            "denied",
            "out",
        ),
        (
            [
                answer(
                    is_error=True,
                    line={"tool_result_meta": [{"id": "t1", "non_execution_kind": "cancelled"}]},
                )
            ],
            "error",
            "out",
        ),
        ([system("permission_denied", tool_use_id="t1"), answer(is_error=True)], "denied", "out"),
    ],
)
def test_result_completes_its_call(lines: list[Line], status: str, output: str | None) -> None:
    assert mapped(whole(call()), *lines, result())["parts"][1] == tool(status, output)


def test_result_that_comes_before_its_call_waits_for_it() -> None:
    assert mapped(answer(content="early"), whole(call()), result())["parts"][1] == tool("completed", "early")


def test_answered_call_keeps_images_and_the_structured_result() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    changes = fed(Mapper(), whole(call()), answer(content=[image], line={"tool_use_result": [1]}))
    part = ToolPart("t1", "Bash", {}, "completed", "", images=(image,), result=[1])
    assert changes[-1] == Answered(1, part)


def test_results_in_any_order_do_not_end_the_step() -> None:
    got = mapped(
        whole(call("t1")),
        answer("t1"),
        whole(call("t2")),
        whole(call("t3")),
        answer("t3", "three", is_error=True),
        answer("t2", "two"),
        whole(text("done"), by="msg_2"),
        result(),
    )
    told = [(p["type"], p.get("status"), p.get("output")) for p in got["parts"]]
    assert told[1:5] == [
        ("tool", "completed", "out"),
        ("tool", "completed", "two"),
        ("tool", "error", "three"),
        ("step-finish", None, None),
    ]


def of(parent: str, line: Line, **more: Any) -> Line:
    return {**line, "parent_tool_use_id": parent, **more}


@pytest.mark.requirement("S4-19")
def test_lines_of_sub_agents_belong_to_their_call() -> None:
    got = mapped(
        whole(call("t1", "Task", prompt="go", subagent_type="kind")),
        of("t1", user("go"), agent_id="a1", subagent_type="other"),
        of("t1", whole(text("sub"), by="msg_2")),
        of("t1", whole(call("t2", "Task", prompt="in"), by="msg_2")),
        of("t2", whole(call("t3"), by="msg_3")),
        of("t2", answer("t3", "deep")),
        of("t1", answer("t2", "inner done")),
        of("nobody", whole(text("stray"), by="msg_4")),
        answer("t1", "done"),
        result(),
    )
    deep = {
        "type": "tool",
        "call_id": "t3",
        "name": "Bash",
        "input": {},
        "status": "completed",
        "output": "deep",
    }
    inner = {"type": "tool", "call_id": "t2", "name": "Task", "input": {"prompt": "in"}}
    assert got["children"] == {
        "t1": {
            "agent_id": "a1",
            "agent_type": "other",
            "prompt": "go",
            "parts": [text("sub"), {**inner, "status": "completed", "output": "inner done"}],
        },
        "t2": {"agent_id": None, "agent_type": None, "prompt": "in", "parts": [deep]},
    }
    assert [(p["type"], p.get("text", p.get("output"))) for p in got["parts"]] == [
        ("step-start", None),
        ("tool", "done"),
        ("step-finish", None),
        ("step-start", None),
        ("text", "stray"),
        ("step-finish", None),
    ]


@pytest.mark.parametrize(
    ("kind", "children"),
    [
        ("local_agent", {"t1": {"agent_id": "a1", "agent_type": "kind", "prompt": "p", "parts": []}}),
        ("local_bash", {}),
    ],
)
def test_task_of_an_agent_is_a_child_and_one_of_a_command_is_not(kind: str, children: Line) -> None:
    told = {"tool_use_id": "t1", "task_id": "a1", "task_type": kind, "subagent_type": "kind", "prompt": "p"}
    assert mapped(whole(call()), system("task_started", **told), result())["children"] == children
