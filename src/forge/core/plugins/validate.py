"""Validates plugins, marketplaces and directories of components without loading them."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.plugins.agent_standard import check_standard, skill_problem
from forge.core.plugins.component_check import check_hooks, check_server_file, check_servers, check_text
from forge.core.plugins.manifest import Form, Found, read_manifest, read_manifest_file
from forge.core.plugins.manifest_check import Checked, check_manifest
from forge.core.plugins.market_check import check_market
from forge.core.plugins.path_check import check_paths
from forge.core.plugins.reading import as_list
from forge.core.plugins.shape import Finding
from forge.core.plugins.wasm_file import FILE, wasm_tools
from forge.foundation.atomic import read_text
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import parse_json
from forge.foundation.paths import DIALECTS

MARKET = ".claude-plugin/marketplace.json"
_KINDS = {"skills": "skill", "agents": "agent", "commands": "command"}
_NO_MANIFEST = (
    "No manifest found in directory. Expected .claude-plugin/marketplace.json or .claude-plugin/plugin.json"
)


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """What is said about one file."""

    file: str
    type: str
    errors: list[Finding] = []
    warnings: list[Finding] = []
    notes: list[str] = []
    gating_hooks: list[str] = []


class Directory(msgspec.Struct, frozen=True):
    """Requirements of a public catalogue; Forge has none."""

    profile: str | None = None
    findings: list[Any] = []
    undecided: list[Any] = []
    incomplete: bool = False
    failure: str | None = None
    notes: list[str] = []


class Report(msgspec.Struct, frozen=True):
    """The verdict; in `contents` only files something is said about."""

    success: bool
    strict: bool
    target: str
    manifest: Part | None = None
    contents: list[Part] = []
    advice: list[Any] = []
    directory: Directory = Directory()


def validate(path: str, strict: bool = False) -> Report:
    """Judges a plugin, a marketplace, a manifest file, or a directory of components."""
    path = os.path.abspath(path)
    if os.path.isfile(path):
        manifest, contents = _file(path)
    elif not os.path.isdir(path):
        manifest, contents = _part(path, "plugin", [Finding("file", f"File not found: {path}")]), []
    else:
        manifest, contents = _directory(path)
        contents = [*contents, *_wasm(path)]
    target = manifest.file if manifest else path
    parts = [*([manifest] if manifest else []), *contents]
    failed = any(part.errors or (strict and part.warnings) for part in parts)
    return Report(not failed, strict, target, manifest, contents)


def _file(path: str) -> tuple[Part | None, list[Part]]:
    if os.path.basename(path) == "marketplace.json":
        return _market(path), []
    folder = os.path.basename(os.path.dirname(path))
    form = {".forge-plugin": Form.FORGE, ".claude-plugin": Form.CLAUDE}.get(folder, Form.CLAUDE)
    root = os.path.dirname(os.path.dirname(path)) if folder.endswith("-plugin") else os.path.dirname(path)
    found = read_manifest_file(root, path, form) or Found(root, form, path, corrupt="Unexpected EOF")
    return _plugin_part(found), _contents(root, found) if folder.endswith("-plugin") else []


def _directory(root: str) -> tuple[Part | None, list[Part]]:
    found = read_manifest(root, bare=False)
    if os.path.isfile(f"{root}/{MARKET}"):
        own = [] if found.form is Form.NONE else [_plugin_part(found)]
        contents = [part for part in own if part.errors or part.warnings or part.notes]
        return _market(f"{root}/{MARKET}"), contents + (_contents(root, found) if own else [])
    if found.form is Form.STANDARD:
        return _standard(found)
    if found.form is not Form.NONE:
        return _plugin_part(found), _contents(root, found)
    if os.path.basename(root) in _KINDS:
        name = os.path.basename(root)
        return None, _components(os.path.dirname(root), (name,))
    folders = [name for name in _KINDS if os.path.isdir(f"{root}/{name}")]
    if _is_collection(root) and folders and not os.path.exists(f"{root}/plugin.json"):
        return None, _components(root, tuple(folders))
    return _part(root, "plugin", [Finding("directory", _NO_MANIFEST)]), []


def _is_collection(root: str) -> bool:
    """Whether a directory without a manifest is one of components: a configuration, or one with skills."""
    if os.path.basename(root) in DIALECTS:
        return True
    return any(os.path.isfile(f"{root}/skills/{name}/SKILL.md") for name in _names(f"{root}/skills"))


def _names(directory: str) -> list[str]:
    return os.listdir(directory) if os.path.isdir(directory) else []


def _plugin_part(found: Found) -> Part:
    if found.corrupt:
        return _part(found.path, "plugin", [Finding("json", f"Invalid JSON syntax: {found.corrupt}")])
    checked = check_manifest(found.raw, lenient=found.form is Form.FORGE)
    if not isinstance(found.raw, dict):
        return _part(found.path, "plugin", checked.errors)
    servers: dict[str, Any] = {}
    for item in as_list(found.raw.get("mcpServers")):
        servers |= {f"mcpServers.{n}": c for n, c in item.items()} if isinstance(item, dict) else {}
    errors, warnings = check_servers(servers, _options(found.raw))
    errors = errors if not checked.errors else []
    paths = check_paths(found.raw, found.root)
    all_errors = [*checked.errors, *checked.objections, *paths, *errors]
    return Part(found.path, "plugin", all_errors, warnings + checked.warnings, checked.notes)


def _market(path: str) -> Part:
    raw = _json(path)
    if isinstance(raw, ConfigError):
        return _part(path, "marketplace", [Finding("json", f"Invalid JSON syntax: {raw.message}")])
    checked: Checked = check_market(raw, os.path.dirname(os.path.dirname(path)))
    return Part(path, "marketplace", [*checked.errors, *checked.objections], checked.warnings, checked.notes)


def _standard(found: Found) -> tuple[Part, list[Part]]:
    errors, warnings = check_standard(found.raw)
    contents = []
    for path in _skill_files(f"{found.root}/skills"):
        wrong = skill_problem(_text(path), os.path.basename(os.path.dirname(path)))
        if wrong:
            contents.append(_part(path, "skill", [Finding("frontmatter", wrong)]))
    return Part(found.path, "plugin", errors, warnings), contents


def _contents(root: str, found: Found) -> list[Part]:
    parts = _components(root, tuple(_KINDS))
    raw = found.raw if isinstance(found.raw, dict) else {}
    if os.path.isfile(f"{root}/CLAUDE.md"):
        advice = "CLAUDE.md at the plugin root is not read by anyone; write a skill instead."
        parts.append(Part(f"{root}/CLAUDE.md", "plugin", warnings=[Finding("root", advice)]))
    for path in _json_places(root, "hooks/hooks.json", raw.get("hooks")):
        parts.append(_json_part(path, "hooks", set()))
    for path in _json_places(root, ".mcp.json", raw.get("mcpServers")):
        parts.append(_json_part(path, "mcp", _options(raw)))
    return [part for part in parts if part.errors or part.warnings or part.notes]


def _wasm(root: str) -> list[Part]:
    path = f"{root}/{FILE}"
    wrong = wasm_tools(root, os.path.basename(root), "")[1] if os.path.lexists(path) else []
    return [_part(path, "wasm", [Finding("tools", problem) for problem in wrong])] if wrong else []


def _json_places(root: str, default: str, named: Any) -> list[str]:
    places = [default, *(item for item in as_list(named) if isinstance(item, str) and item.endswith(".json"))]
    found = dict.fromkeys(os.path.normpath(os.path.join(root, place)) for place in places)
    return [path for path in found if os.path.isfile(path)]


def _json_part(path: str, kind: str, declared: set[str]) -> Part:
    content = _json(path)
    if isinstance(content, ConfigError):
        return _part(path, kind, [Finding("json", f"Invalid JSON syntax: {content.message}")])
    if kind == "hooks":
        errors, warnings = check_hooks(content, os.path.dirname(path))
    else:
        errors, warnings = check_server_file(content, declared)
    return Part(path, kind, errors, warnings)


def _components(root: str, folders: tuple[str, ...]) -> list[Part]:
    """The files of the default places; links are not followed."""
    parts = []
    for folder in folders:
        directory = f"{root}/{folder}"
        if os.path.islink(directory):
            message = "This is a link, which is not followed here."
            parts.append(Part(directory, _KINDS[folder], warnings=[Finding("directory", message)]))
            continue
        files = _skill_files(directory) if folder == "skills" else _markdown(directory)
        for path in files:
            errors, warnings = check_text(_text(path), _KINDS[folder])
            if errors or warnings:
                parts.append(Part(path, _KINDS[folder], errors, warnings))
    return parts


def _skill_files(directory: str) -> list[str]:
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    paths = [f"{directory}/{name}/SKILL.md" for name in names]
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(os.path.dirname(path))]


def _markdown(directory: str) -> list[str]:
    found = []
    for place, folders, files in os.walk(directory):
        folders.sort()
        found += [f"{place}/{name}" for name in sorted(files) if name.endswith(".md")]
    return [path for path in found if not os.path.islink(path)]


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _json(path: str) -> Any:
    """The value of a file, or the error that says why there is none."""
    try:
        text = read_text(path)
        if not text.strip("\ufeff \t\r\n"):
            return ConfigError("Unexpected EOF", path=path)
        return parse_json(text, path)
    except ConfigError as error:
        return error
    except OSError as error:
        return ConfigError(f"cannot be read: {error.strerror}", path=path)


def _options(raw: dict[str, Any]) -> set[str]:
    channels = [c.get("userConfig") for c in as_list(raw.get("channels")) if isinstance(c, dict)]
    maps = [raw.get("userConfig"), *channels]
    return {key for options in maps if isinstance(options, dict) for key in options}


def _part(file: str, kind: str, errors: list[Finding]) -> Part:
    return Part(file, kind, errors)
