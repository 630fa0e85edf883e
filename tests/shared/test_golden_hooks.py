from __future__ import annotations

import json
import subprocess
import sys
from difflib import ndiff
from pathlib import Path
from typing import Any

import pytest

from shared.hook_payloads import DIFFERENT, NOT_COMPARED, RUNS, TAKEN
from shared.oracles import TOOLS, command_line

GOLDEN = TOOLS.parent / "golden" / "hooks"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

# Their content is the user's, the model's or the machine's, so only what kind of value it is counts.
FREE = ("tool_input", "requested_schema")


def shape(value: Any, at: str = "") -> list[str]:
    """The path and the kind of every value, in their order."""
    if isinstance(value, dict) and at not in FREE:
        return [row for key, held in value.items() for row in shape(held, f"{at}.{key}" if at else key)]
    if isinstance(value, list) and value:
        return shape(value[0], f"{at}[]")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return [f"{at}: {'number' if number else type(value).__name__}"]


def fired(name: str, tmp_path: Path) -> list[dict[str, Any]]:
    """All payloads that the hooks of a run have read."""
    (tmp_path / "case.json").write_text(json.dumps(next(case for case in RUNS if case["name"] == name)))
    play = (
        f"import json, sys; sys.path.insert(0, {str(TOOLS)!r}); sys.dont_write_bytecode = True\n"
        f"import hook_oracle\ncase = json.load(open({str(tmp_path / 'case.json')!r}))\n"
        f"cli = {command_line()!r}\n"
        "print(json.dumps([row['stdin'] for row in hook_oracle.run_case(case, cli)['_raw']['log']]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", play], capture_output=True, text=True, timeout=60, check=True
    )
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(
    "name", [case["name"] for case in RUNS if case["name"] in {t[0] for t in TAKEN.values()}]
)
def test_hooks_read_what_was_recorded(name: str, tmp_path: Path) -> None:
    payloads = fired(name, tmp_path)
    problems = []
    for golden in sorted(golden for golden, (run, _) in TAKEN.items() if run == name):
        chosen = TAKEN[golden][1] | {"hook_event_name": golden.partition(".")[0]}
        fitting = [p for p in payloads if all(p.get(key) == value for key, value in chosen.items())]
        recorded = json.loads((GOLDEN / f"{golden}.json").read_text())
        but = DIFFERENT.get(golden, {})
        both = (shape(payload) for payload in (recorded, fitting[0] if fitting else {}))
        want, got = ([row for row in rows if row.partition(":")[0] not in but] for rows in both)
        problems += [f"{golden}: {row}" for row in ndiff(want, got) if row[0] in "+-"]
    assert problems == []


def test_every_recorded_payload_is_compared_or_says_why_not() -> None:
    recorded = {file.stem for file in GOLDEN.glob("*.json")} - {"cases"}
    assert recorded == TAKEN.keys() | NOT_COMPARED.keys()
