"""What a validator says about files of a plugin: skills, commands, agents, hooks, MCP servers."""

from __future__ import annotations

import os
import re
from typing import Any

from forge.core.plugins.hooks_file import file_issues, judge_events
from forge.core.plugins.manifest_shape import MCP_SERVER, is_url
from forge.core.plugins.options import placeholders
from forge.core.plugins.shape import Finding, check, kind_of
from forge.foundation.frontmatter import parse, split
from forge.foundation.origin import Severity

Found = tuple[list[Finding], list[Finding]]

_SHELLS = ("bash", "powershell")
_UNQUOTED = re.compile(r'(?<!["\'{\w])\$\{?CLAUDE_PLUGIN_ROOT\}?')
_BEARER = re.compile(r"(?i)(?:bearer|basic|token)\s+(?!\$\{)\S{20,}")
_LOOPBACK = re.compile(r"(http|ws)://(localhost|127\.|\[::1\]|\$\{)")
_SECRET = re.compile(r"\b(sk-|gh[pousr]_|xox[abp]-|AKIA|glpat-)[A-Za-z0-9_-]{12,}")


def check_text(content: str, kind: str) -> Found:
    """The front matter of a skill, a command or an agent: errors and warnings."""
    if split(content)[0] is None:
        return [], [Finding("frontmatter", "No front matter: put it between two --- lines at the top.")]
    matter = parse(content, "")
    broken = [d for d in matter.diagnostics if d.severity is Severity.ERROR]
    if broken:
        return [Finding("frontmatter", f"{broken[0].message}. All its fields are ignored.")], []
    values = matter.values
    errors, warnings = _field_errors(values), list[Finding]()
    if "metadata" in values and not isinstance(values["metadata"], dict | None):
        got = kind_of(values["metadata"])
        warnings.append(Finding("metadata", f"'metadata' must be a mapping; got {got}. It is ignored."))
    if "description" not in values:
        warnings.append(Finding("description", f"No description: nobody knows when to use this {kind}."))
    return errors, warnings


def _field_errors(values: dict[str, Any]) -> list[Finding]:
    found = []
    description, name = values.get("description"), values.get("name")
    if isinstance(description, list | dict):
        message = f"description must be a string, got {kind_of(description)}. It is ignored."
        found.append(Finding("description", message))
    if name is not None and not isinstance(name, str):
        found.append(Finding("name", f"name must be a string, got {kind_of(name)}."))
    tools = values.get("allowed-tools")
    if isinstance(tools, list) and not all(isinstance(tool, str) for tool in tools):
        found.append(Finding("allowed-tools", "allowed-tools array must contain only strings."))
    elif tools is not None and not isinstance(tools, str | list):
        message = f"allowed-tools must be a string or array of strings, got {kind_of(tools)}."
        found.append(Finding("allowed-tools", message))
    shell = values.get("shell")
    if shell is not None and shell not in _SHELLS:
        found.append(Finding("shell", f"shell must be 'bash' or 'powershell', got '{shell}'."))
    return found


def check_hooks(content: Any, directory: str) -> Found:
    """The content of a hooks file in a directory."""
    wrong = [Finding(".".join(issue.path), issue.message) for issue in file_issues(content)]
    if wrong:
        return wrong, []
    events = content.get("hooks", {})
    judged = judge_events(events)
    errors = [Finding("hooks", message) for message in judged.fatal]
    warnings = [Finding("hooks", message) for message in judged.dropped]
    for event, groups in judged.events.items():
        commands = [hook for group in groups for hook in group["hooks"] if hook.get("type") == "command"]
        for hook in commands:
            if "args" not in hook and _UNQUOTED.search(hook["command"]):
                message = (
                    "A shell command uses ${CLAUDE_PLUGIN_ROOT} without quotes; a blank in it splits words."
                )
                warnings.append(Finding(f"hooks.{event}", message))
    errors += [
        Finding(f"modules.{module}", f"{os.path.normpath(os.path.join(directory, module))}: no such file")
        for module in content.get("modules", ())
        if isinstance(module, str) and not os.path.isfile(os.path.join(directory, module))
    ]
    return errors, warnings


def check_server_file(content: Any, declared: set[str]) -> Found:
    """The content of `.mcp.json`; `declared` are the options of the plugin."""
    wrapped = isinstance(content, dict) and isinstance(content.get("mcpServers"), dict)
    servers = content["mcpServers"] if wrapped else content
    errors: list[Finding] = []
    usable = {}
    for name, config in servers.items() if isinstance(servers, dict) else ():
        place = f"mcpServers.{name}" if wrapped else name
        if not isinstance(config, dict):
            message = f"server config must be an object (got {kind_of(config)}). It is dropped."
            errors.append(Finding(place, message))
        elif check(config, MCP_SERVER):
            field = "command" if config.get("type", "stdio") == "stdio" else "url"
            field = "type" if field == "command" and "command" not in config and "url" in config else field
            got = kind_of(config[field]) if field in config else "undefined"
            message = f"Invalid input: expected string, received {got}. The server is dropped."
            errors.append(Finding(f"{place}.{field}", message))
        else:
            usable[place] = config
    more, warnings = check_servers(usable, declared)
    return errors + more, warnings


def check_servers(servers: dict[str, Any], declared: set[str]) -> Found:
    """Addresses, credentials and options in the configuration of servers, by their places."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for place, config in servers.items():
        for where, value in _texts(config, place):
            unknown = [key for key in placeholders(value) if key not in declared]
            errors += [
                Finding(where, f"references ${{user_config.{key}}}, which userConfig does not declare.")
                for key in unknown
            ]
        url = config.get("url") if isinstance(config, dict) else None
        if isinstance(url, str) and url:
            _check_url(url, f"{place}.url", errors, warnings)
        headers = config.get("headers") if isinstance(config, dict) else None
        for header, value in headers.items() if isinstance(headers, dict) else ():
            if isinstance(value, str) and (_SECRET.search(value) or _BEARER.match(value)):
                message = "looks like a credential, and everyone who installs the plugin can read it."
                warnings.append(Finding(f"{place}.headers.{header}", message))
    return errors, warnings


def _check_url(url: str, place: str, errors: list[Finding], warnings: list[Finding]) -> None:
    if "${" not in url and not is_url(url):
        errors.append(Finding(place, "url is not a valid absolute URL; the server never connects."))
    elif url.startswith(("http://", "ws://")) and not _LOOPBACK.match(url):
        warnings.append(Finding(place, "url is not encrypted and leads to another machine."))


def _texts(value: Any, place: str) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(place, value)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _texts(item, f"{place}.{key}")]
    if isinstance(value, list):
        return [found for n, item in enumerate(value) for found in _texts(item, f"{place}.{n}")]
    return []
