from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.core.components.catalog import Catalog
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.mcp.policy import permitted
from forge.hosts.mcp.servers import configured_servers
from forge.hosts.options import RunOptions

PROGRAM = {"command": "x", "args": ["a"]}
REMOTE = {"type": "http", "url": "https://mcp.example.com/v1"}
NAMED, RUN = {"serverName": "srv"}, {"serverCommand": ["x", "a"]}


def configure(home: Path, settings: dict[str, Any]) -> Configuration:
    o = RunOptions(managed_settings=json.dumps(settings))
    return load_configuration(o, {"HOME": str(home), "PATH": "/bin"}, str(home))


@pytest.mark.parametrize(
    ("settings", "config", "expected"),
    [
        ({}, PROGRAM, True),
        ({"deniedMcpServers": [NAMED]}, PROGRAM, False),
        ({"deniedMcpServers": [RUN]}, PROGRAM, False),
        ({"deniedMcpServers": [{"serverCommand": ["x"]}]}, PROGRAM, True),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}, REMOTE, False),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}, PROGRAM, True),
        ({"deniedMcpServers": [NAMED], "allowedMcpServers": [NAMED]}, PROGRAM, False),
        ({"allowedMcpServers": []}, PROGRAM, False),
        ({"allowedMcpServers": [NAMED]}, PROGRAM, True),
        ({"allowedMcpServers": [{"serverName": "other"}]}, PROGRAM, False),
        ({"allowedMcpServers": [NAMED, {"serverCommand": ["y"]}]}, PROGRAM, False),
        ({"allowedMcpServers": [RUN]}, PROGRAM, True),
        ({"allowedMcpServers": [NAMED, {"serverCommand": ["y"]}]}, REMOTE, True),
        ({"allowedMcpServers": [NAMED, {"serverUrl": "https://other/*"}]}, REMOTE, False),
    ],
)
def test_lists_of_the_owner_decide(
    settings: dict[str, Any], config: dict[str, Any], expected: bool, home: Path
) -> None:
    assert permitted("srv", config, configure(home, settings)) is expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [('{"mcpServers": {"own": {"command": "y"}}}', [("own", "enterprise")]), ("{broken", [])],
)
def test_a_file_of_the_owner_stands_for_all_others(
    content: str, expected: list[tuple[str, str]], home: Path, tmp_path: Path
) -> None:
    (tmp_path / "managed-mcp.json").write_text(content)
    c = configure(home, {})
    c = msgspec.structs.replace(c, places=msgspec.structs.replace(c.places, managed_dirs=[str(tmp_path)]))
    o = RunOptions(mcp_config=[json.dumps({"mcpServers": {"srv": PROGRAM}})])
    assert [(e.name, e.source) for e in configured_servers(o, c, Catalog())] == expected
