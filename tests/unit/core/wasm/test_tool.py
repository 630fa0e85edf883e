from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.core.components.wasm_tool import WasmLimits, WasmTool
from forge.core.registry import Component
from forge.core.tool import ToolError, ToolOutput
from forge.core.wasm.granting import MOST, USUAL, Grant, WasmSettings, grant_of, limits_of
from forge.core.wasm.run import Ended
from forge.core.wasm.tool import told, wasm_tool
from forge.foundation.origin import Origin, Scope
from unit.core.tools.context import RecordingContext, calling
from wasm_modules import build, opener

TOOL = WasmTool("count", "words", "words@shop", "Counts", "/x.wasm", {"type": "object"})


def call(module: str, tmp_path: Path, settings: Any = None, **given: Any) -> ToolOutput:
    tool = msgspec.structs.replace(TOOL, module=module)
    made = wasm_tool(Component(tool.full_name, tool, Origin(Scope.PLUGIN, "", "words")), lambda: settings)
    context = RecordingContext(tmp_path, {"SECRET": "s", "LANG": "C"})
    return asyncio.run(calling(made.load(), context, **given))


def test_the_result_of_a_call_is_what_the_module_prints(tmp_path: Path) -> None:
    output = call(build(tmp_path, "echo"), tmp_path, text="a b")
    assert output.content == '{"text":"a b"}'
    assert {k: v for k, v in output.data.items() if k != "fuel"} == {
        "stdout": '{"text":"a b"}',
        "stderr": "",
        "exitCode": 0,
    }


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended("exit", 2, err="no such word", out=b"half"), "Exit code 2\nno such word\nhalf"),
        (Ended("exit", 2), "Exit code 2"),
        (
            Ended("time", reason="it was stopped after 10 seconds"),
            "wasm__words__count was ended: it was stopped after 10 seconds "
            "(the limit is wasm.limits.seconds in the user's settings).",
        ),
        (
            Ended("fuel", reason="all fuel"),
            "wasm__words__count was ended: it used up its fuel "
            "(the limit is wasm.limits.fuel in the user's settings).",
        ),
        (
            Ended("output", reason="it wrote more than 256 KB", err="warning"),
            "wasm__words__count was ended: it wrote more than 256 KB "
            "(the limit is wasm.limits.outputKb in the user's settings).\nIt said: warning",
        ),
        (Ended("trap", reason="out of bounds"), "wasm__words__count crashed: out of bounds."),
        (Ended("invalid", reason="bad magic"), "wasm__words__count cannot run: bad magic"),
    ],
)
def test_every_failure_says_what_happened_and_which_limit_it_was(ended: Ended, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        told(TOOL, ended)
    assert caught.value.message == words


def test_without_the_extra_the_answer_says_how_to_install_it(tmp_path: Path) -> None:
    made = wasm_tool(Component("x", TOOL, Origin(Scope.PLUGIN)), dict, find=lambda name: None)
    with pytest.raises(ToolError) as caught:
        asyncio.run(calling(made.load(), RecordingContext(tmp_path)))
    assert caught.value.message == (
        "WebAssembly tools need the package wasmtime, which is not installed. "
        "Install it with: pip install 'forgecode[wasm]'"
    )


def test_a_module_without_output_says_so() -> None:
    assert told(TOOL, Ended("exit")).content == "(no output)"


@pytest.mark.parametrize("key", ["words/count", "words/*", "words@shop/count", "words@shop/*"])
def test_grants_name_a_tool_or_a_whole_plugin(key: str, tmp_path: Path) -> None:
    settings = {"grants": {key: {"env": ["LANG", "UNSET"]}, "other/count": {"env": ["SECRET"]}}}
    assert call(build(tmp_path, "variables"), tmp_path, settings).content == "LANG=C\0"


def test_grants_of_directories_are_absolute_or_below_home_or_project(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/a.txt").touch()
    (tmp_path / "notes/a.txt").touch()
    module = opener(tmp_path, "a.txt")
    for path in ("notes", "./notes", "~", str(tmp_path / "notes")):
        assert call(module, tmp_path, {"grants": {"words/count": {"read": [path]}}}).content == "00"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"grants": {"words/count": {"read": ["none"]}}},
            "The setting wasm.grants names none, but {root}/none is not a directory.",
        ),
        (
            {"grants": {"words/count": {"network": True}}},
            "The setting `wasm` cannot be used, so no WebAssembly tool runs: "
            "Object contains unknown field `network` - at `$.grants[...]`",
        ),
        (
            {"limits": {"seconds": "long"}},
            "The setting `wasm` cannot be used, so no WebAssembly tool runs: "
            "Expected `float | null`, got `str` - at `$.limits.seconds`",
        ),
    ],
)
def test_settings_that_cannot_be_kept_stop_the_call(
    tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolError) as caught:
        call(build(tmp_path, "quiet"), tmp_path, settings)
    assert caught.value.message == words.replace("{root}", str(tmp_path))


def test_grants_for_tool_and_plugin_add_up() -> None:
    settings = WasmSettings({"words/*": Grant(["a"], env=["X"]), "words/count": Grant(write=["b"])})
    assert grant_of(settings, TOOL) == Grant(["a"], ["b"], ["X"])


@pytest.mark.parametrize(
    ("user", "tool", "effective"),
    [
        (WasmLimits(), WasmLimits(), USUAL),
        (
            WasmLimits(),
            WasmLimits(fuel=1, memory_mb=99_999, seconds=30, output_kb=1),
            WasmLimits(1, MOST.memory_mb, 30, 1),
        ),
        (
            WasmLimits(fuel=5, seconds=2),
            WasmLimits(fuel=9, seconds=1),
            WasmLimits(5, USUAL.memory_mb, 1, USUAL.output_kb),
        ),
        (
            WasmLimits(seconds=300),
            WasmLimits(),
            WasmLimits(USUAL.fuel, USUAL.memory_mb, 300, USUAL.output_kb),
        ),
    ],
)
def test_a_tool_gets_what_it_asks_for_up_to_what_the_user_allows(
    user: WasmLimits, tool: WasmLimits, effective: WasmLimits
) -> None:
    assert limits_of(WasmSettings(limits=user), msgspec.structs.replace(TOOL, limits=tool)) == effective
