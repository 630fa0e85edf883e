from __future__ import annotations

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel
from forge.agent.plugins.tools import add_plugin_tools, renew_tools
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.team.crew import Seat
from forge.core.components.catalog import Contribution
from forge.core.components.kinds import LspServer
from forge.core.components.wasm_tool import WasmTool
from forge.core.registry import Component
from forge.foundation.origin import Origin, Scope
from unit.agent.casting import build

ORIGIN = Origin(Scope.PLUGIN, "", "words")
COUNT = WasmTool("count", "words", "words@shop", "Counts", "/x.wasm", {"type": "object"})
LANGUAGES = Contribution(languages=[Component("ty", LspServer("ty", {".py": "python"}), ORIGIN)])
TOOLS = Contribution(wasm=[Component(COUNT.full_name, COUNT, ORIGIN)])
OURS = {"LSP", "wasm__words__count"}


def make(*contributions: Contribution, allowed: frozenset[str] | None = None) -> Session:
    s = build(ScriptedModel([]), RecordingHost())
    s.parts = msgspec.structs.replace(s.parts, allowed=allowed)
    for each in contributions:
        s.parts.catalog.add(each)
    return s


def ours(s: Session) -> list[str]:
    return [tool.name for tool in s.tools() if tool.name in OURS]


@pytest.mark.parametrize(
    ("allowed", "offered", "names"),
    [
        (None, True, ["LSP", "wasm__words__count"]),
        (frozenset({"Echo"}), True, ["LSP", "wasm__words__count"]),
        (frozenset({"Echo"}), False, []),
        (frozenset({"LSP"}), False, ["LSP"]),
    ],
)
def test_a_run_that_names_its_tools_gets_no_others(
    allowed: frozenset[str] | None, offered: bool, names: list[str]
) -> None:
    s = make(LANGUAGES, TOOLS, allowed=allowed)
    add_plugin_tools(s, None, offered=offered)
    assert ours(s) == names


def test_tools_come_and_go_with_their_plugins_while_the_session_runs() -> None:
    s = make(allowed=frozenset({"Echo"}))
    add_plugin_tools(s, None, offered=True)
    seen = [ours(s)]
    remove = s.parts.catalog.add(TOOLS)
    s.keep(Ecosystem).version += 1
    renew_tools(s)
    seen.append(ours(s))
    remove()
    renew_tools(s)
    seen.append(ours(s))
    s.keep(Ecosystem).version += 1
    renew_tools(s)
    seen.append(ours(s))
    assert seen == [[], ["wasm__words__count"], ["wasm__words__count"], []]


def test_a_sub_agent_keeps_the_tools_it_started_with() -> None:
    s = make(TOOLS, allowed=frozenset({"Echo"}))
    s.share(Seat(1, "a1", None))
    s.keep(Ecosystem).version += 1
    renew_tools(s)
    assert ours(s) == []
