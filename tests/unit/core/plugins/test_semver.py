from __future__ import annotations

import pytest

from forge.core.plugins.semver import best, parse_version, satisfies

RANGES = [
    ("1.2.3", "^1.2.0", True),
    ("2.0.0", "^1.2.0", False),
    ("0.2.9", "^0.2.3", True),
    ("0.3.0", "^0.2.3", False),
    ("0.0.3", "^0.0.3", True),
    ("0.0.4", "^0.0.3", False),
    ("1.2.9", "~1.2.3", True),
    ("1.3.0", "~1.2.3", False),
    ("1.9.0", "~1", True),
    ("1.5.0", "1.x", True),
    ("1.5.0", "1", True),
    ("2.0.0", "1", False),
    ("3.1.4", "*", True),
    ("3.1.4", "", True),
    ("1.5.0", ">=1.2 <2", True),
    ("2.0.0", ">=1.2 <2", False),
    ("1.3.0", ">1.2", True),
    ("1.2.9", ">1.2", False),
    ("1.2.9", "<=1.2", True),
    ("1.2.3", "1.2.3", True),
    ("1.2.3", "=1.2.3", True),
    ("1.2.4", "1.2.3", False),
    ("1.5.0", "1.2.0 - 1.9.0", True),
    ("2.5.0", "^1 || ^2", True),
    ("3.0.0", "^1 || ^2", False),
    ("1.3.0-beta.1", "^1.2.0", False),
    ("1.2.0-beta.2", "^1.2.0-beta.1", True),
    ("2.0.0-beta", "^1.0.0", False),
    ("v1.2.3", ">= 1.0.0", True),
    ("1.2.3", "not a range", True),
    ("unknown", "^1.0.0", False),
]


@pytest.mark.parametrize(("version", "wanted", "fits"), RANGES)
def test_ranges_mean_what_npm_means(version: str, wanted: str, fits: bool) -> None:
    assert satisfies(version, wanted) is fits


def test_versions_are_ordered_by_number_and_releases_come_last() -> None:
    texts = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.9.0", "1.10.0"]
    assert sorted(texts, key=lambda text: parse_version(text) or (0, 0, 0, ())) == texts
    assert best(["1.9.0", "1.10.0", "2.0.0", "junk"], "^1") == "1.10.0"
    assert best(["1.9.0"], "^2") == ""
