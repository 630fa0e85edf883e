from __future__ import annotations

from pathlib import Path

import pytest

from forge.foundation.inside import is_inside, is_really_inside


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("/w", "/w", True),
        ("/w/a", "/w", True),
        ("/wide", "/w", False),
        ("/a", "/", True),
        ("/w", "/w/a", False),
    ],
)
def test_a_path_is_inside_what_it_begins_with_as_directories(path: str, root: str, inside: bool) -> None:
    assert is_inside(path, root) is inside


@pytest.mark.requirement("S2-39")
def test_a_directory_is_inside_only_if_links_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "w" / "a").mkdir(parents=True)
    (tmp_path / "wide").mkdir()
    (tmp_path / "w" / "out").symlink_to(tmp_path / "wide")
    names = ("w", "w/a", "wide", "w/out")
    inside = [is_really_inside(str(tmp_path / name), "/nowhere", str(tmp_path / "w")) for name in names]
    assert inside == [True, True, False, False]
