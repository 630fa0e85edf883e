from __future__ import annotations

import pytest

from forge.core.mcp.names import full_name, shown


@pytest.mark.parametrize(
    ("server", "tool", "expected"),
    [
        ("srv", "echo", "mcp__srv__echo"),
        ("bad name!", "echo", "mcp__bad_name___echo"),
        ("exp", "wri.te-thing", "mcp__exp__wri_te-thing"),
        ("plugin:p:s", "t", "mcp__plugin_p_s__t"),
        ("ü", "t", "mcp_____t"),
    ],
)
def test_names_have_only_characters_a_model_may_use(server: str, tool: str, expected: str) -> None:
    assert full_name(server, tool) == expected


@pytest.mark.parametrize(("tool", "expected"), [("read_file", "Read File"), ("add", "Add"), ("a-b", "A B")])
def test_tools_have_names_for_people(tool: str, expected: str) -> None:
    assert shown(tool) == expected
