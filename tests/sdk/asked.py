"""What the model must have been asked in the scenarios: prompts, history, images, thinking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Bodies = list[Any]
HELPER, MAIN = ("claude-haiku-5-5", True), ("claude-sonnet-4-5", False)


def _system(body: Any) -> str:
    return "\n".join(block["text"] for block in body["system"])


def _roles(body: Any) -> list[str]:
    return [message["role"] for message in body["messages"]]


CHECKS: dict[str, Callable[[Bodies], bool]] = {
    "prompt_text": lambda b: "You are a pirate." in _system(b[0]) and len(_system(b[0])) < 300,
    "prompt_preset": lambda b: _system(b[0]).endswith("Be brief as a pirate.") and len(_system(b[0])) > 1000,
    "prompt_file": lambda b: "You are a filed pirate." in _system(b[0]),
    "thinking": lambda b: b[0]["thinking"]["budget_tokens"] == 2000,
    "image": lambda b: [x["type"] for x in b[0]["messages"][0]["content"][-2:]] == ["text", "image"],
    "past": lambda b: _roles(b[2]) == ["user", "assistant", "user", "assistant", "user"],
    "agents": lambda b: (
        [(x["model"], "Run the tests." in _system(x)) for x in b] == [MAIN, HELPER, HELPER, MAIN]
    ),
    "hooks": lambda b: len(b) == 4 and "be careful" in str(b[0]["messages"]),
    "inner_mcp": lambda b: len(b) == 3 and "mcp__calc__add" in str(b[0]["messages"]),
}


def wrongly_asked(bodies: dict[str, Bodies]) -> list[str]:
    """The scenarios whose requests do not show what the program's options mean."""
    return [name for name, check in CHECKS.items() if name in bodies and not check(bodies[name])]
