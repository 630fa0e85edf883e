from __future__ import annotations

import pytest

from forge.core.shell.analysis.record import RANK
from unit.core.shell.analysis.judged import corpus, judged
from unit.core.shell.analysis.metamorphic import MENTIONED, SAME

# Every command is written in every way by benchmarks/shell_fuzz.py; here each way gets every seventh.
DANGEROUS = [command for expect, _, command in corpus() if expect in ("dangerous", "forbidden")]
ALL = [command for _, _, command in corpus() if command.isascii()]
STEP = 7


def rank(command: str) -> int:
    return RANK.get(judged(command).category, RANK["caution"])


@pytest.mark.parametrize("way", SAME)
def test_another_way_to_write_a_command_does_not_make_it_look_safer(way: str) -> None:
    offset = list(SAME).index(way) % STEP
    assert [c for c in DANGEROUS[offset::STEP] if rank(SAME[way](c)) < rank(c)] == []


@pytest.mark.parametrize("way", MENTIONED)
def test_text_that_only_mentions_a_command_is_data(way: str) -> None:
    offset = list(MENTIONED).index(way) % STEP
    assert [c for c in ALL[offset::STEP] if rank(MENTIONED[way](c)) > RANK["safe_write"]] == []
