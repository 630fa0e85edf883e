from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from forge.core.message import Message, Text
from forge.core.model import Finished, Request
from forge.core.models.catalog import open_model
from forge.core.models.scripted import Turn
from forge.hosts.cli.tour import Act, Step, load_tour
from forge.hosts.cli.tour_server import Pace, Script, ScriptServer

TOUR = load_tour()
FIRST, WAITING, LAST = (
    Step([{"text": "one"}], say="look"),
    Step([{"text": "wait"}], waits=True),
    Step([{"text": "x"}]),
)
NEWS = "<task-notification>\n<output-file>/tmp/b1.output</output-file>\n</task-notification>"


def script(*steps: Step) -> Script:
    return Script(msgspec.structs.replace(TOUR, acts=[Act("go", list(steps))]), "/shop")


def asked(*words: str) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": text} for role, text in zip(["user", "assistant"] * 9, words, strict=False)
    ]


def test_steps_are_played_in_order_and_then_the_story_is_over() -> None:
    played = script(FIRST, WAITING)
    texts = [played.reply(asked("go"))[0].turn[0]["text"] for _ in range(3)]
    assert texts == ["one", "wait", "The story is over; there is nothing more to say."]


@pytest.mark.parametrize(
    ("said", "text"), [(["nothing yet"], "wait"), ([NEWS], "x"), ([NEWS, "I see", "something else"], "x")]
)
def test_waiting_is_left_out_when_the_news_is_there(said: list[str], text: str) -> None:
    step, main = script(WAITING, LAST).reply(asked("go", "", *said))
    assert (step.turn, main) == ([{"text": text}], True)


def test_places_are_filled_in() -> None:
    turn: Turn = [{"tool": "Read", "input": {"paths": ["{cwd}/a", "{output}"]}}]
    step, _ = script(Step(turn)).reply(asked("go", "", NEWS))
    assert step.turn == [{"tool": "Read", "input": {"paths": ["/shop/a", "/tmp/b1.output"]}}]


def test_sub_agent_is_known_by_its_task_and_has_replies_of_its_own() -> None:
    call: Turn = [{"tool": "Agent", "input": {"prompt": 'Look "there"'}}]
    played = script(Step(call, agent=[[{"text": "a"}], [{"text": "b"}]]), LAST)
    replies = [
        played.reply(asked("go")),
        played.reply(asked('reminder\nLook "there"')),
        played.reply(asked('Look "there"', "a", "result")),
        played.reply(asked("go", "", "report")),
    ]
    assert [(step.turn, main) for step, main in replies] == [
        (call, True),
        ([{"text": "a"}], False),
        ([{"text": "b"}], False),
        (LAST.turn, True),
    ]


def test_model_is_served_over_http_with_time_to_read() -> None:
    presented: list[Step] = []
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def play() -> Any:
        server = ScriptServer(script(FIRST), presented.append, Pace(1.0, 0.5, 0.25), sleep)
        row = {"protocol": "anthropic", "baseUrl": await server.start(), "auth": "none"}
        settings = {"providers": {"tour": row}}
        model = open_model("tour/scripted", {}, lambda key, default: settings.get(key, default))
        request = Request("scripted", [], [Message("user", [Text("go")])], [])
        deltas = [delta async for delta in model.stream(request)]
        await model.close()
        server.close()
        return deltas[-1]

    last = asyncio.run(play())
    assert isinstance(last, Finished)
    assert (presented, slept) == ([FIRST], [3.0, 0.25])
