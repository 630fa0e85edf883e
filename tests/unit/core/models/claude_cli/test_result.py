from __future__ import annotations

from typing import Any

import pytest

from forge.core.model import Retrying
from forge.core.models.claude_cli.changes import Busy, Change, Notice, SessionKnown, Task, TurnFinished
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import Failure
from unit.core.models.claude_cli.printed import (
    Line,
    answer,
    begin,
    call,
    ended,
    fed,
    init,
    mapped,
    opened,
    piece,
    result,
    streamed,
    system,
    text,
    user,
    whole,
)

MARKER = user("[Request interrupted by user]")


def error(kind: str, message: str, status: int | None = None, what: str | None = None) -> Line:
    return {"kind": kind, "status": status, "type": what, "message": message}


def api_error(words: str = "API Error: 400 bad", **more: Any) -> Line:
    flags = {"is_api_error_message": True, "error": "unknown", "uuid": "e1", **more}
    return whole(text(words), by="e1", model="<synthetic>", line=flags)


BAD: Line = {"api_error_status": 400, "api_error_type": "invalid_request_error"}


EXECUTION, TURNS, BUDGET = "error_during_execution", "error_max_turns", "error_max_budget_usd"
SHAPE = "error_max_structured_output_retries"
ENDS: list[tuple[Line, str, Line | None]] = [
    ({}, "stop", None),
    (
        {"is_error": True, "result": "no", **BAD},
        "error",
        error("api_error", "no", 400, "invalid_request_error"),
    ),
    ({"is_error": True, "terminal_reason": "x", "result": "off"}, "error", error("api_error", "off")),
    ({"is_error": True, "result": ""}, "error", error("api_error", "success")),
    (
        {"terminal_reason": "aborted_streaming", "subtype": EXECUTION, "is_error": True},
        "aborted",
        error("aborted", "interrupted", what="aborted_streaming"),
    ),
    (
        {"terminal_reason": "aborted_tools", "is_error": True, "errors": ["x"]},
        "aborted",
        error("aborted", "interrupted", what="aborted_tools"),
    ),
    (
        {"subtype": TURNS, "is_error": True, "errors": ["Reached 2"]},
        "max-turns",
        error("max_turns", "Reached 2", what=TURNS),
    ),
    # Up to 2.0 a run that reached its limit is no error, and has no words.
    ({"subtype": TURNS, "is_error": False}, "max-turns", error("max_turns", "max-turns", what=TURNS)),
    (
        {"subtype": BUDGET, "is_error": True, "errors": ["$1"]},
        "budget",
        error("budget", "$1", what=BUDGET),
    ),
    (
        {"subtype": EXECUTION, "errors": ["No conversation"]},
        "error",
        error("execution", "No conversation", what=EXECUTION),
    ),
    (
        {"subtype": SHAPE, "is_error": True, "errors": [7]},
        "error",
        error("structured_output", SHAPE, what=SHAPE),
    ),
    ({"terminal_reason": "tool_deferred", "stop_reason": "tool_deferred"}, "tool-calls", None),
    ({"terminal_reason": "completed", "structured_output": {"a": 1}}, "stop", None),
    ({"is_error": "yes", "subtype": 3}, "stop", None),
]


@pytest.mark.requirement("S4-07", "S4-19")
@pytest.mark.parametrize(("told", "finish", "failure"), ENDS)
def test_result_line_decides_how_the_run_ended(told: Line, finish: str, failure: Line | None) -> None:
    for code in (0, 1):
        final = mapped(*streamed("hi"), result(**told), code=code)["final"]
        assert (final["finish"], final["error"], final["results"]) == (finish, failure, 1)


@pytest.mark.requirement("S4-19")
def test_error_of_the_api_is_no_text_and_a_run_without_a_message_gets_an_empty_step() -> None:
    got = mapped(init(), api_error(), result(is_error=True, result="API Error: 400 bad", **BAD), code=1)
    assert got["parts"] == [
        {"type": "step-start", "step": 1},
        {"type": "step-finish", "step": 1, "reason": "error", "cost_usd": 0},
    ]
    assert got["final"]["error"] == error("api_error", "API Error: 400 bad", 400, "invalid_request_error")


def test_error_of_the_api_is_forgotten_when_the_run_goes_on() -> None:
    got = mapped(api_error(), *streamed("recovered"), code=1)["final"]
    assert got["error"] == error("exit", "The CLI ended without a result (exit code 1).", 1)
    assert mapped(api_error("no", **BAD), code=1)["final"]["error"]["kind"] == "api_error"


@pytest.mark.parametrize(
    ("line", "told", "texts"),
    [
        # Versions before the flag: only the result says that the text was an error.
        ({}, {"is_error": True}, []),
        ({}, {}, ["Invalid key"]),
        ({"local_command_source": "x"}, {}, ["Invalid key"]),
        ({"error": "authentication_failed"}, {"is_error": True}, []),
    ],
)
def test_synthetic_text_is_an_error_or_the_answer_of_a_command(
    line: Line, told: Line, texts: list[str]
) -> None:
    said = whole(text("Invalid key"), model="<synthetic>", line=line)
    got = mapped(init(), said, system("status"), result(**told), code=1)
    assert [part["text"] for part in got["parts"] if part["type"] == "text"] == texts
    if told:
        assert got["final"]["error"] == error("api_error", "Invalid key")


def test_synthetic_text_is_kept_when_the_run_goes_on_or_just_ends() -> None:
    said = whole(text("note"), by="s", model="<synthetic>")
    for lines in ([said], [said, *streamed("more")], [said, whole(text("more")), result(is_error=True)]):
        assert mapped(*lines)["parts"][1] == text("note")


@pytest.mark.requirement("S4-09", "S4-08")
@pytest.mark.parametrize(
    ("code", "finish", "failure"),
    [
        (0, "stop", None),
        (1, "error", error("exit", "said on stderr", 1)),
        (2, "error", error("exit", "said on stderr", 2)),
        (None, "error", error("exit", "said on stderr")),
        (129, "aborted", error("killed", "SIGHUP", what="signal")),
        (137, "aborted", error("killed", "SIGKILL", what="signal")),
        (143, "aborted", error("killed", "SIGTERM", what="signal")),
        (-9, "aborted", error("killed", "SIGKILL", what="signal")),
        (-15, "aborted", error("killed", "SIGTERM", what="signal")),
        (255, "aborted", error("killed", "signal 127", what="signal")),
    ],
)
def test_run_without_a_result_ends_by_its_exit_code(
    code: int | None, finish: str, failure: Line | None
) -> None:
    said = "said on stderr\n"
    for lines in ([], [init()], [begin(), opened(0), piece(0, "half")], [whole(text("whole"))]):
        got = mapped(*lines, code=code, stderr=said)
        assert (got["final"]["finish"], got["final"]["error"]) == (finish, failure)
        assert [part["type"] for part in got["parts"] if part["type"].startswith("step")] == [
            "step-start",
            "step-finish",
        ]
        assert got["parts"][-1]["reason"] == finish


def test_text_that_was_still_growing_is_incomplete() -> None:
    got = mapped(begin(), opened(0), piece(0, "half"), code=143)
    assert got["parts"][1] == {**text("half"), "incomplete": True}
    assert mapped(*streamed("done"), code=143)["parts"][1] == text("done")


def test_missing_result_of_a_run_that_ended_well_is_a_warning() -> None:
    outcome = ended(*streamed("hi"))
    assert (outcome.finish, outcome.error, outcome.warnings) == (
        "stop",
        None,
        ("The CLI ended without a result line.",),
    )


@pytest.mark.parametrize("code", [0, 1])
def test_interruption_without_a_result_is_an_abort(code: int) -> None:
    final = mapped(init(), *streamed("hi")[:3], MARKER, code=code)["final"]
    assert (final["finish"], final["error"]) == ("aborted", error("aborted", "interrupted"))


def test_old_result_after_an_interruption_is_an_abort() -> None:
    told = result(subtype="error_during_execution", is_error=True)
    assert mapped(*streamed("hi"), MARKER, told)["final"]["finish"] == "aborted"
    assert mapped(*streamed("hi"), told)["final"]["finish"] == "error"


def test_what_the_host_cancelled_is_aborted_whatever_was_said() -> None:
    for lines in ([], [*streamed("hi"), result()], [*streamed("hi"), result(is_error=True)]):
        outcome = ended(*lines, code=143, cancelled=True)
        assert (outcome.finish, outcome.error) == (
            "aborted",
            Failure("aborted", None, "cancelled", "interrupted"),
        )


def test_end_of_a_run_counts_when_another_turn_had_begun() -> None:
    lines = [*streamed("one"), result(), *streamed("two", message_id="msg_2")]
    assert mapped(*lines, code=143)["final"]["error"] == error("killed", "SIGTERM", what="signal")
    assert mapped(*lines[:-1], result(), code=143)["final"]["error"] is None


def test_step_that_is_open_at_the_end_bears_the_end_as_its_reason() -> None:
    def reason(*lines: Line, code: int = 0) -> str:
        return str(mapped(*lines, code=code)["parts"][-1]["reason"])

    called = [whole(call()), answer()]
    assert reason(*called, result(subtype="error_max_turns", is_error=True)) == "tool-calls"
    assert reason(*called, result(is_error=True)) == "error"
    assert reason(*called, code=143) == "aborted"
    assert reason(whole(call(), stop_reason="tool_use"), answer(), code=143) == "tool-calls"


def costs(*lines: Line) -> list[float]:
    return [part["cost_usd"] for part in mapped(*lines)["parts"] if part["type"] == "step-finish"]


@pytest.mark.requirement("S4-14")
@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({}, 0),
        ({"total_cost_usd": 0.3, "cost_usd": 0.2, "total_cost": 0.1}, 0.3),
        ({"cost_usd": 0.2, "total_cost": 0.1}, 0.2),
        ({"total_cost": 0.1}, 0.1),
        ({"total_cost_usd": None, "cost_usd": 0.2}, 0.2),
        ({"total_cost_usd": "0.3"}, 0),
        ({"total_cost_usd": 0.00028000000000000003}, 0.00028),
    ],
)
def test_cost_has_had_three_names(told: Line, cost: float) -> None:
    assert costs(*streamed("hi"), result(**told)) == [cost]


@pytest.mark.requirement("S4-19")
def test_cost_grows_over_the_session_and_each_turn_bears_its_own_part() -> None:
    first = [*streamed("one"), *streamed("two", message_id="msg_2"), result(total_cost_usd=0.00028)]
    second = [*streamed("three", message_id="msg_3"), result(total_cost_usd=0.00042)]
    assert costs(*first, *second) == [0, 0.00028, 0.00014]
    assert mapped(*first, *second)["final"]["cost_usd"] == 0.00042
    # A turn without a message of the model adds to the last step; a smaller number has begun anew.
    assert costs(*first, result(total_cost_usd=0.0003)) == [0, 0.0003]
    assert costs(*first, *streamed("again", message_id="msg_4"), result(total_cost_usd=0.0001)) == [
        0,
        0.00028,
        0.0001,
    ]
    assert costs(result(total_cost_usd=0.5)) == [0.5]


@pytest.mark.requirement("S4-19")
def test_two_processes_of_one_session_do_not_double_the_cost() -> None:
    total = 0.0
    added = []
    for told in (0.1, 0.25):
        mapper = Mapper(cost_before=total)
        fed(mapper, init(), *streamed("hi"), result(total_cost_usd=told))
        outcome = mapper.end(0)
        total = outcome.total_cost
        added.append(outcome.cost)
    assert added == [0.1, 0.15]


@pytest.mark.requirement("S4-17")
def test_unknown_lines_are_ignored_and_counted() -> None:
    outcome = ended(
        {"type": "ping_future"},
        {"type": 7},
        {},
        system("brand_new"),
        system("brand_new"),
        {"type": "stream_event", "event": {"type": "new"}},
        {"type": "stream_event"},
        *streamed("hi"),
        {"type": "control_request", "request_id": "1", "request": {}},
        {"type": "command_lifecycle"},
        result(),
    )
    assert outcome.unknown == {
        "ping_future": 1,
        "": 2,
        "system/brand_new": 2,
        "stream_event/new": 1,
        "stream_event": 1,
    }
    assert (outcome.finish, outcome.error) == ("stop", None)


def test_session_and_model_are_those_of_the_init_line_or_the_first_that_has_them() -> None:
    told = [mapped(*lines)["final"] for lines in ([init(), whole(text("a"), model="m2")], [whole(text("a"))])]
    assert [(final["session_id"], final["model"]) for final in told] == [("s1", "m1"), (None, "m1")]
    assert mapped(result())["final"]["session_id"] == "s1"


FELL_BACK = system("model_fallback", original_model="a", fallback_model="b")
COMPACTED = system(
    "compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 2}
)
NOTE = user("be brief", isSynthetic=True)
STARTED = system("task_started", task_id="b1", tool_use_id="t1", task_type="local_bash")


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (init(), SessionKnown("s1", "m1", init())),
        (system("status", status="compacting"), Busy("compacting")),
        (system("status", status=None), Busy("")),
        (
            system(
                "api_retry",
                attempt=1,
                max_retries=10,
                retry_delay_ms=550,
                error_status=529,
                error="overloaded",
            ),
            Retrying(1, 10, 550.0, 529, "overloaded"),
        ),
        (system("api_retry", attempt=2, error_status=None), Retrying(2, 0, 0.0, None, "unknown")),
        (FELL_BACK, Notice("model_fallback", "a -> b", FELL_BACK)),
        (COMPACTED, Notice("compact_boundary", "auto: 9 tokens -> 2", COMPACTED)),
        (NOTE, Notice("synthetic", "be brief", NOTE)),
        (MARKER, Notice("interrupted", "[Request interrupted by user]", MARKER)),
        (STARTED, Task("started", "b1", "t1", STARTED)),
        (user("hello"), None),
        (user("hello", isReplay=True, isSynthetic=True), None),
        (system("thinking_tokens", estimated_tokens=1), None),
        (system("hook_started"), None),
    ],
)
def test_lines_without_content_are_told_as_news(line: Line, change: Change | None) -> None:
    assert fed(Mapper(), line) == ([] if change is None else [change])


@pytest.mark.parametrize("key", ["text", "content", "message"])
def test_notices_have_their_text_under_several_names(key: str) -> None:
    line = system("informational", **{key: "look"})
    assert fed(Mapper(), line) == [Notice("informational", "look", line)]


def test_turn_of_a_live_process_is_told_with_its_result() -> None:
    told = result(total_cost_usd=0.5, result="hi")
    assert fed(Mapper(), *streamed("hi"), told)[-1] == TurnFinished(2, "stop", None, 0.5, told)
