"""Which MCP servers a run has: command line, project, user and local files, plugins; and their start."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.mcp.servers import DYNAMIC, HOSTED, Servers, start_servers
from forge.agent.session import Session
from forge.core.components.catalog import Catalog
from forge.core.components.kinds import PluginRoot
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.jsonfile import read_json
from forge.foundation.paths import Places, trust_key
from forge.foundation.settings import parse_setting_sources
from forge.hosts.configuration import Configuration, config_places
from forge.hosts.options import RunOptions

NOT_YET = "servers of the type ws are not supported by this version"
AIR_GAP = "the setting airGap forbids servers at an address"
_USABLE = ("stdio", "http", "sse")
NO_HOST = "it is inside a host program, and none has introduced itself"
_ALL = ("user", "project", "local")


class Entry(msgspec.Struct, frozen=True):
    """A server as configured. `config` is written by others: any value."""

    name: str
    config: Any
    source: str
    plugin: PluginRoot | None = None


class _State(msgspec.Struct, rename="camel"):
    """The parts of the reference's state file that name servers; the rest is skipped unread."""

    mcp_servers: Any = None
    projects: dict[str, msgspec.Raw] = {}


def give_servers(session: Session, o: RunOptions, c: Configuration) -> None:
    """Starts the servers of a run beside everything else; without any this costs two looks at the disk."""
    entries = configured_servers(o, c, session.parts.catalog)
    if not entries:
        return
    config = import_module("forge.core.mcp.config")
    kinds = {e.name: config.transport(e.config) for e in entries if e.name not in config.RESERVED}
    usable = [e for e in entries if kinds.get(e.name) in _usable(c)]
    others = [e for e in entries if kinds.get(e.name) not in (None, "", *_usable(c))]
    if not usable and not others:
        return
    start_servers(session, [_server(e, session, c) for e in usable], [_unusable(e) for e in others])


def chosen_server(session: Session, c: Configuration, name: str, config: dict[str, Any]) -> Any:
    """A server the host adds while the session runs; UsageError if it cannot be used."""
    rules = import_module("forge.core.mcp.config")
    kind = rules.transport(config)
    if kind == "sdk":
        return hosted_server(session, c, name)
    if kind not in _usable(c) or name in rules.RESERVED:
        wrong = "neither a command nor a type with an address is given"
        raise UsageError(_objection(kind) if kind else wrong)
    if not import_module("forge.hosts.mcp.policy").permitted(name, config, c):
        raise UsageError("it is not permitted on this machine")
    return _server(Entry(name, config, DYNAMIC), session, c)


def hosted_server(session: Session, c: Configuration, name: str, manifest: Any = None) -> Any:
    """A server inside the host program; `manifest` is what the host has told about it."""
    mine = session.keep(Servers)
    mine.unusable = [row for row in mine.unusable if row["name"] != name]
    launch = import_module("forge.core.mcp.config").hosted(name, c.env, session.situation.start_dir)
    exchange = import_module("forge.agent.mcp.asking").exchange(session, name)
    opener = import_module("forge.core.mcp.hosted").open_hosted(
        exchange, manifest if isinstance(manifest, dict) else None
    )
    made = import_module("forge.core.mcp.server").McpServer
    return made(launch, HOSTED, {"type": HOSTED, "name": name}, _asker(session), opener)


def _server(entry: Entry, session: Session, c: Configuration) -> Any:
    made = import_module("forge.core.mcp.server").McpServer
    return made(_launch(entry, session, c), entry.source, entry.config, _asker(session))


def _asker(session: Session) -> Any:
    return import_module("forge.agent.mcp.asking").asker(session)


def configured_servers(o: RunOptions, c: Configuration, catalog: Catalog) -> list[Entry]:
    """All servers, of two with one name the nearer one: command line, local, project, user, plugin.

    A file of the machine's owner takes the place of all others, and lists may forbid some.
    """
    found = _all_servers(o, c, catalog)
    if not found and not any(os.path.isdir(folder) for folder in c.places.managed_dirs):
        return []
    policy = import_module("forge.hosts.mcp.policy")
    owned = policy.own_file(c)
    if owned is not None:
        found = {name: Entry(name, entry, "enterprise") for name, entry in owned.items()}
    return [entry for entry in found.values() if policy.permitted(entry.name, entry.config, c)]


def _all_servers(o: RunOptions, c: Configuration, catalog: Catalog) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    if not (o.strict_mcp_config or o.bare):
        if not o.safe_mode:
            apart = {os.path.realpath(path) for path in o.plugin_dir_no_mcp}
            brought = [p for p in catalog.servers if not apart or _root(p.value.plugin) not in apart]
            found |= {p.name: Entry(p.name, p.value.config, "plugin", p.value.plugin) for p in brought}
        found |= _files(o, c)
    found |= {name: Entry(name, entry, DYNAMIC) for name, entry in named_servers(o.mcp_config, c).items()}
    return found


def _root(plugin: PluginRoot | None) -> str:
    return os.path.realpath(plugin.root) if plugin is not None else ""


def named_servers(values: list[str], c: Configuration) -> dict[str, Any]:
    """The servers of --mcp-config; UsageError with everything that is wrong."""
    found: dict[str, Any] = {}
    wrong: list[str] = []
    for value in values:
        content = _content(value, c.places.cwd)
        servers = content.get("mcpServers") if isinstance(content, dict) else None
        if isinstance(content, str):
            wrong.append(content)
        elif isinstance(servers, dict):
            found |= servers
        else:
            given = isinstance(content, dict) and "mcpServers" in content
            wrong.append(
                "mcpServers: Invalid input: expected record, received "
                + (_kind(servers) if given else "undefined")
            )
    if wrong:
        raise UsageError("\n".join(["Error: Invalid MCP configuration:", *wrong]))
    return found


def _content(value: str, cwd: str) -> Any:
    """The value itself if it is JSON, otherwise that of the file it names; a text says what is wrong."""
    if value.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(value)
        except NOT_JSON:
            pass  # then it can only be a name
    path = os.path.join(cwd, value)
    try:
        with open(path, "rb") as file:
            content = msgspec.json.decode(file.read())
    except OSError:
        return f"MCP config file not found: {path}"
    except NOT_JSON:
        return "MCP config is not a valid JSON"
    return content if isinstance(content, dict) else {}


def _kind(value: Any) -> str:
    kinds = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return kinds.get(type(value), "null")


def _files(o: RunOptions, c: Configuration) -> dict[str, Entry]:
    sources: Collection[str] = _ALL
    if o.setting_sources is not None:
        sources = parse_setting_sources(o.setting_sources)
    user, local = _state(c.places) if {"user", "local"} & set(sources) else ({}, {})
    found: dict[str, Entry] = {}
    if "user" in sources:
        found |= {name: Entry(name, entry, "user") for name, entry in user.items()}
    if "project" in sources:
        off = c.settings.get("disabledMcpjsonServers", [])
        project = _project(config_places(o, c.env, c.places).cwd)
        found |= {name: Entry(name, entry, "project") for name, entry in project.items() if name not in off}
    if "local" in sources:
        found |= {name: Entry(name, entry, "local") for name, entry in local.items()}
    return found


def _project(cwd: str) -> dict[str, Any]:
    path = os.path.join(cwd, ".mcp.json")
    if not os.path.isfile(path):
        return {}
    try:
        content, _ = read_json(path)
    except (OSError, ConfigError):
        return {}
    return _record(content.get("mcpServers")) if isinstance(content, dict) else {}


def _state(p: Places) -> tuple[dict[str, Any], dict[str, Any]]:
    """The servers of the user, and those of the user for this project."""
    try:
        with open(p.claude_state, "rb") as file:
            state = msgspec.json.decode(file.read().removeprefix(b"\xef\xbb\xbf"), type=_State)
        entry = state.projects.get(trust_key(p)) or state.projects.get(p.cwd)
        own = msgspec.json.decode(entry) if entry is not None else {}
    except (OSError, *NOT_JSON):
        return {}, {}
    return _record(state.mcp_servers), _record(own.get("mcpServers") if isinstance(own, dict) else None)


def _record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _launch(entry: Entry, session: Session, c: Configuration) -> Any:
    """How a server is started; what belongs to a plugin knows where that is."""
    config, project = entry.config, session.situation.start_dir
    env = {**c.env, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session.id}
    env |= {"CLAUDE_PROJECT_DIR": project, "FORGE_PROJECT_DIR": project}
    env.setdefault("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
    if entry.plugin is not None:
        variables = import_module("forge.core.plugins.variables")
        env |= variables.plugin_environment(entry.plugin, project)
        config = variables.expand(config, entry.plugin, project)
        if entry.plugin.data:
            os.makedirs(entry.plugin.data, mode=0o700, exist_ok=True)
    rules = import_module("forge.core.mcp.config")
    make = rules.launch if rules.transport(config) == "stdio" else rules.remote
    return make(entry.name, config, env, project)


def _usable(c: Configuration) -> tuple[str, ...]:
    return ("stdio",) if c.settings.get("airGap", False) is True else _USABLE


def _objection(kind: str) -> str:
    return NO_HOST if kind == HOSTED else AIR_GAP if kind in _USABLE else NOT_YET


def _unusable(entry: Entry) -> dict[str, Any]:
    inside = entry.config.get("type") == HOSTED
    row = {"name": entry.name, "status": "failed", "source": HOSTED if inside else entry.source}
    shown = import_module("forge.core.mcp.config").shown(entry.config)
    return {**row, "config": shown, "error": _objection(str(entry.config.get("type")))}
