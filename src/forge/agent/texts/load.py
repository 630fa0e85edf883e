"""Texts for the model live in .md files beside this module; this reads them once."""

from __future__ import annotations

import os
from functools import cache

_HERE = os.path.dirname(__file__)


@cache
def text(name: str) -> str:
    """The text of that name, without its final newline."""
    with open(os.path.join(_HERE, f"{name}.md"), encoding="utf-8") as file:
        return file.read().rstrip("\n")


def table(name: str) -> bytes:
    """The JSON file of that name."""
    with open(os.path.join(_HERE, f"{name}.json"), "rb") as file:
        return file.read()
