"""Shows a plugin's options and which are unset, and saves values; secrets go in and never come out."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.installing.install_path import local_plugins
from forge.core.installing.located import folder_of
from forge.core.installing.option_values import Schema, check_values, save_options, saved_options, set_keys
from forge.core.installing.request import Request, pretty
from forge.core.installing.uninstall import find_installed
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.manifest import Manifest
from forge.core.plugins.options import option_text
from forge.foundation.encode import NOT_JSON


def configure(request: Request, context: Context) -> Outcome:
    """`configure ID`, with `--values-stdin` to save a JSON object of values, or `--config KEY=VALUE`."""
    plugin_id = request.word("plugin")
    manifest = _manifest(plugin_id, context)
    if manifest is None:
        text = (
            f'No installed plugin has the id "{plugin_id}". Use its full id (name@marketplace), as '
            "`forge plugin list` shows it.\n"
        )
        return Outcome("", text, 1)
    if request.on("--values-stdin") or request.texts("--config"):
        return _save(plugin_id, manifest, request, context)
    known = set_keys(context.places, plugin_id, manifest.options)
    if request.json:
        return Outcome(pretty(_view(plugin_id, manifest, known, context)))
    return Outcome(_text(plugin_id, manifest, known))


def _manifest(plugin_id: str, context: Context) -> Manifest | None:
    found = [one for one in find_installed(plugin_id, context) if one.id == plugin_id]
    if found:
        return folder_of(found[0], context).manifest
    return next((one.manifest for one in local_plugins(context) if one.id == plugin_id), None)


def _save(plugin_id: str, manifest: Manifest, request: Request, context: Context) -> Outcome:
    head = {"pluginId": plugin_id, "displayName": manifest.display_name or manifest.name}
    try:
        values = check_values(_given(request, context), manifest.options)
    except PluginFailure as error:
        said = f"Failed to save configuration: {error.message}\n"
        out = pretty({**head, "refused": {"message": error.message}}) if request.json else ""
        return Outcome(out, said, 1)
    save_options(context.places, plugin_id, values, manifest.options)
    known = set_keys(context.places, plugin_id, manifest.options)
    unset = [key for key in manifest.options if key not in known]
    if request.json:
        return Outcome(pretty({**head, "saved": list(values), "unconfigured": unset}), reload=True)
    return Outcome(f"✔ Saved {', '.join(values) or 'nothing'} for {plugin_id}\n", reload=True)


def _given(request: Request, context: Context) -> dict[str, Any]:
    if not request.on("--values-stdin"):
        pairs = [pair.partition("=") for pair in request.texts("--config")]
        return {key: value for key, _, value in pairs}
    try:
        given = msgspec.json.decode(context.read_input())
    except NOT_JSON:
        given = None
    if not isinstance(given, dict):
        raise PluginFailure("Standard input must be a JSON object of option values.", "invalid_input")
    return given


def _view(plugin_id: str, manifest: Manifest, known: list[str], context: Context) -> dict[str, Any]:
    schema = manifest.options
    saved = saved_options(context.places, plugin_id)
    return {
        "pluginId": plugin_id,
        "displayName": manifest.display_name or manifest.name,
        "schema": schema,
        "inputs": {key: _input(option, saved.get(key)) for key, option in schema.items()},
        "choices": _choices(schema),
        "configured": known,
        "unconfigured": [key for key in schema if key not in known],
    }


def _input(option: dict[str, Any], saved: Any) -> str:
    """What a form would show first: the saved value or the default, never a secret."""
    if option.get("sensitive") is True:
        return ""
    value = saved if saved is not None else option.get("default")
    if value is None:
        return "false" if option.get("type") == "boolean" else ""
    return option_text(value)


def _choices(schema: Schema) -> dict[str, list[str]]:
    found = {}
    for key, option in schema.items():
        if isinstance(option.get("options"), list):
            found[key] = [str(each) for each in option["options"]]
        elif option.get("type") == "boolean":
            found[key] = ["true", "false"]
    return found


def _text(plugin_id: str, manifest: Manifest, known: list[str]) -> str:
    name = manifest.display_name or manifest.name
    if not manifest.options:
        return f"{name} ({plugin_id}) has no options.\n"
    lines = [f"Options for {name} ({plugin_id}):"]
    for key, option in manifest.options.items():
        marks = ["required" if option.get("required") is True else "optional"]
        marks += ["sensitive"] if option.get("sensitive") is True else []
        marks.append("set" if key in known else "not set")
        lines.append(f"  ❯ {key} — {option.get('title', key)} ({', '.join(marks)})")
    lines += [
        "",
        "Set values with `forge plugin configure <plugin> --config KEY=VALUE`, or pipe a JSON object to "
        "`forge plugin configure <plugin> --values-stdin`.",
    ]
    return "\n".join(lines) + "\n"
