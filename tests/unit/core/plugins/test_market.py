from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forge.core.plugins.context import PluginFailure
from forge.core.plugins.market import check_catalogue
from forge.core.plugins.source import read_argument

KEYS = st.sampled_from(
    [
        "name",
        "owner",
        "plugins",
        "source",
        "metadata",
        "pluginRoot",
        "renames",
        "hooks",
        "version",
        "author",
        "dependencies",
        "strict",
        "url",
        "repo",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["./x", "github", "npm", "Stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(content=VALUES)
def test_no_catalogue_makes_the_reader_fail_otherwise_than_with_a_reason(content: Any) -> None:
    try:
        found = check_catalogue(content, "file", "root")
    except PluginFailure:
        return
    assert found.name


@given(entry=VALUES, renames=VALUES, wanted=st.text(max_size=3))
def test_odd_entries_are_kept_or_dropped_and_never_fatal(entry: Any, renames: Any, wanted: str) -> None:
    head = {"name": "shop", "owner": {"name": "o"}, "plugins": [entry, {"name": "x", "source": entry}]}
    market = check_catalogue({**head, "renames": renames}, "file", "root")
    market.find(wanted)
    assert [e.name for e in market.entries if e.name == "x"][-1:] == ["x"]


@given(argument=st.text(max_size=20))
def test_any_argument_is_a_source_or_a_refusal(argument: str) -> None:
    try:
        source = read_argument(argument, "/nonexistent", "/nonexistent")
    except PluginFailure:
        return
    assert source["source"] in ("github", "git", "url", "directory", "file")
