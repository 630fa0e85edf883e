from __future__ import annotations

from pathlib import Path
from typing import Any

from forge.foundation.history.spending import Amount, Spent, read_spending
from forge.foundation.history.transcript import Transcript


def write(path: Path, *records: dict[str, Any]) -> str:
    transcript = Transcript(str(path))
    for record in records:
        transcript.append(record)
    transcript.close()
    return str(path)


def entry(uuid: str, day: str) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "timestamp": f"{day}T10:00:00.000Z"}


def state(**models: float) -> dict[str, Any]:
    usage = {name: {"inputTokens": int(cost * 10), "costUSD": cost} for name, cost in models.items()}
    return {"type": "cost-state", "totalCostUSD": sum(models.values()), "modelUsage": usage}


def spent(session: str, model: str, day: str, cost: float) -> Spent:
    return Spent(session, model, day, Amount(input=int(cost * 10), cost=cost))


def test_totals_become_what_each_day_cost(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        entry("a", "2026-01-01"),
        state(big=1.0),
        state(big=1.5),
        entry("b", "2026-01-02"),
        state(big=2.0, small=0.5),
    )
    assert read_spending([path]) == [
        spent("s", "big", "2026-01-01", 1.5),
        spent("s", "big", "2026-01-02", 0.5),
        spent("s", "small", "2026-01-02", 0.5),
    ]


def test_what_a_fork_inherited_is_counted_once(tmp_path: Path) -> None:
    a, b, c = (entry(uuid, "2026-01-01") for uuid in "abc")
    one = write(tmp_path / "one.jsonl", a, state(m=1.0), b, state(m=2.0), c, state(m=4.0))
    two = write(tmp_path / "two.jsonl", a, b, entry("d", "2026-01-02"), state(m=2.5))
    three = write(tmp_path / "three.jsonl", a, b, entry("e", "2026-01-02"), state(m=2.5), state(m=3.0))
    expected = [
        spent("one", "m", "2026-01-01", 4.0),
        spent("two", "m", "2026-01-02", 0.5),
        spent("three", "m", "2026-01-02", 1.0),
    ]
    assert read_spending([one, two, three]) == expected
    assert read_spending([three, two, one]) == expected[::-1]


def test_a_copied_file_counts_once(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{n}.jsonl", entry("a", "2026-01-01"), state(m=1.0)) for n in range(3)]
    assert read_spending(paths) == [spent("0", "m", "2026-01-01", 1.0)]


def test_damaged_records_cost_nothing(tmp_path: Path) -> None:
    broken = {"type": "cost-state", "modelUsage": {"m": {"costUSD": "much", "inputTokens": True}, "n": 7}}
    path = write(
        tmp_path / "s.jsonl", entry("a", "2026-01-01"), broken, {"type": "cost-state", "modelUsage": 7}
    )
    assert read_spending([path, str(tmp_path / "missing.jsonl")]) == []
