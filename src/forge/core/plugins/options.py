"""Values of a plugin's options (`userConfig`) in texts and configurations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\$\{user_config\.([A-Za-z_][A-Za-z0-9_]*)\}")


def option_text(value: Any) -> str:
    """An option's value as programs get it: true and false in words, lists with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(option_text(item) for item in value)
    return str(value)


def fill_defaults(config: Any, options: Any, saved: dict[str, Any]) -> Any:
    """A server's configuration in which `${user_config.K}` of an unset option is its declared default."""
    if isinstance(config, dict):
        return {key: fill_defaults(item, options, saved) for key, item in config.items()}
    if isinstance(config, list):
        return [fill_defaults(item, options, saved) for item in config]
    if not isinstance(config, str) or "${user_config." not in config or not isinstance(options, dict):
        return config
    for key, option in options.items():
        if key not in saved and isinstance(option, dict) and option.get("default") is not None:
            config = config.replace(f"${{user_config.{key}}}", option_text(option["default"]))
    return config


def sensitive_keys(options: Any) -> frozenset[str]:
    """The options that never reach a text, a list or a log."""
    declared = options.items() if isinstance(options, dict) else ()
    return frozenset(key for key, option in declared if isinstance(option, dict) and option.get("sensitive"))


def saved_values(options: Any, saved: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, Any]:
    """What the user has saved for the declared options; secrets count only for sensitive ones."""
    hidden = sensitive_keys(options)
    declared = options if isinstance(options, dict) else {}
    found = {key: saved[key] for key in declared if key in saved and key not in hidden}
    return found | {key: secrets[key] for key in declared if key in hidden and key in secrets}


def placeholders(value: str) -> list[str]:
    """The options a text names."""
    return _PLACEHOLDER.findall(value)
