"""The options a plugin declares (`userConfig`): checking values, keeping them, and what is still unset.

Sensitive values go to the credentials file and are never shown again.
"""

from __future__ import annotations

import os
from typing import Any

from forge.core.installing.switches import change_settings, section_of, shared_file
from forge.core.plugins.context import PluginFailure
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import patch_json, read_json
from forge.foundation.jsonpatch import delete, put
from forge.foundation.paths import Places

Schema = dict[str, dict[str, Any]]


def credentials_file(places: Places) -> str:
    """Where secrets are kept; the reference program reads them there too."""
    return os.path.join(places.claude_dir, ".credentials.json")


def saved_options(places: Places, plugin_id: str) -> dict[str, Any]:
    """The saved values that are no secrets."""
    entry = section_of(shared_file(places, "user"), "pluginConfigs").get(plugin_id)
    options = entry.get("options") if isinstance(entry, dict) else None
    return options if isinstance(options, dict) else {}


def saved_secrets(places: Places, plugin_id: str) -> dict[str, Any]:
    """The saved secrets, for the programs of the plugin only."""
    try:
        content, _ = read_json(credentials_file(places))
    except (FileNotFoundError, NotADirectoryError, ConfigError):
        return {}
    secrets = content.get("pluginSecrets") if isinstance(content, dict) else None
    found = secrets.get(plugin_id) if isinstance(secrets, dict) else None
    return found if isinstance(found, dict) else {}


def set_keys(places: Places, plugin_id: str, schema: Schema) -> list[str]:
    """The options that have a saved value."""
    saved = saved_options(places, plugin_id).keys() | saved_secrets(places, plugin_id).keys()
    return [key for key in schema if key in saved]


def read_pairs(pairs: list[str], schema: Schema) -> dict[str, Any]:
    """The values of `--config KEY=VALUE`, in the reference's wording of what is wrong."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise PluginFailure(
                f'--config expects KEY=VALUE, got "{pair}". Use --config key=value (repeatable).'
            )
        if key not in schema:
            known = ", ".join(schema)
            raise PluginFailure(
                f"--config key \"{key}\" isn't declared in this plugin's userConfig. Known keys: {known}."
            )
        value = _converted(key, text, schema[key], "--config ")
        wrong = _objection(value, schema[key])
        if wrong:
            raise PluginFailure(f"--config validation failed: {wrong}")
        values[key] = value
    return values


def check_values(given: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Values of a JSON object, checked and converted."""
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in schema:
            raise PluginFailure(
                f'This plugin has no option "{key}". Known options: {", ".join(schema)}.', "unknown_option"
            )
        values[key] = _converted(key, value, schema[key], "") if isinstance(value, str) else value
        wrong = _objection(values[key], schema[key])
        if wrong:
            raise PluginFailure(wrong, "invalid_value")
    return values


def save_options(places: Places, plugin_id: str, values: dict[str, Any], schema: Schema) -> None:
    """Keeps values: secrets in the credentials file (owner only), the rest in the user's settings."""
    secrets = {key for key in values if schema[key].get("sensitive") is True}
    path = ("pluginConfigs", plugin_id, "options")
    plain = [put((*path, key), value) for key, value in values.items() if key not in secrets]
    if plain:
        change_settings(shared_file(places, "user"), "user", plain)
    if secrets:
        file = credentials_file(places)
        patch_json(file, [put(("pluginSecrets", plugin_id, key), values[key]) for key in sorted(secrets)])
        os.chmod(file, 0o600)


def forget_options(places: Places, plugin_id: str) -> None:
    """Removes all values of a plugin, secrets included."""
    settings = shared_file(places, "user")
    if plugin_id in section_of(settings, "pluginConfigs"):
        change_settings(settings, "user", [delete(("pluginConfigs", plugin_id))])
    if saved_secrets(places, plugin_id):
        patch_json(credentials_file(places), [delete(("pluginSecrets", plugin_id))])


def _converted(key: str, text: str, option: dict[str, Any], lead: str) -> Any:
    kind = option.get("type")
    if kind == "number":
        try:
            number = float(text)
        except ValueError:
            raise PluginFailure(f'{lead}{key}: "{text}" is not a number', "invalid_value") from None
        return int(number) if number.is_integer() else number
    if kind == "boolean":
        if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise PluginFailure(f'{lead}{key}: "{text}" is not true or false', "invalid_value")
        return text.lower() in ("true", "1", "yes")
    return text


def _objection(value: Any, option: dict[str, Any]) -> str:
    title = option.get("title", "The value")
    choices = option.get("options")
    if isinstance(choices, list) and value not in choices:
        return f"{title} must be one of: {', '.join(map(str, choices))}"
    if option.get("type") == "number":
        if not isinstance(value, int | float) or isinstance(value, bool):
            return f"{title} must be a number"
        if "min" in option and value < option["min"]:
            return f"{title} must be at least {option['min']}"
        if "max" in option and value > option["max"]:
            return f"{title} must be at most {option['max']}"
    if option.get("required") is True and value == "":
        return f"{title} is required"
    return ""
