"""Variables of plugins: what processes find in their environment, and their replacement in configurations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forge.core.components.kinds import PluginRoot
from forge.core.plugins.options import option_text

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_.]*)(?::-([^}]*))?\}")
_FAMILIES = ("CLAUDE", "FORGE")


def plugin_environment(plugin: PluginRoot, project_dir: str) -> dict[str, str]:
    """What hooks, MCP and language servers of a plugin find set, in both spellings."""
    named = {"PLUGIN_ROOT": plugin.root, "PLUGIN_DATA": plugin.data, "PROJECT_DIR": project_dir}
    named |= {f"PLUGIN_OPTION_{key.upper()}": option_text(value) for key, value in plugin.options.items()}
    return {f"{family}_{key}": value for key, value in named.items() for family in _FAMILIES}


def expand(value: Any, plugin: PluginRoot, project_dir: str, env: Mapping[str, str] | None = None) -> Any:
    """A configuration with variables replaced; with `env` also `${NAME}` and `${NAME:-default}` of it.

    What is not known stays as written.
    """
    if isinstance(value, dict):
        return {key: expand(item, plugin, project_dir, env) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item, plugin, project_dir, env) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    known = plugin_environment(plugin, project_dir)

    def replaced(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name.startswith("user_config."):
            key = name.removeprefix("user_config.")
            return option_text(plugin.options[key]) if key in plugin.options else match[0]
        found = known.get(name, (env or {}).get(name))
        if found is None:
            found = default if env is not None else None
        return match[0] if found is None else found

    return _VARIABLE.sub(replaced, value)
