from __future__ import annotations

import pytest

from forge.core.plugins.dependencies import Needing, unmet
from forge.core.plugins.manifest import Dependency

BASE = Needing("base@m", "base", "1.2.0", installed=True)


def needs(name: str, *dependencies: Dependency, source: str = "m") -> Needing:
    return Needing(f"{name}@{source}", name, None, list(dependencies), installed=source == "m")


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (needs("a", Dependency("base")), []),
        (needs("a", Dependency("base", "m", "^1.0.0")), []),
        (needs("a", Dependency("base", version="garbage")), []),
        (needs("a", Dependency("a")), []),
        (needs("a", Dependency("base"), source="inline"), []),
        (
            needs("a", Dependency("base", "m", "^2.0.0")),
            [("dependency-version-unsatisfied", 'Requires "base@m" ^2.0.0, installed 1.2.0')],
        ),
        (
            needs("a", Dependency("ghost")),
            [
                (
                    "dependency-unsatisfied",
                    'Dependency "ghost@m" is not installed — run `forge plugin install ghost@m`,'
                    " or check that its marketplace is added",
                )
            ],
        ),
        (
            needs("a", Dependency("off"), source="inline"),
            [("dependency-unsatisfied", 'Dependency "off" is disabled — run `forge plugin enable off`')],
        ),
    ],
)
def test_dependencies_are_looked_for_where_they_belong(
    plugin: Needing, expected: list[tuple[str, str]]
) -> None:
    found = unmet([BASE, plugin], [Needing("off@m", "off")])
    assert [(error.type, error.message) for error in found] == expected


def test_a_missing_dependency_takes_along_all_that_need_it() -> None:
    plugins = [
        needs("c", Dependency("b")),
        needs("b", Dependency("a")),
        needs("a", Dependency("ghost")),
        BASE,
    ]
    assert [error.plugin for error in unmet(plugins)] == ["a@m", "b@m", "c@m"]


def test_an_inline_plugin_stands_in_for_an_installed_one() -> None:
    assert unmet([needs("a", Dependency("base", "m")), Needing("base@inline", "base")]) == []
