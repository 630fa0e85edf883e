"""Installs a plugin from a plain directory: a copy below Forge's own plugins, switched off until trusted."""

from __future__ import annotations

import os

import msgspec

from forge.core.installing.contents import describe_contents
from forge.core.installing.copying import BUILD_RESULTS, VERSION_CONTROL, copy_plugin, discard
from forge.core.installing.option_values import forget_options
from forge.core.installing.request import Request, success
from forge.core.installing.switches import LOCAL_ORIGIN, switch, switches
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.layout import is_plain_word
from forge.core.plugins.manifest import Form, Manifest, read_manifest
from forge.foundation.homes import absolute
from forge.foundation.inside import is_really_inside


class LocalPlugin(msgspec.Struct, frozen=True):
    """A plugin that was installed from a path."""

    id: str
    scope: str
    path: str
    manifest: Manifest | None


def path_argument(request: Request, context: Context) -> str:
    """The directory that `install` was given, or nothing when its words are the name of a plugin."""
    joined = " ".join(request.words)
    path = absolute(joined, context.places.cwd, context.places.home)
    looks_like_one = joined.startswith((".", "/", "~")) or os.sep in joined
    return path if looks_like_one and joined else ""


def install_path(path: str, request: Request, context: Context, *, shown: str = "") -> Outcome:
    """`install PATH`; `shown` is where a fetched plugin really came from."""
    given = shown or path
    scope = request.scope("user")
    manifest = _check(path)
    name, plugin_id = manifest.name, f"{manifest.name}{LOCAL_ORIGIN}"
    target = os.path.join(plugins_root(scope, context), name)
    if is_really_inside(target, path) or is_really_inside(path, target):
        raise PluginFailure(f"{path} and {target} are inside each other.", "error_policy")
    title = f"{name} {manifest.version or '(no version)'} from {given}"
    context.warn(describe_contents(path, manifest, title))
    if os.path.lexists(target) and not _may(f"{target} exists. Overwrite it?", request, context):
        raise PluginFailure(
            f"{target} exists and was not overwritten. Pass --yes to overwrite it.", "already_installed"
        )
    os.makedirs(os.path.dirname(target), exist_ok=True)
    copy_plugin(path, target, without=VERSION_CONTROL | BUILD_RESULTS)
    switch(context.places, scope, plugin_id, False)
    message = f"Successfully installed plugin: {plugin_id} (scope: {scope})"
    trusted = context.ask is not None and not request.yes and context.ask("Do you trust it? Enable it now?")
    if trusted:
        switch(context.places, scope, plugin_id, True)
    else:
        message += f". It is disabled until you trust it — enable it with: forge plugin enable {plugin_id}"
    fields = {
        "command": "install",
        "outcome": "ok",
        "plugin": given,
        "pluginId": plugin_id,
        "scope": scope,
        "installPath": target,
        "enabled": trusted,
    }
    return success(request, fields, message)


def local_plugins(context: Context) -> list[LocalPlugin]:
    """Every plugin that was installed from a path, the user's first."""
    found = []
    for scope in ("user", "project", "local"):
        root = plugins_root(scope, context)
        names = sorted(os.listdir(root)) if os.path.isdir(root) and scope != "local" else []
        for name in names:
            path = os.path.join(root, name)
            if os.path.isdir(path) and is_plain_word(name):
                found.append(LocalPlugin(f"{name}{LOCAL_ORIGIN}", scope, path, read_manifest(path).manifest))
    return found


def local_root(name: str, context: Context) -> str:
    """Where a plugin of this name was installed from a path; empty when it was not."""
    return next((one.path for one in local_plugins(context) if one.id == f"{name}{LOCAL_ORIGIN}"), "")


def uninstall_path(given: str, request: Request, context: Context) -> Outcome | None:
    """Removes a plugin that was installed from a path; None when there is none of that name."""
    name = given.removesuffix(LOCAL_ORIGIN)
    scope = request.scope()
    found = [
        one
        for one in local_plugins(context)
        if one.id == f"{name}{LOCAL_ORIGIN}" and scope in ("", one.scope)
    ]
    if not found:
        return None
    one, kept = found[0], request.on("--keep-data")
    discard(one.path)
    if one.id in switches(context.places, one.scope):
        switch(context.places, one.scope, one.id, None)
    if not kept:
        discard(context.layout.data(one.id))
    forget_options(context.places, one.id)
    fields = {
        "command": "uninstall",
        "outcome": "ok",
        "plugin": given,
        "pluginId": one.id,
        "scope": one.scope,
        "keptData": kept,
    }
    return success(request, fields, f"Successfully uninstalled plugin: {name} (scope: {one.scope})")


def _check(path: str) -> Manifest:
    if not os.path.isdir(path):
        raise PluginFailure(f"{path} is not a directory.", "error_not_found")
    found = read_manifest(path)
    if found.corrupt or found.errors:
        raise PluginFailure(found.failure, "error_validation")
    if found.form is Form.NONE:
        raise PluginFailure(
            f"{path} has no manifest: expected .forge-plugin/plugin.json, .claude-plugin/plugin.json "
            "or plugin.json.",
            "error_not_found",
        )
    manifest = found.manifest or _standard(found.raw)
    if not is_plain_word(manifest.name):
        raise PluginFailure(
            f"{found.path}: the name {manifest.name!r} cannot be the name of a folder.", "error_policy"
        )
    return manifest


def _standard(raw: dict[str, object]) -> Manifest:
    """A manifest of the vendor-neutral standard; its own reader has the last word when it is loaded."""
    name, version, about = (raw.get(key) for key in ("name", "version", "description"))
    if not isinstance(name, str):
        raise PluginFailure("plugin.json has no usable name.", "error_validation")
    return Manifest(
        name,
        dict(raw),
        version if isinstance(version, str) else None,
        about if isinstance(about, str) else "",
    )


def _may(question: str, request: Request, context: Context) -> bool:
    return request.yes or (context.ask is not None and context.ask(question))


def plugins_root(scope: str, context: Context) -> str:
    """Where plugins of a scope that came from a path are kept."""
    if scope == "user":
        return os.path.join(context.places.forge_home, "plugins")
    return os.path.join(context.places.cwd, ".forge", "plugins")
