from __future__ import annotations

from typing import Any

import pytest

from forge.core.components.kinds import PluginRoot
from forge.core.plugins.variables import expand, plugin_environment

PLUGIN = PluginRoot("p@m", "p", "/plug", "/data", {"city": "Rome", "on": True, "many": ["a", "b"]})


def test_processes_find_both_families_of_variables() -> None:
    expected = {
        "PLUGIN_ROOT": "/plug",
        "PLUGIN_DATA": "/data",
        "PROJECT_DIR": "/project",
        "PLUGIN_OPTION_CITY": "Rome",
        "PLUGIN_OPTION_ON": "true",
        "PLUGIN_OPTION_MANY": "a,b",
    }
    found = plugin_environment(PLUGIN, "/project")
    assert found == {f"{family}_{key}": v for key, v in expected.items() for family in ("CLAUDE", "FORGE")}


@pytest.mark.parametrize(
    ("value", "env", "expected"),
    [
        ("${CLAUDE_PLUGIN_ROOT}/x", None, "/plug/x"),
        (["${FORGE_PLUGIN_DATA}", {"k": "${CLAUDE_PROJECT_DIR}"}], None, ["/data", {"k": "/project"}]),
        ("${user_config.city} ${user_config.none}", None, "Rome ${user_config.none}"),
        ("${HOME} ${NONE} ${NONE:-d}", {"HOME": "/h"}, "/h ${NONE} d"),
        ("${HOME} ${NONE:-d}", None, "${HOME} ${NONE:-d}"),
        (5, None, 5),
    ],
)
def test_variables_are_replaced_and_unknown_ones_stay(value: Any, env: Any, expected: Any) -> None:
    assert expand(value, PLUGIN, "/project", env) == expected
