import pytest

from forge.core.message import Aside, Block, Message, Text, ToolResult, ToolUse
from forge.core.model import ModelCard
from forge.core.models.asides import Turn
from forge.core.models.cards import CLAUDE
from forge.core.models.history import tidy

NEW, OLD = ModelCard("new", "p", "anthropic", asides=True), ModelCard("old", "p", "anthropic")
CALL = Message("assistant", [ToolUse("c1", "Bash", {}), ToolUse("c2", "Bash", {})])


def reminder(text: str) -> Text:
    return Text(f"<system-reminder>\n{text}\n</system-reminder>")


def test_newest_models_get_a_system_message_behind_the_one_it_belongs_to() -> None:
    messages = [
        Message("user", [Text("go")]),
        CALL,
        Message("user", [_r("c1"), Aside("a"), _r("c2"), Aside("b")]),
    ]
    assert tidy(messages, NEW)[2:] == [
        Turn("user", [_r("c1"), _r("c2")]),
        Turn("system", [Text("a\n\nb")]),
    ]


def test_texts_that_open_a_conversation_stay_apart() -> None:
    messages = [Message("user", [Aside("start"), Text("go"), Aside("prompt")])]
    assert tidy(messages, NEW) == [
        Turn("user", [Text("go")]),
        Turn("system", [Text("start"), Text("prompt")]),
    ]


@pytest.mark.parametrize(
    ("asides", "blocks"),
    [
        ([Aside("a")], [ToolResult("c1", "r"), ToolResult("c2", "r"), reminder("a")]),
        (
            [Aside("a", "c2")],
            [ToolResult("c1", "r"), ToolResult("c2", f"r\n\n{reminder('a').text}")],
        ),
        (
            [Aside("a", "c2"), Aside("b")],
            [ToolResult("c1", "r"), ToolResult("c2", "r"), reminder("a"), reminder("b")],
        ),
        (
            [reminder("rules"), Aside("a", "c1"), Text("words"), reminder("late")],
            [
                ToolResult("c1", f"r\n\n{reminder('a').text}"),
                ToolResult("c2", f"r\n\n{reminder('rules').text}"),
                Text("words"),
                reminder("late"),
            ],
        ),
    ],
    ids=[
        "after the results",
        "inside the result it is about",
        "after, if not all are about results",
        "inside the last result, unless behind words",
    ],
)
def test_other_models_get_reminders(asides: list[Block], blocks: list[Block]) -> None:
    messages = [Message("user", [Text("go")]), CALL, Message("user", [_r("c1"), _r("c2"), *asides])]
    assert tidy(messages, OLD)[2] == Turn("user", blocks)


def test_before_a_prompt_a_reminder_stays_in_its_place() -> None:
    assert tidy([Message("user", [Aside("a"), Text("go")])], OLD) == [
        Turn("user", [reminder("a"), Text("go")])
    ]


def test_a_message_of_asides_alone_is_one_of_reminders_for_every_model() -> None:
    messages = [
        Message("user", [Text("go")]),
        Message("assistant", [Text("x")]),
        Message("user", [Aside("a")]),
    ]
    assert tidy(messages, NEW)[2] == Turn("user", [reminder("a")])


def test_only_the_newer_models_take_system_messages_in_between() -> None:
    assert [card.id for card in CLAUDE if card.asides] == [
        "claude-opus-5-5",
        "claude-fable-5-2",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-1",
        "claude-fable-5",
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-opus-4-8",
    ]


def test_the_three_largest_of_the_newest_models_are_not_told_how_many_tokens_are_left() -> None:
    assert [card.id for card in CLAUDE if not card.counts_tokens] == [
        "claude-opus-5-5",
        "claude-fable-5-2",
        "claude-sonnet-5-5",
    ]


def _r(call: str) -> ToolResult:
    return ToolResult(call, "r")


def test_a_result_in_parts_takes_a_reminder_as_one_more_part() -> None:
    parts: list[Block] = [Text("r")]
    answer = Message("user", [ToolResult("c1", parts), _r("c2"), Aside("a", "c1")])
    told = ToolResult("c1", [Text("r\n"), reminder("a")])
    assert tidy([Message("user", [Text("go")]), CALL, answer], OLD)[2] == Turn("user", [told, _r("c2")])


def test_a_result_that_names_tools_stays_as_it_is() -> None:
    found = ToolResult("c1", [{"type": "tool_reference", "tool_name": "T"}])
    answer = Message("user", [found, Text("Tool loaded."), Aside("a", "c1")])
    blocks: list[Block] = [found, Text("Tool loaded."), reminder("a")]
    assert tidy([Message("user", [Text("go")]), CALL, answer], OLD)[2] == Turn("user", blocks)
