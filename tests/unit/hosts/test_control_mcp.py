from __future__ import annotations

import pytest

from forge.hosts.control_mcp import configured


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ([], []),
        (['{"mcpServers": {"a": {"type": "sdk"}}}', '{"mcpServers": {"b": {}}}'], ["a", "b"]),
        (["servers.json", "{broken", '{"mcpServers": null}', '{"mcpServers": {"a": 1}}'], []),
    ],
    ids=["none", "two", "files and nonsense"],
)
def test_servers_are_found_in_json_values(texts: list[str], names: list[str]) -> None:
    assert list(configured(texts)) == names
