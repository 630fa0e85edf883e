"""cmd.exe: a small splitter; what it does not know is asked about."""

from __future__ import annotations

import re

from forge.core.shell.analysis.gate import suspicious
from forge.core.shell.analysis.powershell import analyse_nested
from forge.core.shell.analysis.record import UNANALYSABLE, Finding, Step, Verdict
from forge.core.shell.analysis.tables import names, table
from forge.core.shell.analysis.windows_paths import FILE, TREE, WRITE, windows_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.surroundings import Surroundings


def analyse_cmd(text: str, around: Surroundings) -> Verdict:
    """The judgement of a cmd.exe command text."""
    findings: list[Finding] = []
    steps: list[Step] = []
    if suspicious(text) or "^" in text or text.count('"') % 2:
        findings.append(_finding("C7", "escapes of cmd.exe are not followed", text, UNANALYSABLE))
    for part in re.split(r"&&|\|\||[&|\n]", text.replace("^", "")):
        words = re.findall(r'"[^"]*"|[^\s"]+', part)
        if words:
            steps.append(Step(words, (0, len(text)), 0))
            findings += [_finding(code, reason, text) for code, reason in _judge(words)]
    return Verdict(text, findings, steps, None)


def _finding(code: str, reason: str, text: str, effect: str = "run") -> Finding:
    found = Finding(code, reason, effect)
    found.span = (0, len(text))
    return found


def _judge(words: list[str]) -> list[tuple[str, str]]:
    name = words[0].strip('"').lower().rpartition("\\")[2].removesuffix(".exe").lstrip("@(")
    flags = {w.lower() for w in words[1:] if w.startswith("/")}
    operands = [w for w in words[1:] if not w.startswith(("/", ">"))]
    found = _redirects(words)
    return found + _by_name(name, words[1:], flags, operands)


def _by_name(name: str, words: list[str], flags: set[str], operands: list[str]) -> list[tuple[str, str]]:
    if "%" in name:
        return [("C7", "the program to run is not known before")]
    if name in ("rd", "rmdir", "del", "erase"):
        return _remove(flags, operands)
    if name in ("powershell", "pwsh"):
        return _powershell(words)
    if name in ("cmd", "call", "start", "for", "if"):
        return [*(_judge(operands) if operands and name != "for" else []), ("C6", "runs another command")]
    if name in names("powershell", "cmd_writes"):
        return [(WRITE[windows_kind(o)], f"writes {o}") for o in operands[-1:]]
    reads = name in names("powershell", "cmd_reads")
    row = ["R1", "only reads"] if reads else table("powershell")["commands"].get(name, ["W4", f"runs {name}"])
    return [(row[0], row[1])]


def _remove(flags: set[str], operands: list[str]) -> list[tuple[str, str]]:
    found = []
    for operand in operands:
        tree = "/s" in flags or operand in ("*", "*.*", ".")
        column = TREE if tree else FILE
        found.append((column[windows_kind(operand)], f"deletes {operand}"))
    return found or [("C7", "deletes something that is not named")]


def _powershell(words: list[str]) -> list[tuple[str, str]]:
    lowered = [w.lower() for w in words]
    if (
        any(w.startswith(("-e", "/e")) and "-encodedcommand".startswith(w.replace("/", "-")) for w in lowered)
        or "-ec" in lowered
    ):
        return [("D9", "runs an encoded command")]
    for at, word in enumerate(lowered):
        if word in ("-c", "-command", "/c"):
            verdict = analyse_nested(" ".join(words[at + 1 :]).strip('"'))
            return [
                (f"{f.category[0].upper()}{f.risk}".replace("S", "W"), f.reason) for f in verdict.findings
            ]
    return [("C6", "runs a PowerShell script")]


def _redirects(words: list[str]) -> list[tuple[str, str]]:
    found = []
    for at, word in enumerate(words):
        if word.startswith(">"):
            target = word.lstrip(">") or (words[at + 1] if at + 1 < len(words) else "")
            if target and target.lower() != "nul":
                found.append((WRITE[windows_kind(target)], f"writes {target}"))
    return found
