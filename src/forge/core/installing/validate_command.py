"""`validate`: the verdict about a plugin or marketplace, as JSON or as text."""

from __future__ import annotations

import os

import msgspec

from forge.core.installing.request import Request, pretty
from forge.core.plugins.context import Context, Outcome
from forge.core.plugins.shape import Finding
from forge.core.plugins.validate import Part, Report, validate


def validate_command(request: Request, context: Context) -> Outcome:
    """`validate PATH [--strict] [--json]`; ends with 1 when something is wrong."""
    path = os.path.join(context.places.cwd, os.path.expanduser(request.word("path")))
    report = validate(path, request.on("--strict"))
    code = 0 if report.success else 1
    if request.json:
        return Outcome(pretty(msgspec.to_builtins(report)), code=code)
    return Outcome(_text(report), code=code)


def _text(report: Report) -> str:
    kind = f"{report.manifest.type} manifest" if report.manifest is not None else "components in"
    lines = [f"Validating {kind}: {report.target}", ""]
    if report.manifest is not None:
        lines += _findings(report.manifest)
    for part in report.contents:
        if part.errors or part.warnings or part.notes:
            lines += [f"{part.type}: {part.file}", "", *_findings(part)]
    warned = any(
        part.warnings for part in [*([report.manifest] if report.manifest else []), *report.contents]
    )
    if not report.success:
        lines.append("✘ Validation failed")
    else:
        lines.append("✔ Validation passed with warnings" if warned else "✔ Validation passed")
    return "\n".join(lines) + "\n"


def _findings(part: Part) -> list[str]:
    lines = _group("✘", "error", part.errors) + _group("⚠", "warning", part.warnings)
    return lines + [f"  {note}" for note in part.notes]


def _group(sign: str, word: str, findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    count = f"{len(findings)} {word}{'' if len(findings) == 1 else 's'}"
    return [f"{sign} Found {count}:", "", *(f"  ❯ {finding}" for finding in findings), ""]
