from __future__ import annotations

from pathlib import Path

import marathon
from marathon_plan import Size


def test_a_long_session_answers_every_call_once_leaves_nothing_and_knows_its_cost(tmp_path: Path) -> None:
    size = Size(turns=60, compactions=2, agents=6, at_once=3, jobs=6)
    outcome = marathon.run(tmp_path, size)
    assert outcome.faults == []
    done = (outcome.compactions, outcome.agents, outcome.at_once, outcome.jobs)
    assert done == (2, 6, 3, 7)
    assert outcome.samples[-1].memory < outcome.samples[0].memory + 10
