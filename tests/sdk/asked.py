"""What the model must have been asked in the scenarios: prompts, history, images, thinking."""

from __future__ import annotations

from typing import Any


def check_requests(bodies: dict[str, list[Any]]) -> None:
    """Compares the requests of one program with what its options mean."""
    assert "You are a pirate." in _system(bodies["prompt_text"])
    assert len(_system(bodies["prompt_text"])) < 300
    assert _system(bodies["prompt_preset"]).endswith("Be brief as a pirate.")
    assert len(_system(bodies["prompt_preset"])) > 1000
    assert "You are a filed pirate." in _system(bodies["prompt_file"])
    assert bodies["thinking"][0]["thinking"]["budget_tokens"] == 2000
    blocks = bodies["image"][0]["messages"][0]["content"]
    assert [b["type"] for b in blocks[-2:]] == ["text", "image"]
    history = bodies["past"][2]["messages"]
    assert [m["role"] for m in history] == ["user", "assistant", "user", "assistant", "user"]
    asked = [(b["model"], "Run the tests." in _system([b])) for b in bodies["agents"]]
    helper, main = ("claude-haiku-5-5", True), ("claude-sonnet-4-5", False)
    assert asked == [main, helper, helper, main]
    assert bodies["hooks"] == bodies["inner_mcp"] == []


def _system(bodies: list[Any]) -> str:
    return "\n".join(block["text"] for block in bodies[0]["system"])
