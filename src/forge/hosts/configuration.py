"""Everything a run reads before it starts: places, trust, settings, environment, rules, notes."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from forge.foundation.environment import effective_env
from forge.foundation.errors import UsageError
from forge.foundation.origin import Diagnostic, Scope
from forge.foundation.paths import Places, find_places, results_dir
from forge.foundation.permissions.modes import starting_mode
from forge.foundation.permissions.rule import Rule, parse_rule, split_rules
from forge.foundation.permissions.situation import Situation
from forge.foundation.settings import Settings, SettingsRequest, load_settings, parse_setting_sources
from forge.foundation.settings_rules import permission_rules
from forge.foundation.system.facts import is_superuser
from forge.foundation.trust import is_trusted
from forge.hosts.options import RunOptions


class Configuration(msgspec.Struct, frozen=True):
    """The configuration of one run; `env` already contains what settings add to it."""

    places: Places
    trusted: bool
    settings: Settings
    env: dict[str, str]
    rules: list[Rule]
    directories: list[str]
    diagnostics: list[Diagnostic]
    notes: list[str]
    mode: str


def config_places(o: RunOptions, env: Mapping[str, str], places: Places) -> Places:
    """The places whose project files count: those of another checkout if the run was given one."""
    if o.project_config_root is None:
        return places
    if not os.path.isabs(o.project_config_root):
        raise UsageError("Error: --project-config-root must be an absolute path")
    return find_places(env, o.project_config_root)


def load_configuration(o: RunOptions, env: Mapping[str, str], cwd: str) -> Configuration:
    """Reads the configuration for a run in `cwd`; raises ConfigError or UsageError."""
    places = find_places(env, cwd)
    root = config_places(o, env, places)
    places = msgspec.structs.replace(places, project_dirs=root.project_dirs, local_dirs=root.local_dirs)
    trusted = is_trusted(places)
    sources = None if o.setting_sources is None else parse_setting_sources(o.setting_sources)
    settings = load_settings(
        places, SettingsRequest(sources, o.settings, o.managed_settings), trusted=trusted
    )
    effective, env_notes = effective_env(env, settings, trusted=trusted)
    rules, directories, rule_notes = permission_rules(settings, trusted=trusted)
    cli_rules, notes = _cli_rules(o, places.cwd)
    mode, mode_note = _mode(o, settings, effective)
    if mode_note:
        notes.append(mode_note)
    return Configuration(
        places=places,
        trusted=trusted,
        settings=settings,
        env=effective,
        rules=[*rules, *cli_rules],
        directories=[os.path.abspath(os.path.join(places.cwd, d)) for d in [*directories, *_added(o)]],
        diagnostics=[*settings.diagnostics, *env_notes, *rule_notes],
        notes=notes,
        mode=mode,
    )


def situation(c: Configuration, session_id: str, *, deny_instead: bool, auto: bool = True) -> Situation:
    """The permission state a session starts with; `auto`: the model can be used in the mode of that name."""
    get = c.settings.get
    return Situation(
        cwd=c.places.cwd,
        start_dir=c.places.cwd,
        directories=c.directories,
        home=c.places.home,
        mode="default" if c.mode == "auto" and not auto else c.mode,
        rules=c.rules,
        deny_instead_of_prompting=deny_instead or bool(get("permissions.denyInsteadOfPrompting", False)),
        block_reads_outside=bool(get("permissions.blockReadsOutsideWorkingDirectories", False)),
        block_writes_outside=bool(get("permissions.blockWritesOutsideWorkingDirectories", False)),
        block_reads_exempt=get("permissions.blockReadsExemptPaths", []),
        free_read_dirs=[results_dir(c.places, session_id, c.places.cwd)],
        config_dirs=c.places.user_dirs,
    )


def _added(o: RunOptions) -> list[str]:
    return [d.strip() for value in o.add_dir for d in value.split(",") if d.strip()]


def _cli_rules(o: RunOptions, cwd: str) -> tuple[list[Rule], list[str]]:
    rules: list[Rule] = []
    notes: list[str] = []
    # A tool that is asked for permission is not for the model.
    asked = [o.permission_prompt_tool] if o.permission_prompt_tool not in (None, "stdio") else []
    denied = [*o.disallowed_tools, *map(str, asked)]
    for behavior, values in (("allow", o.allowed_tools), ("deny", denied)):
        for text in split_rules(values):
            rule = parse_rule(text, behavior, Scope.CLI.wire, cwd)
            if isinstance(rule, str):
                notes.append(f"Ignoring the {behavior} rule {text!r} of the command line: {rule}")
            else:
                rules.append(rule)
    return rules, notes


def _mode(o: RunOptions, settings: Settings, env: Mapping[str, str]) -> tuple[str, str | None]:
    configured: list[tuple[str, str]] = []
    for layer in settings.layers:
        permissions = layer.data.get("permissions")
        value = permissions.get("defaultMode") if isinstance(permissions, dict) else None
        if value is not None:
            configured.append((layer.scope.wire, value))
    flag = "bypassPermissions" if o.dangerously_skip_permissions else o.permission_mode
    disabled = settings.get("permissions.disableBypassPermissionsMode") == "disable"
    mode, note = starting_mode(flag, configured, bypass_disabled=disabled)
    if mode == "bypassPermissions" and is_superuser() and env.get("IS_SANDBOX") != "1":
        raise UsageError(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
            "Run as another user, or set IS_SANDBOX=1 inside a container that holds nothing of value.",
        )
    return mode, note
