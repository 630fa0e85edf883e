"""The text of a skill for the model: arguments, then variables, then the places where commands run."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from forge.core.components.arguments import fill_arguments
from forge.core.components.fields import text_of
from forge.core.components.kinds import PluginRoot, Skill

_VARIABLE = re.compile(r"\$\{(?:(?:CLAUDE|FORGE)_([A-Z_]+)|user_config\.([A-Za-z_][A-Za-z0-9_]*))\}")
_SHELL = re.compile(r"```!(?P<fence>.*?)```|(?:^|(?<=\s))!`(?P<inline>[^`]+)`", re.DOTALL | re.MULTILINE)


class Piece(msgspec.Struct, frozen=True):
    """A part of a rendered text; with a `command` its output takes the place of `text`."""

    text: str
    command: str = ""


class Surroundings(msgspec.Struct, frozen=True):
    """What variables in texts can refer to."""

    session_id: str = ""
    project_dir: str = ""
    effort: str = ""


def render(skill: Skill, body: str, arguments: str, around: Surroundings) -> list[Piece]:
    """The body of a skill as it was called; commands in it are found, not run."""
    filled = fill_arguments(body, arguments, skill.arguments)
    return shell_pieces(fill_variables(filled, around, skill.plugin, skill.root))


def prefix(skill: Skill) -> str:
    """What goes before the body of a skill that has a directory."""
    return f"Base directory for this skill: {skill.root}\n\n" if skill.root else ""


def typed_message(name: str, arguments: str) -> str:
    """The block that tells the model which command the user typed."""
    head = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
    return f"{head}\n<command-args>{arguments}</command-args>" if arguments else head


def allowed_tools(skill: Skill, around: Surroundings) -> list[str]:
    """The tools a skill allows, with variables in their rules replaced."""
    return [fill_variables(tool, around, skill.plugin, skill.root) for tool in skill.allowed_tools]


def fill_variables(
    text: str, around: Surroundings, plugin: PluginRoot | None = None, skill_dir: str = ""
) -> str:
    """Replaces `${CLAUDE_…}` and `${user_config.…}`; what is not known stays as written."""
    if "${" not in text:
        return text
    known: dict[str, str] = {
        "SESSION_ID": around.session_id,
        "PROJECT_DIR": around.project_dir,
        "EFFORT": around.effort,
        "SKILL_DIR": skill_dir,
        "PLUGIN_ROOT": plugin.root if plugin else "",
        "PLUGIN_DATA": plugin.data if plugin else "",
    }

    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return known.get(match[1]) or match[0]
        return _option(plugin, match[2]) or match[0]

    return _VARIABLE.sub(replaced, text)


def shell_pieces(text: str) -> list[Piece]:
    """The text cut into what stays and the commands whose outputs are to be put in."""
    pieces: list[Piece] = []
    at = 0
    for match in _SHELL.finditer(text):
        command = (match["fence"] or match["inline"] or "").strip()
        if not command:
            continue
        if match.start() > at:
            pieces.append(Piece(text[at : match.start()]))
        pieces.append(Piece(match[0], command))
        at = match.end()
    return [*pieces, Piece(text[at:])] if at < len(text) else pieces


def _option(plugin: PluginRoot | None, key: str) -> str:
    """A saved option; defaults of the manifest do not count in texts."""
    if plugin is None:
        return ""
    if key in plugin.sensitive:
        return f"[sensitive option '{key}' not available in skill content]"
    return _option_text(plugin.options.get(key))


def _option_text(value: Any) -> str:
    return ",".join(text_of(item) for item in value) if isinstance(value, list) else text_of(value)
