from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.foundation.watch import ADD, CHANGE, CONFIG, FILES, UNLINK, Change, Timing, Watch

P = "/s.json"
Seen = tuple[float, str]


def told(timing: Timing, seen: list[Seen], *, until: float = 60.0, path: str = P) -> list[tuple[float, str]]:
    """When which event is told, if whoever waits wakes up exactly when something is due."""
    watch, rest = Watch(timing), list(seen)
    found: list[tuple[float, str]] = []
    while True:
        due = watch.next_at()
        if rest and (due is None or rest[0][0] <= due):
            at, event = rest.pop(0)
            watch.seen(path, event, at)
        elif due is None or due > until:
            return found
        else:
            found += [(round(due, 3), change.event) for change in watch.due(due)]


def times(count: int, within: float) -> list[Seen]:
    return [(n * within / count, CHANGE) for n in range(count)]


@pytest.mark.requirement("S1-64", "S1-66", "S1-67", "S1-103", "S1-148")
@pytest.mark.parametrize(
    ("timing", "seen", "expected"),
    [
        pytest.param(CONFIG, [(0.0, CHANGE)], [(1.0, CHANGE)], id="one write is told after the debounce"),
        pytest.param(CONFIG, times(10, 0.5), [(1.45, CHANGE)], id="ten writes in half a second are one"),
        pytest.param(CONFIG, [(0.0, UNLINK)], [(1.7, UNLINK)], id="a removal is told after the grace"),
        pytest.param(
            CONFIG, [(0.0, UNLINK), (0.2, ADD)], [(1.2, CHANGE)], id="removed and written is one change"
        ),
        pytest.param(CONFIG, [(0.0, UNLINK), (1.6, ADD)], [(2.6, CHANGE)], id="also at the end of the grace"),
        pytest.param(
            CONFIG, [(0.0, UNLINK), (1.8, ADD)], [(1.7, UNLINK), (3.2, ADD)], id="too late is two events"
        ),
        pytest.param(
            CONFIG, [(0.0, CHANGE), (1.1, CHANGE)], [(1.0, CHANGE), (2.5, CHANGE)], id="the cool-down delays"
        ),
        pytest.param(CONFIG, [(0.0, ADD), (0.3, UNLINK)], [], id="what came and went was never there"),
        pytest.param(CONFIG, [(0.0, ADD), (0.3, CHANGE)], [(1.3, ADD)], id="a new file is added once"),
        pytest.param(
            CONFIG, [(n * 0.9, CHANGE) for n in range(7)], [(5.0, CHANGE), (6.5, CHANGE)], id="endless writes"
        ),
        pytest.param(FILES, [(0.0, CHANGE)], [(0.1, CHANGE)], id="a file is told at once"),
        pytest.param(FILES, [(0.0, CHANGE), (0.01, CHANGE)], [(0.11, CHANGE)], id="truncated and written"),
        pytest.param(FILES, times(100, 1.0), [(0.3, CHANGE), (1.8, CHANGE)], id="a burst: edge and rest"),
        pytest.param(FILES, [(0.0, UNLINK), (0.05, ADD)], [(0.15, CHANGE)], id="an atomic save"),
        pytest.param(FILES, [(0.0, UNLINK)], [(1.7, UNLINK)], id="a removed file"),
    ],
)
def test_changes_are_told_at_the_right_moment(
    timing: Timing, seen: list[Seen], expected: list[tuple[float, str]]
) -> None:
    assert told(timing, seen) == expected


@pytest.mark.requirement("S1-147")
def test_the_timing_is_that_of_the_documents() -> None:
    assert Timing(settle=1.0, longest=5.0, grace=1.7, cooldown=1.5, own=5.0) == CONFIG
    assert (FILES.longest <= 0.5, FILES.grace, FILES.cooldown) == (True, 1.7, 1.5)


@pytest.mark.requirement("S1-65")
@pytest.mark.parametrize(("at", "expected"), [(0.0, []), (4.9, []), (5.0, []), (5.1, [Change(P, CHANGE)])])
def test_own_writes_are_untold_for_five_seconds(at: float, expected: list[Change]) -> None:
    watch = Watch(CONFIG)
    watch.seen(P, CHANGE, -0.1)
    watch.own_write(P, 0.0)
    watch.seen(P, CHANGE, at)
    assert watch.due(at + 1.0) == expected


def test_paths_do_not_disturb_each_other_and_keep_their_order() -> None:
    watch = Watch(FILES)
    for n in range(200):
        watch.seen(f"/f{n:03}", CHANGE, n / 1000)
    watch.own_write("/f007", 0.0)
    watch.forget("/f008")
    expected = [Change(f"/f{n:03}", CHANGE) for n in range(200) if n not in (7, 8)]
    assert (watch.due(1.0), watch.due(9.0), watch.next_at()) == (expected, [], None)


events = st.lists(
    st.tuples(st.floats(0, 8, allow_nan=False), st.sampled_from(["write", "remove"])), max_size=40
)


def history(steps: list[tuple[float, str]], *, exists: bool) -> tuple[list[Seen], bool]:
    """Events as a file system would tell them."""
    seen: list[Seen] = []
    for at, what in sorted(steps):
        if what == "write":
            seen.append((at, CHANGE if exists else ADD))
            exists = True
        elif exists:
            seen.append((at, UNLINK))
            exists = False
    return seen, exists


@given(steps=events, exists=st.booleans(), timing=st.sampled_from([CONFIG, FILES]))
def test_what_is_told_adds_up_to_what_is_there(
    steps: list[tuple[float, str]], exists: bool, timing: Timing
) -> None:
    seen, there = history(steps, exists=exists)
    found = told(timing, seen)
    known = exists
    for _, event in found:
        assert known is (event != ADD)
        known = event != UNLINK
    assert known is there
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(found)]
    assert all(gap >= timing.cooldown - 0.002 for gap in gaps)


@given(steps=events, timing=st.sampled_from([CONFIG, FILES]))
def test_the_last_write_is_always_followed_by_news(steps: list[tuple[float, str]], timing: Timing) -> None:
    seen, there = history(steps, exists=True)
    found = told(timing, seen)
    if seen and there:
        last, latest = seen[-1][0], timing.longest + timing.cooldown
        assert found and round(last, 3) <= found[-1][0] <= last + latest + 0.002
