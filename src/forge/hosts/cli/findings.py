"""Collects what `forge doctor` reports: what was loaded from where, and what was ignored and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from shutil import which
from typing import Any

import msgspec

from forge.agent.toolset import Circumstances, absence
from forge.core.model import ModelCard
from forge.core.models.providers import read_providers
from forge.core.shell.builtin import shell_tools
from forge.core.tools.builtin import builtin_tools
from forge.foundation.errors import ForgeError
from forge.foundation.origin import Diagnostic, Severity
from forge.foundation.paths import Places, find_places, projects_dir, trust_key
from forge.foundation.permissions.decide import removed
from forge.foundation.system.facts import os_version
from forge.foundation.trust import read_trust
from forge.hosts.cli.component_list import Row, all_rows
from forge.hosts.cli.model_choice import Chosen, choose
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.offer import ON_DEMAND, offered
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components
from forge.version import COMPATIBLE_WITH, VERSION

# What each program is for; the doctor says what is lost without it.
PROGRAMS = {
    "bash": "runs commands",
    "git": "tells the model about the repository",
    "rg": "searches",
    "claude": "the reference program, not needed",
}
NEEDED = frozenset({"bash", "rg"})


class File(msgspec.Struct, frozen=True):
    """A settings file that counts."""

    scope: str
    path: str
    dialect: str
    keys: list[str]


class RuleRow(msgspec.Struct, frozen=True):
    behavior: str
    rule: str
    source: str


class ToolRow(msgspec.Struct, frozen=True):
    name: str
    offered: bool
    why: str = ""


class Sessions(msgspec.Struct, frozen=True):
    directory: str
    count: int
    size: int


class Problem(msgspec.Struct, frozen=True):
    severity: str
    text: str


class Report(msgspec.Struct, frozen=True):
    """Everything the doctor found."""

    forge: dict[str, str]
    places: Places
    trusted: bool
    trust_key: str
    programs: dict[str, str]
    sessions: Sessions
    hook_files: list[str]
    problems: list[Problem]
    settings: list[File] = []
    mode: str = ""
    rules: list[RuleRow] = []
    directories: list[str] = []
    env_set: list[str] = []
    env_ignored: list[str] = []
    model: str = ""
    model_why: str = ""
    key_source: str = ""
    tools: list[ToolRow] = []
    components: list[Row] = []


def examine(o: RunOptions, env: Mapping[str, str], cwd: str) -> Report:
    """Looks at everything a run in `cwd` would load; never fails because of what it finds."""
    places = find_places(env, cwd)
    trusted, trust_notes = read_trust(places)
    programs = {name: _program(name, env) for name in PROGRAMS}
    report = Report(
        forge=_versions(),
        places=places,
        trusted=trusted,
        trust_key=trust_key(places),
        programs=programs,
        sessions=_sessions(projects_dir(places)),
        hook_files=list(_hook_files(places)),
        problems=[*map(_told, trust_notes), *_missing(programs)],
    )
    try:
        c = load_configuration(o, env, cwd)
    except ForgeError as error:
        return msgspec.structs.replace(report, problems=[*report.problems, Problem("error", str(error))])
    return _configured(report, o, c)


def _configured(report: Report, o: RunOptions, c: Configuration) -> Report:
    chosen = choose(o, c)
    _, provider_notes = read_providers(c.settings.get)
    components, component_notes = _components(o, c)
    notes = [_told(note) for note in (*c.diagnostics, *provider_notes)] + component_notes
    notes += [Problem("warning", note) for note in c.notes]
    if chosen.problem:
        notes.append(Problem("error" if chosen.named else "warning", chosen.problem))
    return msgspec.structs.replace(
        report,
        settings=[File(la.scope.value, la.path, la.dialect, list(la.data)) for la in c.settings.layers],
        mode=c.mode,
        rules=[RuleRow(rule.behavior, rule.text, _source(c, rule.behavior, rule.text)) for rule in c.rules],
        directories=c.directories,
        env_set=_variables(c, ignored=False),
        env_ignored=_variables(c, ignored=True),
        model=chosen.choice.card.ref if chosen.choice else "",
        model_why=chosen.why,
        key_source=chosen.choice.key_source if chosen.choice else "",
        tools=_tools(o, c, chosen),
        components=components,
        problems=[*report.problems, *notes],
    )


def _components(o: RunOptions, c: Configuration) -> tuple[list[Row], list[Problem]]:
    """Every component a run would have, and everything that is wrong with them."""
    try:
        found = Components(o, c)
    except ForgeError as error:
        return [], [Problem("error", str(error))]
    return all_rows(found.catalog), [_told(note) for note in found.diagnostics]


def _versions() -> dict[str, str]:
    return {
        "version": VERSION,
        "compatible with": f"Claude Code {COMPATIBLE_WITH}",
        "python": f"{sys.version.split()[0]} at {sys.executable}",
        "system": os_version(),
    }


def _program(name: str, env: Mapping[str, str]) -> str:
    """Where a program is: on the PATH, or brought along with Forge."""
    beside = os.path.dirname(sys.executable)
    return which(name, path=env.get("PATH")) or which(name, path=beside) or ""


def _missing(programs: dict[str, str]) -> Iterator[Problem]:
    for name in sorted(NEEDED):
        if not programs[name]:
            yield Problem(
                "error", f"{name} was not found; without it Forge cannot do what it is for: {PROGRAMS[name]}."
            )


def _source(c: Configuration, behavior: str, text: str) -> str:
    """The file a rule is written in; the same rule may be in several, the strongest is named."""
    for layer in reversed(c.settings.layers):
        listed = layer.data.get("permissions", {}).get(behavior) or []
        if any(isinstance(each, str) and each.strip() == text for each in listed):
            return str(layer.origin)
    return "the command line"


def _variables(c: Configuration, *, ignored: bool) -> list[str]:
    """The names of variables that settings files set, or would like to set."""
    left_out = {(note.origin.path, note.key) for note in c.diagnostics}
    named = [(layer.path, name) for layer in c.settings.layers for name in layer.data.get("env", {})]
    return sorted({name for path, name in named if ((path, f"env.{name}") in left_out) is ignored})


def _tools(o: RunOptions, c: Configuration, chosen: Chosen) -> list[ToolRow]:
    tools = sorted((*builtin_tools(), *shell_tools()), key=lambda tool: tool.name)
    card = chosen.choice.card if chosen.choice else ModelCard("none", "none", "none")
    shown = offered(o, c, card, [tool.name for tool in tools])
    where = Circumstances(card, c.env, c.settings.get, o.permission_prompt_tool == "stdio")
    reasons = {tool.name: absence(tool, where) for tool in tools}
    return [
        ToolRow(name, False, reason) if reason else _tool_row(name, o, c, offered=name in shown)
        for name, reason in reasons.items()
    ]


def _tool_row(name: str, o: RunOptions, c: Configuration, *, offered: bool) -> ToolRow:
    if removed(name, c.rules):
        return ToolRow(name, False, "a deny rule names it")
    if offered:
        return ToolRow(name, True)
    if o.tools is not None or o.bare:
        return ToolRow(name, False, "not among the tools of the command line")
    if name in ON_DEMAND:
        return ToolRow(
            name, False, "this model searches with Bash (to offer them, use --tools or an allow rule)"
        )
    return ToolRow(name, False, "not offered to this model")


def _sessions(directory: str) -> Sessions:
    count = size = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(folder, name)
            count += name.endswith(".jsonl") and os.path.dirname(folder) == directory
            try:
                size += os.stat(path, follow_symlinks=False).st_size
            except OSError:
                continue
    return Sessions(directory, count, size)


def _hook_files(places: Places) -> Iterator[str]:
    """Files that hold hooks in places this version does not read."""
    for directory in (*places.user_dirs, *places.project_dirs):
        for name in ("hooks.json", os.path.join("hooks", "hooks.json")):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                yield path


def _told(note: Diagnostic) -> Problem:
    return Problem(note.severity.value, str(note))


def summary(report: Report) -> dict[str, Any]:
    """The report for scripts."""
    found: dict[str, Any] = msgspec.to_builtins(report)
    return {"ok": not errors(report), **found}


def errors(report: Report) -> list[Problem]:
    """What has to be put right."""
    return [problem for problem in report.problems if problem.severity == Severity.ERROR.value]
