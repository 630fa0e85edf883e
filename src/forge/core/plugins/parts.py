"""Skills, commands, agents and output styles of a plugin: where they are looked for, how they are called."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.core.components.agent_file import read_agent
from forge.core.components.skill_file import SKILL_FILE, read_skill, skill_from_text
from forge.core.components.style_file import read_style
from forge.core.plugins.reading import Reading, as_list, children, locate
from forge.core.registry import Component
from forge.foundation.collate import name_order

_DEEPEST = 20
_NO_NAME = re.compile("[^A-Za-z0-9_-]")


def read_skills(r: Reading, raw: dict[str, Any], *, only_listed: bool, root_too: bool) -> None:
    """The skills of `skills/` and of the places the manifest adds, else (`root_too`) the root's SKILL.md."""
    listed = as_list(raw.get("skills"))
    default = r.has("skills")
    if not only_listed:
        if default:
            _skill_place(r, default)
        elif root_too and "skills" not in raw and r.has(SKILL_FILE):
            _single(r, r.root)
    for relative in listed:
        path = locate(r, relative, "skills")
        if path and not os.path.isdir(path):
            parent = os.path.dirname(relative)
            wrong = "path is a file; skills entries must be directories containing SKILL.md"
            advice = f"point to the parent directory '{parent}' instead"
            r.fail("component-load-failed", f"skills load failed from {relative}: {wrong} — {advice}")
        elif path:
            _skill_place(r, path)


def read_commands(r: Reading, raw: dict[str, Any], added: Any = None) -> None:
    """The commands of `commands/`, or of the places that replace it; `added` come on top."""
    named = raw.get("commands")
    if named is None:
        _command_tree(r, r.has("commands"), (), 0)
    elif isinstance(named, dict):
        _command_map(r, named)
    for relative in [*([] if isinstance(named, dict) else as_list(named)), *_paths(r, added)]:
        path = locate(r, relative, "commands")
        if path and os.path.isdir(path):
            _command_place(r, path)
        elif path.lower().endswith(".md"):
            _command(r, path, (), os.path.basename(path))


def _paths(r: Reading, added: Any) -> list[Any]:
    if isinstance(added, dict):
        _command_map(r, added)
        return []
    return as_list(added)


def read_agents(r: Reading, raw: dict[str, Any], added: Any = None) -> None:
    """The agents of `agents/`, or the files that replace it."""
    if "agents" not in raw:
        _agent_tree(r, r.has("agents"), (), 0)
    for relative in as_list(raw.get("agents")) + as_list(added):
        path = locate(r, relative, "agents")
        if path and os.path.isdir(path):
            _agent_tree(r, path, (), 0)
        elif path:
            _agent(r, path, ())


def read_styles(r: Reading, raw: dict[str, Any], added: Any = None) -> None:
    """The styles of `output-styles/`, or of the places that replace it."""
    if "outputStyles" not in raw:
        _style_place(r, r.has("output-styles"))
    for relative in as_list(raw.get("outputStyles")) + as_list(added):
        path = locate(r, relative, "output-styles")
        if path:
            _style_place(r, path)


def _skill_place(r: Reading, directory: str) -> None:
    if os.path.isfile(f"{directory}/{SKILL_FILE}"):
        _single(r, directory)
        return
    found = []
    for name, path, is_dir in children(r, directory):
        r.files.add(path)
        if is_dir and os.path.isfile(f"{path}/{SKILL_FILE}"):
            found.append((_NO_NAME.sub("-", name), path))
    for name, path in sorted(found, key=lambda pair: name_order(pair[0])):
        _skill(r, path, name, chosen=False)


def _single(r: Reading, directory: str) -> None:
    """A folder that is a skill itself is called as its front matter says."""
    _skill(r, directory, _NO_NAME.sub("-", os.path.basename(directory)), chosen=True)


def _skill(r: Reading, directory: str, name: str, *, chosen: bool) -> None:
    path = f"{directory}/{SKILL_FILE}"
    if r.leaves(path) or not r.claim(path):
        return
    full = f"{r.name}:{name}"
    skill, notes = read_skill(path, full, directory, r.at(path), r.plugin)
    r.diagnostics += notes
    if skill is None:
        return
    if chosen and skill.display:
        skill = msgspec.structs.replace(skill, name=skill.display)
    # Of two places with a skill of the same name the first counts.
    if any(other.name == skill.name for other in r.skills):
        r.warn(f"another skill of this plugin is called {skill.name}", path, "It is not loaded.")
        return
    r.skills.append(Component(skill.name, skill, r.at(path)))


def _command_place(r: Reading, directory: str) -> None:
    if os.path.isfile(f"{directory}/{SKILL_FILE}"):
        _single(r, directory)
    else:
        _command_tree(r, directory, (), 0)


def _command_tree(r: Reading, directory: str, folders: tuple[str, ...], depth: int) -> None:
    for name, path, is_dir in _unvisited(r, directory, "commands", depth):
        if not is_dir:
            if name.lower().endswith(".md"):
                _command(r, path, folders, name)
        elif os.path.isfile(f"{path}/{SKILL_FILE}"):
            _skill(r, path, ":".join((*folders, name)), chosen=False)
        else:
            _command_tree(r, path, (*folders, name), depth + 1)


def _command(r: Reading, path: str, folders: tuple[str, ...], file_name: str) -> None:
    if not r.claim(path):
        return
    name = ":".join((r.name, *folders, file_name.removesuffix(".md")))
    command, notes = read_skill(path, name, "", r.at(path), r.plugin)
    r.diagnostics += notes
    if command is not None:
        r.commands.append(Component(name, command, r.at(path)))


def _command_map(r: Reading, entries: dict[str, Any]) -> None:
    """Files first, then the inline ones, as the reference lists them."""
    for name, entry in sorted(entries.items(), key=lambda item: "content" in item[1]):
        full = f"{r.name}:{name}"
        if not name:
            continue
        if "content" in entry:
            origin = r.at(r.origin.path)
            command, notes = skill_from_text(entry["content"], full, origin, plugin=r.plugin, inline=True)
        else:
            path = locate(r, entry["source"], "commands")
            if path and os.path.isdir(path):
                _command_place(r, path)
                continue
            if not path or not r.claim(path):
                continue
            origin = r.at(path)
            read, notes = read_skill(path, full, "", origin, r.plugin)
            if read is None:
                r.diagnostics += notes
                continue
            command = read
        r.diagnostics += notes
        r.commands.append(Component(full, msgspec.structs.replace(command, **_overrides(entry)), origin))


def _overrides(entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if entry.get("description"):
        found |= {"description": entry["description"], "described": True}
    for key, field in (
        ("argumentHint", "argument_hint"),
        ("model", "model"),
        ("allowedTools", "allowed_tools"),
    ):
        if key in entry:
            found[field] = entry[key]
    return found


def _unvisited(r: Reading, directory: str, kind: str, depth: int) -> list[tuple[str, str, bool]]:
    """What a directory holds, once: a link may lead back to where the search has been."""
    key = f"{kind} in {directory}"
    if key in r.seen or depth > _DEEPEST:
        return []
    r.seen.add(key)
    return children(r, directory)


def _agent_tree(r: Reading, directory: str, folders: tuple[str, ...], depth: int) -> None:
    for name, path, is_dir in _unvisited(r, directory, "agents", depth):
        if is_dir:
            _agent_tree(r, path, (*folders, name), depth + 1)
        elif name.lower().endswith(".md"):
            _agent(r, path, folders)


def _agent(r: Reading, path: str, folders: tuple[str, ...]) -> None:
    if not r.claim(path):
        return
    agent, notes = read_agent(path, ":".join((r.name, *folders, "")), r.at(path), r.plugin)
    r.diagnostics += notes
    if agent is not None:
        r.agents.append(Component(agent.name, agent, r.at(path)))


def _style_place(r: Reading, path: str) -> None:
    if os.path.isfile(path):
        _style(r, path)
        return
    for name, child, is_dir in children(r, path):
        if name.endswith(".md") and not is_dir:
            _style(r, child)


def _style(r: Reading, path: str) -> None:
    if not r.claim(path):
        return
    style, notes = read_style(path, r.at(path), r.plugin)
    r.diagnostics += notes
    if style is not None:
        r.styles.append(Component(style.name, style, r.at(path)))
