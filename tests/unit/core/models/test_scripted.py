"""The model that needs no server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel.asking import ask, ask_for, no_setting, reply
from forge.core.message import Message, Text, Thinking, ToolResult, ToolUse
from forge.core.model import BlockDelta, ModelCard
from forge.core.models.catalog import open_model
from forge.core.models.scripted import ScriptedModel, bundled, load_scenario, parse_scenario
from forge.foundation.errors import ConfigError

TURNS: list[Any] = [
    [
        {"thinking": "hm hm"},
        {"text": "I am in {cwd}."},
        {"tool": "Bash", "input": {"command": "ls {cwd}", "n": [1]}},
    ],
    [{"text": "Done."}],
]


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps({"title": "Scene", "turns": TURNS}))
    return f"scripted/{path}"


def test_a_scenario_is_played_turn_by_turn(scenario: str) -> None:
    here = str(Path.cwd())
    first = reply(open_model(scenario, {}, no_setting))
    assert first.message.blocks == [
        Thinking("hm hm", "scripted"),
        Text(f"I am in {here}."),
        ToolUse("toolu_scripted_0_2", "Bash", {"command": f"ls {here}", "n": [1]}),
    ]
    assert first.stop_reason == "tool_use"
    history = [
        Message("user", [Text("hi")]),
        first.message,
        Message("user", [ToolResult("toolu_scripted_0_2", "r")]),
    ]
    second = reply(open_model(scenario, {}, no_setting), ask_for(*history))
    assert (second.message.blocks, second.stop_reason) == ([Text("Done.")], "end_turn")
    third = reply(open_model(scenario, {}, no_setting), ask_for(*history, second.message))
    assert "over" in third.message.text


def test_playing_costs_nothing_but_counts_tokens(scenario: str) -> None:
    model = open_model(scenario, {}, no_setting)
    finished = reply(model)
    assert finished.usage.input > 10
    assert finished.usage.output > 5
    assert model.card.cost(finished.usage) == 0.0


def test_pauses_are_kept_between_pieces() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    scene = parse_scenario(b'[[{"text": "a b", "delay_ms": 20}]]', "x.json")
    model = ScriptedModel(ModelCard("x", "scripted", "scripted"), scene, sleep)
    pieces = [d.text for d in ask(model) if isinstance(d, BlockDelta)]
    assert (pieces, slept) == (["a ", "b"], [0.02, 0.02])


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(TURNS),
        json.dumps({"turns": TURNS}),
        json.dumps({"title": "x", "steps": [{"say": "look", "turn": turn} for turn in TURNS]}),
    ],
)
def test_all_spellings_of_a_scenario_are_read(raw: str) -> None:
    assert parse_scenario(raw.encode(), "x.json").turns == TURNS


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("[[\n  {]]", "x.json:2:4: not valid JSON"),
        ('{"turns": 3}', "x.json: not a scenario: Expected `array`, got `int` - at `$.turns`"),
        ('{"title": "x"}', "x.json: not a scenario: it has no turns"),
        (
            '[[{"text": "a"}, {"txt": "b"}]]',
            "x.json: turn 1, block 2 is not a block the scripted model knows",
        ),
        (
            '[[{"tool": "Bash", "input": []}]]',
            "x.json: turn 1, block 1 is not a block the scripted model knows",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_place(raw: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_scenario(raw.encode(), "x.json")
    assert caught.value.message.startswith(message)


def test_a_missing_file_names_the_bundled_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario("nowhere.json")
    assert "nowhere.json: the scenario cannot be read" in caught.value.message
    assert all(f"scripted/{name}" in caught.value.hint for name in bundled())


@pytest.mark.parametrize("name", bundled())
def test_bundled_scenarios_can_be_played(name: str) -> None:
    model = open_model(f"scripted/{name}", {}, no_setting)
    assert reply(model).message.blocks
    asyncio.run(model.close())
