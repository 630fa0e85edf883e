"""SKILL.md files and command files: text → Skill. The body is read again whenever the skill is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from forge.core.components.fields import (
    EFFORTS,
    is_true,
    read_text,
    shorten,
    text_from,
    text_of,
    tool_list,
    word_list,
    wrong,
)
from forge.core.components.kinds import PluginRoot, Skill
from forge.foundation.errors import ForgeError
from forge.foundation.frontmatter import parse, split
from forge.foundation.globs import read_patterns
from forge.foundation.origin import Diagnostic, Origin

SKILL_FILE = "SKILL.md"

_SHELLS = frozenset({"bash", "powershell"})
_HEADING = re.compile(r"^#+\s+")
_LONGEST_GUESS = 100


def read_skill(
    path: str, name: str, root: str, origin: Origin, plugin: PluginRoot | None = None
) -> tuple[Skill | None, list[Diagnostic]]:
    """Reads a skill (`root` is its directory) or a command (`root` is empty)."""
    if origin.path != path:
        origin = msgspec.structs.replace(origin, path=path)
    text, problem = read_text(path, origin)
    if problem:
        return None, [problem]
    return skill_from_text(text, name, origin, root, plugin)


def skill_from_text(
    text: str,
    name: str,
    origin: Origin,
    root: str = "",
    plugin: PluginRoot | None = None,
    *,
    inline: bool = False,
) -> tuple[Skill, list[Diagnostic]]:
    """The skill a text describes; `inline` keeps the body because there is no file to read it from."""
    matter = parse(text, origin.path, origin.scope)
    values = matter.values
    fields: dict[str, Any] = {}
    notes = list(matter.diagnostics)
    for key, value in values.items():
        # Of the two spellings of a key the one with dashes counts.
        if key in _FIELDS and ("_" not in key or key.replace("_", "-") not in values):
            field, read = _FIELDS[key]
            fields[field] = read(value)
        if key in _EXPECTED and value is not None and not _EXPECTED[key][0](value):
            notes.append(wrong(matter, key, _EXPECTED[key][1], origin))
    described = bool(fields.get("description"))
    if not described:
        fields["description"] = _guess(matter.body, is_command=not root)
    # Commands have a second name only in plugins, and never wait for files.
    if root or plugin:
        fields["display"] = _display(values, plugin)
    if not root:
        fields.pop("paths", None)
    if inline:
        fields["inline"] = matter.body
    else:
        fields["path"] = origin.path
    return Skill(name=name, root=root, described=described, plugin=plugin, **fields), notes


def skill_body(skill: Skill) -> str:
    """The instructions of a skill as its file has them now; ForgeError when the file is gone."""
    if skill.inline is not None:
        return skill.inline
    try:
        text = text_from(skill.path)
    except OSError as error:
        message = f"The file of the skill {skill.name} cannot be read: {skill.path}: {error.strerror}"
        raise ForgeError(message, "Put it back, or reload the skills.") from error
    return split(text)[1]


def _display(values: dict[str, Any], plugin: PluginRoot | None) -> str:
    name = text_of(values.get("name")).strip()
    return f"{plugin.name}:{name}" if plugin and name else name


def _hint(value: Any) -> str:
    # `argument-hint: [file]` is a list for YAML and a hint for people.
    if isinstance(value, list):
        return " ".join(f"[{text_of(entry)}]" for entry in value)
    return text_of(value).strip()


def _model(value: Any) -> str:
    name = text_of(value).strip()
    return "" if name == "inherit" else name


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _guess(body: str, *, is_command: bool) -> str:
    """A description from the first line of the body."""
    # Bodies can be long and lines are looked for in every file.
    start = body.lstrip()
    if not start:
        return "Custom command" if is_command else "Skill"
    line = _HEADING.sub("", start.partition("\n")[0].strip())
    # The reference cuts surrogate pairs in half and shows a blank for the rest of one.
    return shorten(line, _LONGEST_GUESS, "...").replace("\ufffd...", " ...")


def _stripped(value: Any) -> str:
    return text_of(value).strip()


def _is_false(value: Any) -> bool:
    return not is_true(value)


def _one_of(known: frozenset[str]) -> Callable[[Any], str]:
    return lambda value: value if isinstance(value, str) and value in known else ""


_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "description": ("description", _stripped),
    "when_to_use": ("when_to_use", _stripped),
    "argument-hint": ("argument_hint", _hint),
    "arguments": ("arguments", word_list),
    "disable-model-invocation": ("model_invocable", _is_false),
    # Whatever is written here and does not say yes counts as a no.
    "user-invocable": ("user_invocable", is_true),
    "allowed-tools": ("allowed_tools", tool_list),
    "disallowed-tools": ("disallowed_tools", tool_list),
    "model": ("model", _model),
    "effort": ("effort", _one_of(EFFORTS)),
    "context": ("fork", lambda value: value == "fork"),
    "agent": ("agent", _stripped),
    "background": ("background", is_true),
    "hooks": ("hooks", _map),
    "paths": ("paths", read_patterns),
    "shell": ("shell", _one_of(_SHELLS)),
}
_FIELDS |= {key.replace("-", "_"): row for key, row in _FIELDS.items() if "-" in key}
_EXPECTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "description": (lambda value: isinstance(value, str | bool | int | float), "text"),
    "hooks": (lambda value: isinstance(value, dict), "a map from events to hooks"),
    "effort": (_one_of(EFFORTS), "low, medium, high, xhigh or max"),
    "shell": (_one_of(_SHELLS), "bash or powershell"),
    "context": (lambda value: value == "fork", "fork"),
    "when-to-use": (lambda value: False, "the spelling when_to_use"),
}
