"""The fields of plugin.json and of its parts, as tables; the order is the order of messages."""

from __future__ import annotations

import re
from typing import Any

from forge.core.plugins.shape import (
    ANY,
    BOOLEAN,
    NUMBER,
    STRING,
    STRING_MAP,
    STRINGS,
    Issue,
    Shape,
    choice,
    filled,
    least,
    one_of,
    prefix,
    soft,
    suffix,
    text,
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB = ("http:", "https:", "ws:", "wss:", "ftp:")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")
_OPTION_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEPENDENCY_TEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._^~-]+)?")
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def is_url(value: str) -> bool:
    """Whether a text is an absolute URL, in the loose sense of browsers."""
    scheme = _SCHEME.match(value)
    if scheme is None:
        return False
    rest = value[scheme.end() :].lstrip("/\\")
    if scheme.group().lower() not in _WEB:
        return True
    return bool(rest) and not re.search(r"[\s<>^|%]", re.split(r"[/?#\\]", rest)[0])


def _plugin_name(name: str) -> list[Issue]:
    found = [] if name else soft("Plugin name cannot be empty")
    if " " in name:
        found += soft('Plugin name cannot contain spaces. Use kebab-case (e.g., "my-plugin")')
    if _CONTROL.search(name):
        found += soft("Plugin name cannot contain control or bidirectional-formatting characters")
    return found


NAME = text(_plugin_name)
PATH = text(prefix("./"))
PATHS = one_of(PATH, Shape("array", items=PATH))
_JSON_FILE = text(prefix("./"), suffix(".json"))
_AGENT_FILE = text(prefix("./"), suffix(".md"))
_SKILL_DIR = text(lambda path: [] if path == "." else prefix("./")(path))
_FILLED = text(filled())

AUTHOR = Shape(
    "object",
    keys={"name": text(filled("Author name cannot be empty")), "email": STRING, "url": STRING},
    required=("name",),
)


def _source_or_content(entry: dict[str, Any]) -> list[Issue]:
    # An empty text counts as none.
    if bool(entry.get("source")) != bool(entry.get("content")):
        return []
    return soft('Command must have either "source" (file path) or "content" (inline markdown), but not both')


# Two kinds of paths in the reference, so a bad one only ever says `Invalid input`.
_COMMAND_PATH = one_of(text(prefix("./"), suffix(".md")), PATH)
COMMAND_ENTRY = Shape(
    "object",
    keys={
        "source": _COMMAND_PATH,
        "content": STRING,
        "description": STRING,
        "argumentHint": STRING,
        "model": STRING,
        "allowedTools": STRINGS,
    },
    rules=(_source_or_content,),
)


def _server(kind: str, **more: Shape) -> Shape:
    keys = {
        "type": choice(kind),
        "url": STRING,
        "headers": STRING_MAP,
        "headersHelper": STRING,
        "timeout": NUMBER,
        **more,
    }
    return Shape("object", keys=keys, required=("type", "url"))


_STDIO_FIELDS = {
    "command": text(filled("Command cannot be empty")),
    "args": STRINGS,
    "env": STRING_MAP,
    "timeout": NUMBER,
}
MCP_SERVER = one_of(
    Shape("object", keys={"type": choice("stdio"), **_STDIO_FIELDS}, required=("command",)),
    *(_server(kind) for kind in ("sse", "http", "streamable-http", "ws", "claudeai-proxy")),
    *(_server(kind, ideName=STRING) for kind in ("sse-ide", "ws-ide")),
    Shape("object", keys={"type": choice("sdk"), "name": STRING}, required=("type", "name")),
)


def is_bundle(path: str) -> bool:
    """Whether a path or an address names a packed server."""
    return path.endswith((".mcpb", ".dxt")) and path.startswith(("./", "http://", "https://"))


def _mcp_source(path: str) -> list[Issue]:
    return [] if is_bundle(path) else prefix("./")(path) + suffix(".json")(path)


_MCP_MAP = Shape("record", items=MCP_SERVER)
_MCP_PATH = text(_mcp_source)


def _lsp_command(command: str) -> list[Issue]:
    if " " not in command or command.startswith("/"):
        return []
    return soft("Command should not contain spaces. Use args array for arguments.")


def _some_language(languages: dict[str, Any]) -> list[Issue]:
    return [] if languages else soft("extensionToLanguage must have at least one mapping")


_MILLISECONDS = Shape("integer", rules=(least(0, beyond=True),))
LSP_SERVER = Shape(
    "object",
    keys={
        "command": text(filled(), _lsp_command),
        "args": Shape("array", items=_FILLED),
        "extensionToLanguage": Shape(
            "record",
            items=_FILLED,
            key_rule=lambda key: len(key) > 1 and key.startswith("."),
            rules=(_some_language,),
        ),
        "transport": choice("stdio socket"),
        "env": STRING_MAP,
        "initializationOptions": ANY,
        "settings": ANY,
        "workspaceFolder": STRING,
        "startupTimeout": _MILLISECONDS,
        "shutdownTimeout": _MILLISECONDS,
        "requestTimeout": _MILLISECONDS,
        "restartOnCrash": BOOLEAN,
        "maxRestarts": Shape("integer", rules=(least(0),)),
        "diagnostics": BOOLEAN,
    },
    required=("command", "extensionToLanguage"),
    strict=True,
)
LSP_MAP = Shape("record", items=LSP_SERVER)


def _when(when: str) -> list[Issue]:
    if when == "always":
        return []
    named = when.removeprefix("on-skill-invoke:")
    found = prefix("on-skill-invoke:")(when)
    return found if named and not found else found + soft("on-skill-invoke: must specify a skill name")


def _unique_names(monitors: list[Any]) -> list[Issue]:
    names = [monitor["name"] for monitor in monitors]
    return [] if len(set(names)) == len(names) else soft("Monitor names must be unique within a plugin")


_MONITOR = Shape(
    "object",
    keys={"name": _FILLED, "command": _FILLED, "description": _FILLED, "when": text(_when)},
    required=("name", "command", "description"),
    strict=True,
)
MONITORS = Shape("array", items=_MONITOR, rules=(_unique_names,))


def _some_choice(choices: list[Any]) -> list[Issue]:
    if len({str(choice).lower() for choice in choices}) < len(choices):
        return soft("options cannot repeat a value (in any letter case)")
    return [] if choices else soft("options needs at least one value")


def _choices(option: dict[str, Any]) -> list[Issue]:
    choices = option.get("options")
    if not isinstance(choices, list):
        return []
    if option["type"] != "string" or option.get("multiple") or option.get("sensitive"):
        rule = 'options is only for a field of type "string" that is neither multiple nor sensitive'
        return soft(rule, "options")
    if "default" in option:
        fits = option["default"] in choices
        return [] if fits else soft(f"default must be one of the options: {', '.join(choices)}", "default")
    if option.get("required"):
        return []
    return soft("a field with options needs a default among them, or required: true", "default")


OPTION = Shape(
    "object",
    keys={
        "type": choice("string number boolean directory file"),
        "title": STRING,
        "description": STRING,
        "required": BOOLEAN,
        "default": one_of(STRING, NUMBER, BOOLEAN, STRINGS),
        "multiple": BOOLEAN,
        "sensitive": BOOLEAN,
        "min": NUMBER,
        "max": NUMBER,
        "options": Shape("array", items=STRING, rules=(_some_choice,)),
    },
    required=("type", "title", "description"),
    strict=True,
    rules=(_choices,),
)
_CHANNEL = Shape(
    "object",
    keys={"server": _FILLED, "displayName": STRING, "userConfig": Shape("record", items=OPTION)},
    required=("server",),
    strict=True,
)


def _matching(pattern: re.Pattern[str]) -> Shape:
    return text(lambda value: [] if pattern.fullmatch(value) else [Issue((), "Invalid input")])


_DEPENDENCY_SHAPE = one_of(
    _matching(_DEPENDENCY_TEXT),
    Shape("object", keys={"name": _matching(_PART), "marketplace": _matching(_PART)}, required=("name",)),
)


def _types_file(path: str) -> list[Issue]:
    if not path.startswith("./"):
        return prefix("./")(path)
    right = path.endswith(".d.ts")
    return [] if right else soft("types must name a TypeScript declaration file ending in '.d.ts'")


_THEMES, _MONITOR_PLACES = PATHS, one_of(_JSON_FILE, MONITORS)
EXPERIMENTAL = {"themes": _THEMES, "monitors": _MONITOR_PLACES, "evals": one_of(STRING, STRINGS)}

FIELDS: dict[str, Shape] = {
    "$schema": STRING,
    "name": NAME,
    "version": STRING,
    "displayName": STRING,
    "description": STRING,
    "author": AUTHOR,
    "homepage": text(lambda value: [] if is_url(value) else soft("Invalid URL")),
    "repository": STRING,
    "license": STRING,
    "keywords": STRINGS,
    "defaultEnabled": BOOLEAN,
    "dependencies": Shape("array", items=_DEPENDENCY_SHAPE),
    "hooks": one_of(_JSON_FILE, Shape("record"), Shape("array", items=one_of(_JSON_FILE, Shape("record")))),
    "commands": one_of(
        _COMMAND_PATH, Shape("array", items=_COMMAND_PATH), Shape("record", items=COMMAND_ENTRY)
    ),
    "agents": one_of(_AGENT_FILE, Shape("array", items=_AGENT_FILE)),
    "skills": one_of(_SKILL_DIR, Shape("array", items=_SKILL_DIR)),
    "outputStyles": PATHS,
    "workflows": PATHS,
    "channels": Shape("array", items=_CHANNEL),
    "mcpServers": one_of(_MCP_PATH, _MCP_MAP, Shape("array", items=one_of(_MCP_PATH, _MCP_MAP))),
    "lspServers": one_of(_JSON_FILE, LSP_MAP, Shape("array", items=one_of(_JSON_FILE, LSP_MAP))),
    "settings": Shape("record"),
    "types": text(_types_file),
    "userConfig": Shape("record", items=OPTION, key_rule=lambda key: _OPTION_KEY.fullmatch(key) is not None),
    "themes": _THEMES,
    "monitors": _MONITOR_PLACES,
}
MANIFEST = Shape("object", keys=FIELDS, required=("name",))

# Manifests of Forge itself and the bare form need no name; an author may be a text, agents a directory.
OPEN_MANIFEST = Shape("object", keys={**FIELDS, "author": one_of(STRING, AUTHOR), "agents": PATHS})
