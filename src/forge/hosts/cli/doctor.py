"""`forge doctor`: a page that says what was loaded from where, what was ignored and why."""

from __future__ import annotations

import os

from forge.hosts.cli.command import JSON, NO_COLOR, Command, print_json, read_arguments, take_words
from forge.hosts.cli.findings import PROGRAMS, Report, errors, examine, summary
from forge.hosts.cli.model_choice import key_words
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.options import read_options

COMMAND = Command(
    name="doctor",
    usage=("doctor [--json]",),
    about=(
        "Shows how Forge would run in this directory: versions, settings files, trust, permission rules, "
        "model, tools, programs and sessions, each with where it comes from; and everything that was "
        "ignored, with the reason. Changes nothing and contacts nobody. Ends with 1 when something has to be "
        "put right."
    ),
    flags=(JSON, NO_COLOR),
    examples=(
        ("forge doctor", "look at everything"),
        ("forge --settings x.json doctor", "what would this file change?"),
        ("forge doctor --json", "for scripts and bug reports"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints the report; 1 when there are errors."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    take_words(COMMAND, given.words, ())
    screen = open_screen(env, plain=given.on("no_color"))
    report = examine(read_options(line), env, os.getcwd())
    if given.on("json"):
        print_json(summary(report))
    else:
        for section in (
            _forge,
            _settings,
            _permissions,
            _model,
            _tools,
            _components,
            _surroundings,
            _problems,
        ):
            section(report, screen)
    return 1 if errors(report) else 0


def _forge(report: Report, screen: Screen) -> None:
    screen.line("Forge", "bold")
    screen.table(list(report.forge.items()), styles={0: "dim"})


def _settings(report: Report, screen: Screen) -> None:
    screen.heading("Settings, the weakest first")
    rows = [(file.scope, f"{file.path}: {', '.join(file.keys) or 'empty'}") for file in report.settings]
    rows = rows or [("none", "everything has its default value")]
    trusted = (
        "trusted" if report.trusted else "not trusted: its files may forbid, but not allow (forge trust)"
    )
    rows.append(("workspace", f"{report.trust_key}, {trusted}"))
    if report.env_set:
        rows.append(("set", f"the variables {', '.join(report.env_set)}"))
    if report.env_ignored:
        rows.append(("ignored", f"the variables {', '.join(report.env_ignored)}"))
    screen.table(rows, styles={0: "dim"})


def _permissions(report: Report, screen: Screen) -> None:
    screen.heading("Permissions")
    screen.table(
        [("mode", report.mode or "unknown"), *(("also in", d) for d in report.directories)], styles={0: "dim"}
    )
    order = ("deny", "ask", "allow")
    rows = sorted(report.rules, key=lambda rule: order.index(rule.behavior))
    if rows:
        screen.table([(rule.behavior, rule.rule, rule.source) for rule in rows], styles={0: "dim"})
    else:
        screen.line("  no rules")


def _model(report: Report, screen: Screen) -> None:
    screen.heading("Model")
    if not report.model:
        screen.line("  none can be used yet (see below)", "yellow")
        return
    rows = [("model", report.model), ("because", report.model_why), ("key", key_words(report.key_source))]
    screen.table(rows, styles={0: "dim"})


def _tools(report: Report, screen: Screen) -> None:
    screen.heading("Tools")
    rows = [("offered", ", ".join(tool.name for tool in report.tools if tool.offered) or "none")]
    hidden: dict[str, list[str]] = {}
    for tool in report.tools:
        if not tool.offered:
            hidden.setdefault(tool.why, []).append(tool.name)
    rows += [("hidden", f"{', '.join(names)}: {why}") for why, names in hidden.items()]
    screen.table(rows, styles={0: "dim"})


def _components(report: Report, screen: Screen) -> None:
    screen.heading("Components")
    for row in report.components:
        screen.say(f"{row.kind} {row.name}: {row.origin}", "", first="  ", then="    ")
        for hidden in row.shadows:
            screen.say(f"hides {hidden}", "dim", first="    ", then="      ")


def _surroundings(report: Report, screen: Screen) -> None:
    screen.heading("Surroundings")
    rows = [("directory", report.places.cwd), ("repository", report.places.git_root or "none")]
    rows.append(("own files", report.places.forge_home))
    rows += [(name, path or f"not found ({PROGRAMS[name]})") for name, path in report.programs.items()]
    kept = report.sessions
    rows.append(("sessions", f"{kept.count} ({_bytes(kept.size)}) in {kept.directory}"))
    rows += [("hooks", f"{path}: noticed, but hooks are not read from there") for path in report.hook_files]
    screen.table(rows, styles={0: "dim"})


def _problems(report: Report, screen: Screen) -> None:
    wrong = errors(report)
    others = [problem for problem in report.problems if problem not in wrong]
    screen.heading(_verdict(len(wrong), len(others)))
    for problem in wrong:
        screen.say(problem.text, "red", first=f"  {screen.signs['no']} ", then="    ")
    for problem in others:
        screen.say(problem.text, "yellow", first="  ! ", then="    ")


def _verdict(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "No problems."
    counted = [
        f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((errors, "error"), (warnings, "warning")) if n
    ]
    return f"Problems: {', '.join(counted)}"


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} GB"
