from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from golden import Tokens, differences, recorded
from sdk_traffic import TURNS, Replay

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "stream-json"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

INTERRUPTED = "the text for the model is our own"
OWN_LISTS = "Forge has its own commands, models and styles"
# Where Forge differs on purpose: a pattern of the difference, and the reason.
KNOWN = {
    r"\.response\.response\.(remote_control_\w+|feedback_mode|ide_rc_auto_enable_gate): missing": (
        "services of the reference's vendor"
    ),
    r"\.response\.response\.(hook_on_failure_supported|other_hook_ask_outranks_host)": "comes with hooks",
    r"\.response\.response\.(commands|models|available_output_styles|agents)": OWN_LISTS,
    r"\.response\.response\.pid: wanted '<num>'": "a number of this process",
    r"\.per_turn_effort_active": "Forge has no effort per turn",
    r"\.costUSD: wanted 0\.00014000000000000001, got 0\.00014": "rounded",
    r"\.response\.response\.(categories|totalTokens|gridRows|slashCommands|messageBreakdown|skills)": (
        "figures of our own prompt and tools"
    ),
    r"\.message\.content\[0\]\.content: wanted \"The user doesn't want": INTERRUPTED,
    r"\.tool_use_result: wanted 'User rejected tool use', got 'Error: nope'": (
        "a refusal that ends the turn keeps the host's words"
    ),
    r"\.tool_result_meta\[0\]\.(permission_decision: not in|non_execution_kind: wanted 'user-rejected')": (
        "a refusal that ends the turn is told as the refusal it is"
    ),
    r"\.response\.response\.(filesChanged|insertions|deletions): not in the recording": (
        "going back says what it did"
    ),
}


def kind(record: dict[str, Any]) -> tuple[Any, ...]:
    return (
        record["type"],
        record.get("subtype"),
        record.get("state"),
        record.get("response", {}).get("subtype"),
    )


@pytest.mark.parametrize("name", TURNS)
def test_recorded_traffic_of_an_agent_sdk_is_repeated(name: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]
    replay = Replay(rows, name, tmp_path)
    replay.run()
    tokens = Tokens(str(replay.cwd), str(replay.home))
    got = [tokens.of(record) for record in replay.got]
    want = [recorded(row["msg"]) for row in replay.rows if row["dir"] == "out"]
    assert [kind(r) for r in got] == [kind(r) for r in want]
    found = [d for w, g in zip(want, got, strict=True) for d in differences(w, g)]
    assert [d for d in found if not any(re.search(pattern, d) for pattern in KNOWN)] == []
    assert replay.code == rows[-1]["code"]
