"""Tools the model knows by name only until it asks for them: finding and loading."""

from __future__ import annotations

import re
from collections.abc import Callable

from forge.core.tool import Tool

_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SELECT = "select:"


class Shelf:
    """What has been loaded in a session. `tools` lists all tools there are; the session's maker sets it."""

    def __init__(self) -> None:
        self.tools: Callable[[], list[Tool]] = lambda: []
        self.loaded: set[str] = set()
        self.looked_back = False

    def begin_anew(self) -> None:
        """Another conversation has loaded nothing."""
        self.loaded.clear()


def find(query: str, tools: list[Tool], limit: int) -> list[str]:
    """The names a query means, best first: `select:A,B` by name, otherwise deferred tools by words."""
    if query.startswith(_SELECT):
        known = {tool.name.lower(): tool.name for tool in tools}
        wanted = [name.strip().lower() for name in query.removeprefix(_SELECT).split(",")]
        return list(dict.fromkeys(known[name] for name in wanted if name in known))
    deferred = [tool for tool in tools if tool.deferred]
    exact = [tool.name for tool in deferred if tool.name.lower() == query.strip().lower()]
    if exact:
        return exact
    words = query.lower().split()
    must = [word[1:] for word in words if word.startswith("+") and len(word) > 1]
    terms = [word.removeprefix("+") for word in words if word != "+"]
    scored = [(score(tool, terms), tool.name) for tool in deferred if _has_all(tool, must)]
    ranked = sorted((points, name) for points, name in ((-s, n) for s, n in scored) if points < 0)
    return [name for _, name in ranked[: max(limit, 1)]]


def score(tool: Tool, terms: list[str]) -> int:
    """How well a tool fits: words of its name count most, parts of it less, its description least."""
    parts = [part.lower() for part in _PARTS.findall(tool.name)]
    name, prose = tool.name.lower(), tool.description.lower()
    points = 0
    for term in terms:
        if term in parts:
            points += 10
        elif term in name:
            points += 5
        elif re.search(rf"\b{re.escape(term)}", prose):
            points += 2
    return points


def _has_all(tool: Tool, must: list[str]) -> bool:
    return all(word in tool.name.lower() for word in must)
