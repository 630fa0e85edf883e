"""Writes the first files of a new plugin, where both programs load it at the next start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from forge.core.installing.program import run_program
from forge.core.installing.request import Request, pretty
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.layout import is_plain_word
from forge.foundation.atomic import update_text
from forge.foundation.errors import UsageError

PARTS = ("skills", "agents", "commands", "hooks", "mcp", "lsp", "output-style")
_TODO = "TODO: say in one sentence when this is useful."


def init(request: Request, context: Context) -> Outcome:
    """`init NAME [--with PART…]`, also called `new`."""
    name = request.word("name")
    if any(char.isspace() for char in name):
        reason = 'Plugin name cannot contain spaces. Use kebab-case (e.g., "my-plugin")'
        raise PluginFailure(f'Invalid plugin name "{name}": {reason}', "invalid_name")
    if not is_plain_word(name):
        raise PluginFailure(
            f'Invalid plugin name "{name}": use letters, digits, ".", "_" and "-".', "invalid_name"
        )
    parts = [part for text in request.texts("--with") for part in text.split(",") if part]
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"error: {part!r} is not one of: {', '.join(PARTS)}")
    root = os.path.join(context.places.claude_dir, "skills", name)
    place = os.path.join(root, ".claude-plugin")
    if os.path.exists(place) and not request.on("--force"):
        raise PluginFailure(f"{place} already exists. Use --force to overwrite.", "already_exists")
    manifest = _manifest(name, request, context.env)
    files = {".claude-plugin/plugin.json": pretty(manifest), **_files(name, parts)}
    for relative, content in files.items():
        path = os.path.join(root, relative)
        # What the user wrote stays; only the manifest is replaced with --force.
        if not os.path.exists(path) or relative.startswith(".claude-plugin"):
            _write(path, content)
    if request.json:
        return Outcome(
            pretty({"command": "init", "outcome": "ok", "path": root, "files": list(files)}), reload=True
        )
    return Outcome(
        f'✔ Created plugin "{name}" at {root}\n'
        f"  It will auto-load next session as {name}@skills-dir. Run /reload-plugins to load it now.\n"
        f"  Disable: forge plugin disable {name}@skills-dir. Remove: delete the directory.\n",
        reload=True,
    )


def _write(path: str, content: str) -> None:
    update_text(path, lambda _: content, private=False)


def _manifest(name: str, request: Request, env: Mapping[str, str]) -> dict[str, Any]:
    manifest: dict[str, Any] = {
        "name": name,
        "version": "0.1.0",
        "description": request.text("--description") or "TODO: say what this plugin is for",
        "skills": ["./"],
    }
    author = request.text("--author") or _git_config("user.name", env)
    email = request.text("--author-email") or _git_config("user.email", env)
    if author:
        manifest["author"] = {"name": author, **({"email": email} if email else {})}
    return manifest


def _git_config(key: str, env: Mapping[str, str]) -> str:
    try:
        return run_program(["git", "config", "--get", key], os.sep, env, 10.0).out.strip()
    except FileNotFoundError:
        return ""


def _files(name: str, parts: list[str]) -> dict[str, str]:
    files = {
        "SKILL.md": _markdown({"name": name, "description": _TODO}, f"# {name}\n\nTODO: the steps to take.")
    }
    if "skills" in parts:
        head = {"name": "example", "description": _TODO}
        files["skills/example/SKILL.md"] = _markdown(head, "# example\n\nTODO: the steps to take.")
    if "agents" in parts:
        head = {"name": "example", "description": _TODO, "tools": "Read, Grep"}
        files["agents/example.md"] = _markdown(head, "TODO: who this agent is and how it works.")
    if "commands" in parts:
        head = {"description": _TODO, "argument-hint": "[what]"}
        files["commands/example.md"] = _markdown(head, "TODO: what to do with $ARGUMENTS.")
    if "hooks" in parts:
        command = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}"/hooks/on-start.sh'}
        files["hooks/hooks.json"] = pretty({"hooks": {"SessionStart": [{"hooks": [command]}]}})
        files["hooks/on-start.sh"] = (
            "#!/bin/sh\n# The event is on standard input; what is printed becomes context.\n"
        )
    if "mcp" in parts:
        server = {"command": "npx", "args": ["your-mcp-server"]}
        files[".mcp.json"] = pretty({"mcpServers": {"example": server}})
    if "lsp" in parts:
        language = {"command": "example-language-server", "extensionToLanguage": {".example": "example"}}
        files[".lsp.json"] = pretty({"example": language})
    if "output-style" in parts:
        head = {"name": name, "description": _TODO, "keep-coding-instructions": "true"}
        files[f"output-styles/{name}.md"] = _markdown(head, "TODO: how answers should be written.")
    return files


def _markdown(head: dict[str, str], body: str) -> str:
    lines = [f"{key}: {_quoted(value)}" for key, value in head.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


def _quoted(value: str) -> str:
    return f'"{value}"' if ": " in value or value.startswith("[") else value
