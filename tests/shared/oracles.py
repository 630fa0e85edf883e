"""The tools that made the recordings, and the program they try."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from warm import warm_forge

TOOLS = Path(__file__).resolve().parents[3] / "shared" / "tools"


def load(name: str) -> Any:
    """A tool as a module; its directory stays as it is, without byte code."""
    module = ModuleType(name)
    module.__file__ = str(TOOLS / f"{name}.py")
    exec(compile(Path(module.__file__).read_text("utf-8"), module.__file__, "exec"), module.__dict__)
    return module


def command_line() -> str:
    """How the hook oracle is told to start Forge."""
    return f"{warm_forge()} -p {{prompt}} --output-format stream-json --verbose {{args}}"


def run_line(tool: str) -> list[str]:
    """The words before the arguments of a tool that runs in a process of its own."""
    return [sys.executable, "-B", str(TOOLS / f"{tool}.py")]
