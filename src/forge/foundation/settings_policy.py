"""Settings from outside the user's and the project's files: --settings, managed files, --managed-settings."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.origin import Diagnostic, Scope
from forge.foundation.paths import Places
from forge.foundation.settings_files import judge, read_layer
from forge.foundation.settings_merge import Layer
from forge.foundation.settings_schema import words

_MAX_FLAG_FILE = 2 * 1024 * 1024

# What a host may demand through --managed-settings: restrictions, never conveniences.
_RESTRICTIONS = words(
    "allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly allowedMcpServers"
    " availableModels deniedMcpServers disableAgentView disableArtifact disableAutoMode"
    " disableClaudeAiConnectors disableCommandPluginSources disableRemoteControl disableSideloadFlags"
    " disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows"
    " enforceAvailableModels sandbox"
)
_RULE_RESTRICTIONS = words(
    "deny ask disableBypassPermissionsMode disableAutoMode blockReadsOutsideWorkingDirectories"
    " blockWritesOutsideWorkingDirectories denyInsteadOfPrompting"
)

Read = tuple[Layer | None, list[Diagnostic]]


def flag_layer(p: Places, flag: str) -> Read:
    """The layer of --settings: JSON when the text is an object that parses, else a file."""
    if flag.lstrip().startswith("{"):
        try:
            data = msgspec.json.decode(flag)
        except NOT_JSON:
            pass  # like the reference: what does not parse is taken as a file name
        else:
            # The reference writes the text to a file of its own, so `/x` patterns in it reach nothing else.
            anchor = os.path.join(p.temp_dir, "forge-inline-settings")
            return judge(Layer(Scope.FLAG, "--settings", {}, "", anchor), data, flag)
    path = os.path.join(p.cwd, flag)
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise UsageError(f"Error: Settings file not found: {path}") from error
    if os.path.isdir(path):
        raise UsageError(f"Error: Cannot use settings file (it is a directory): {path}")
    if size > _MAX_FLAG_FILE:
        raise UsageError(f"Error: Settings file exceeds the 2MiB limit: {path}")
    return read_layer(Layer(Scope.FLAG, path, {}, "", os.path.dirname(path)))


def managed_layers(p: Places) -> tuple[list[Layer], list[Diagnostic]]:
    """All managed files; one that is not a JSON object stops the program."""
    layers: list[Layer] = []
    notes: list[Diagnostic] = []
    for directory in p.managed_dirs:
        for name in ("managed-settings.json", *_drop_ins(os.path.join(directory, "managed-settings.d"))):
            path = os.path.join(directory, name)
            layer, found = read_layer(Layer(Scope.MANAGED, path, {}, os.path.basename(directory), directory))
            layers += [layer] if layer is not None else []
            notes += found
    return layers, notes


def inline_managed(text: str) -> Read:
    """The restrictions of --managed-settings."""
    try:
        data = msgspec.json.decode(text)
    except NOT_JSON as error:
        raise UsageError("Error: --managed-settings is not a JSON object") from error
    layer, notes = judge(Layer(Scope.MANAGED, "--managed-settings", {}), data, text)
    if layer is None:
        return None, notes
    return msgspec.structs.replace(layer, data=_restrictions(layer.data)), notes


def _restrictions(data: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in data.items() if key in _RESTRICTIONS}
    wanted = set(_RULE_RESTRICTIONS)
    if kept.get("allowManagedPermissionRulesOnly") is True:
        wanted |= {"allow", "additionalDirectories"}
    rules = {key: value for key, value in data.get("permissions", {}).items() if key in wanted}
    return {**kept, "permissions": rules} if rules else kept


def _drop_ins(directory: str) -> list[str]:
    try:
        names = sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=directory) from error
    chosen = [name for name in names if name.endswith(".json") and not name.startswith(".")]
    return [os.path.join("managed-settings.d", name) for name in chosen]
