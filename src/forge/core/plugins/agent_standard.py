"""Agent Plugins 1.0: the vendor-neutral format, which packages skills and MCP servers in fixed places."""

from __future__ import annotations

import os
import re
from typing import Any

from forge.core.components.skill_file import SKILL_FILE, skill_from_text
from forge.core.plugins.configs import add_server, json_or_error, read_hooks
from forge.core.plugins.manifest import Found
from forge.core.plugins.parts import read_agents, read_commands
from forge.core.plugins.reading import Reading, Unloadable
from forge.core.plugins.shape import STRING, STRING_MAP, STRINGS, Finding, Issue, Shape, check, soft, text
from forge.core.plugins.standard_servers import server_config, server_problem
from forge.core.registry import Component
from forge.foundation.atomic import read_text
from forge.foundation.errors import ConfigError
from forge.foundation.frontmatter import parse, split
from forge.foundation.inside import is_really_inside
from forge.foundation.origin import Severity

VERSION = "1.0.0"
SCHEMA = f"https://agent-plugins.org/schemas/{VERSION}/plugin.schema.json"
SERVER_SCHEMA = f"https://agent-plugins.org/schemas/{VERSION}/mcp.schema.json"
NAMESPACE = "dev.forge"

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?")
_SKILL_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _plugin_name(name: str) -> list[Issue]:
    if _NAME.fullmatch(name) and "--" not in name and ".." not in name:
        return []
    return soft("expected 1 to 64 of a-z, 0-9, - and ., starting and ending with a letter or digit")


def _schema(value: str) -> list[Issue]:
    return (
        [] if value == SCHEMA else soft(f"unsupported version of Agent Plugins; this client knows {VERSION}")
    )


def _at_most(limit: int) -> Any:
    return lambda value: [] if 0 < len(value.strip()) <= limit else soft(f"expected 1 to {limit} characters")


_FIELDS = {
    "$schema": text(_schema),
    "name": text(_plugin_name),
    **dict.fromkeys(("version", "description", "homepage", "repository", "license"), STRING),
    "author": Shape("object", keys={"name": STRING, "email": STRING, "url": STRING}, strict=True),
    "keywords": STRINGS,
}
_MANIFEST = Shape("object", keys=_FIELDS, required=("$schema", "name"))
_SKILL = Shape(
    "object",
    keys={
        "name": STRING,
        "description": text(_at_most(1024)),
        "license": STRING,
        "compatibility": text(_at_most(500)),
        "metadata": STRING_MAP,
        "allowed-tools": STRING,
    },
    required=("name", "description"),
    strict=True,
)
_SERVER_FILE = Shape(
    "object",
    keys={"$schema": STRING, "mcpServers": Shape("record")},
    required=("$schema", "mcpServers"),
    strict=True,
)


def check_standard(raw: Any) -> tuple[list[Finding], list[Finding]]:
    """What is fatal in a manifest, and what is reported and ignored."""
    errors = check(raw, _MANIFEST)
    warnings = []
    for key, value in raw.items() if isinstance(raw, dict) else ():
        if key == "extensions":
            warnings += _extension_warnings(value)
        elif key not in _FIELDS:
            warnings.append(Finding(key, f"Unknown field '{key}'; it is ignored."))
    return errors, warnings


def _extension_warnings(value: Any) -> list[Finding]:
    if not isinstance(value, dict):
        return [Finding("extensions", "expected an object; it is ignored.")]
    own = value.get(NAMESPACE, {})
    return [] if isinstance(own, dict) else [Finding(f"extensions.{NAMESPACE}", "expected an object")]


def read_standard(r: Reading, found: Found) -> None:
    """Reads a plugin of this format; Unloadable when its manifest is not usable."""
    if not is_really_inside(found.path, r.root):
        raise Unloadable(f"{found.path}: the manifest leads out of the plugin")
    errors, warnings = check_standard(found.raw)
    if errors:
        raise Unloadable(f"{found.path}: {', '.join(map(str, errors))}")
    for warning in warnings:
        r.warn(str(warning), found.path)
    read_standard_skills(r)
    _servers(r)
    _extension(r)


def add_standard_servers(r: Reading, found: Found) -> None:
    """The servers of a plugin.json of this format beside another manifest; same names are not doubled."""
    path = r.has("plugin.json")
    if not path or found.path == path:
        return
    raw = json_or_error(path)
    if not isinstance(raw, dict) or raw.get("$schema") != SCHEMA:
        return
    r.warn("also has a manifest of Agent Plugins; both are used as one plugin", path, severity=Severity.INFO)
    if not check_standard(raw)[0]:
        _servers(r)


def read_standard_skills(r: Reading) -> None:
    """Each child of `skills/` with a SKILL.md that keeps to the Agent Skills format."""
    directory = f"{r.root}/skills"
    if not os.path.lexists(directory):
        return
    if not os.path.isdir(directory) or not is_really_inside(directory, r.root):
        r.warn("is no directory inside the plugin", directory, "Its skills are missing.")
        return
    for name in sorted(os.listdir(directory)):
        path = f"{directory}/{name}/{SKILL_FILE}"
        if not os.path.isdir(f"{directory}/{name}") or not os.path.isfile(path):
            continue
        if not is_really_inside(path, r.root):
            r.warn("leads out of the plugin", path, "The skill is skipped.")
        else:
            _skill(r, path, name)


def _skill(r: Reading, path: str, name: str) -> None:
    try:
        content = read_text(path)
    except OSError as error:
        r.warn(f"cannot be read: {error.strerror}", path, "The skill is skipped.")
        return
    wrong = skill_problem(content, name)
    if wrong:
        r.warn(f"is not an Agent Skill: {wrong}", path, "The skill is skipped.")
        return
    full = f"{r.name}:{name}"
    skill, notes = skill_from_text(content, full, r.at(path), os.path.dirname(path), r.plugin)
    r.diagnostics += notes
    r.skills.append(Component(full, skill, r.at(path)))


def skill_problem(content: str, name: str) -> str:
    """Why a SKILL.md does not follow the Agent Skills format, or nothing."""
    if split(content)[0] is None:
        return "it has no front matter"
    matter = parse(content, "")
    if matter.diagnostics:
        return matter.diagnostics[0].message
    wrong = check(matter.values, _SKILL)
    if wrong:
        return str(wrong[0]) if wrong[0].path else wrong[0].message
    if matter.values["name"] != name:
        return f"its name is {matter.values['name']!r} and its directory {name!r}"
    return "" if len(name) <= 64 and _SKILL_NAME.fullmatch(name) else f"{name!r} is no name of a skill"


def _servers(r: Reading) -> None:
    path = f"{r.root}/mcp.json"
    if not os.path.lexists(path):
        return
    wrong = _file_problem(r, path)
    if wrong:
        r.warn(f"is not usable: {wrong}", path, "The servers of the plugin are missing.")
        return
    for name, entry in json_or_error(path)["mcpServers"].items():
        problem = server_problem(entry, r.plugin)
        if problem:
            r.warn(f"the server {name} is not usable: {problem}", path, "It is skipped.")
        elif f"plugin:{r.name}:{name}" not in r.servers:
            add_server(r, name, server_config(entry, r.plugin), path)


def _file_problem(r: Reading, path: str) -> str:
    if not os.path.isfile(path) or not is_really_inside(path, r.root):
        return "expected a file inside the plugin"
    content = json_or_error(path)
    if isinstance(content, ConfigError):
        return content.message
    wrong = check(content, _SERVER_FILE)
    if wrong:
        return str(wrong[0])
    return "" if content["$schema"] == SERVER_SCHEMA else "its $schema is not of the manifest's version"


def _extension(r: Reading) -> None:
    """Commands, agents and hooks in Forge's own directory of the plugin."""
    directory = f"{r.root}/{NAMESPACE}"
    if not os.path.isdir(directory) or not is_really_inside(directory, r.root):
        return
    root, inside = r.root, r.inside
    r.enter(directory)
    r.inside = True
    try:
        read_commands(r, {})
        read_agents(r, {})
        read_hooks(r, {})
    finally:
        r.enter(root)
        r.inside = inside
