"""What the owner of the machine says about MCP servers: which are allowed or denied, and a file of them."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.origin import Scope
from forge.hosts.configuration import Configuration

FILE = "managed-mcp.json"


def permitted(name: str, config: Any, c: Configuration) -> bool:
    """Whether a server may be used: not denied, and allowed where only some are. What is unclear is not."""
    denied = c.settings.get("deniedMcpServers", [])
    if not isinstance(denied, list) or any(_matches(rule, name, config) for rule in denied):
        return False
    allowed = _allowed(c)
    if allowed is None:
        return True
    if not isinstance(allowed, list):
        return False
    kind = "serverCommand" if _command(config) else "serverUrl"
    exact = [rule for rule in allowed if isinstance(rule, dict) and kind in rule]
    # Once commands or addresses are listed, a name alone is not enough.
    return any(_matches(rule, name, config) for rule in exact or allowed)


def own_file(c: Configuration) -> dict[str, Any] | None:
    """The servers of the owner's file, which are then the only ones; None without such a file."""
    for folder in c.places.managed_dirs:
        path = os.path.join(folder, FILE)
        if not os.path.isfile(path):
            continue
        try:
            with open(path, "rb") as file:
                content = msgspec.json.decode(file.read())
        except (OSError, *NOT_JSON):
            return {}
        servers = content.get("mcpServers") if isinstance(content, dict) else None
        return servers if isinstance(servers, dict) else {}
    return None


def _allowed(c: Configuration) -> Any:
    managed = [layer.data for layer in c.settings.layers if layer.scope is Scope.MANAGED]
    if any(data.get("allowManagedMcpServersOnly") is True for data in managed):
        lists = [data["allowedMcpServers"] for data in managed if "allowedMcpServers" in data]
        return lists[-1] if lists else None
    return c.settings.get("allowedMcpServers", None)


def _matches(rule: Any, name: str, config: Any) -> bool:
    if not isinstance(rule, dict):
        return False
    if "serverCommand" in rule:
        return bool(_command(config)) and rule["serverCommand"] == _command(config)
    if "serverUrl" in rule:
        url = config.get("url") if isinstance(config, dict) else None
        pattern = re.escape(str(rule["serverUrl"])).replace(r"\*", ".*")
        return isinstance(url, str) and re.fullmatch(pattern, url) is not None
    return rule.get("serverName") == name


def _command(config: Any) -> list[str]:
    if not isinstance(config, dict) or "command" not in config:
        return []
    return [config["command"], *(config.get("args") or [])]
