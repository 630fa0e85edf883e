from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import ServerEntry
from forge.core.registry import Component
from forge.foundation.errors import UsageError
from forge.foundation.origin import Origin, Scope
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.mcp.servers import configured_servers, named_servers
from forge.hosts.options import RunOptions

ENTRY = {"command": "x"}
UNDEFINED = "mcpServers: Invalid input: expected record, received undefined"


def configure(home: Path, project: Path, o: RunOptions) -> Configuration:
    return load_configuration(o, {"HOME": str(home), "PATH": "/bin"}, str(project))


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("none.json", "MCP config file not found: {project}/none.json"),
        ("{broken", "MCP config file not found: {project}/{broken"),
        ("broken.json", "MCP config is not a valid JSON"),
        ("empty.json", UNDEFINED),
        ('{"x": 1}', UNDEFINED),
        ('{"mcpServers": []}', "mcpServers: Invalid input: expected record, received array"),
        ('{"mcpServers": null}', "mcpServers: Invalid input: expected record, received null"),
        ('{"mcpServers": "a"}', "mcpServers: Invalid input: expected record, received string"),
    ],
)
def test_a_wrong_configuration_ends_the_run(value: str, expected: str, home: Path, tmp_path: Path) -> None:
    put(tmp_path / "broken.json", "{broken")
    put(tmp_path / "empty.json", {})
    c = configure(home, tmp_path, RunOptions())
    with pytest.raises(UsageError) as caught:
        named_servers([value], c)
    words = expected.replace("{project}", str(tmp_path))
    assert str(caught.value) == f"Error: Invalid MCP configuration:\n{words}"


def test_everything_that_is_wrong_is_told_at_once(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        named_servers(["{}", "none"], configure(home, tmp_path, RunOptions()))
    lines = ["Error: Invalid MCP configuration:", UNDEFINED, f"MCP config file not found: {tmp_path}/none"]
    assert str(caught.value).splitlines() == lines


def test_files_and_json_can_be_mixed(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "m.json", {"mcpServers": {"a": ENTRY, "b": ENTRY}})
    found = named_servers(
        ["m.json", '{"mcpServers": {"b": {"command": "y"}}}'], configure(home, tmp_path, RunOptions())
    )
    assert found == {"a": ENTRY, "b": {"command": "y"}}


EVERYWHERE = {
    "plugin:p:s": "plugin",
    "u": "user",
    "p": "project",
    "l": "local",
    "d": "dynamic",
    "same": "dynamic",
}


@pytest.mark.parametrize(
    ("o", "settings", "expected"),
    [
        (RunOptions(), {}, EVERYWHERE),
        (RunOptions(strict_mcp_config=True), {}, {"d": "dynamic", "same": "dynamic"}),
        (RunOptions(bare=True), {}, {"d": "dynamic", "same": "dynamic"}),
        (
            RunOptions(setting_sources="user"),
            {},
            {"plugin:p:s": "plugin", "u": "user", "same": "dynamic", "d": "dynamic"},
        ),
        (
            RunOptions(),
            {"disabledMcpjsonServers": ["p"]},
            {name: source for name, source in EVERYWHERE.items() if name != "p"},
        ),
    ],
)
def test_which_servers_a_run_has(
    o: RunOptions, settings: dict[str, Any], expected: dict[str, str], home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    named = json.dumps({"mcpServers": {"d": ENTRY, "same": ENTRY}})
    put(project / ".mcp.json", {"mcpServers": {"p": ENTRY, "same": ENTRY}})
    own = {str(project): {"mcpServers": {"l": ENTRY, "same": ENTRY}}}
    put(home / ".claude.json", {"mcpServers": {"u": ENTRY, "same": ENTRY}, "projects": own})
    put(home / ".claude" / "settings.json", settings)
    wanted = RunOptions(
        mcp_config=[named],
        strict_mcp_config=o.strict_mcp_config,
        bare=o.bare,
        setting_sources=o.setting_sources,
    )
    catalog = Catalog()
    brought = Component("plugin:p:s", ServerEntry(ENTRY), Origin(Scope.PLUGIN))
    catalog.add(Contribution(servers=[brought]))
    found = configured_servers(wanted, configure(home, project, wanted), catalog)
    assert {entry.name: entry.source for entry in found} == expected


@pytest.mark.parametrize("content", ["{broken", "[]", '{"mcpServers": 5}', '{"projects": 5}'])
def test_broken_files_bring_no_servers(content: str, home: Path, tmp_path: Path) -> None:
    put(tmp_path / ".mcp.json", content)
    put(home / ".claude.json", content)
    c = configure(home, tmp_path, RunOptions())
    assert configured_servers(RunOptions(), c, Catalog()) == []
