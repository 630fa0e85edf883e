"""PowerShell: commands by tree-sitter-powershell, aliases and abbreviated parameters by table."""

from __future__ import annotations

import re

from forge.core.shell.analysis.gate import suspicious
from forge.core.shell.analysis.grammar import parser
from forge.core.shell.analysis.record import CODES, UNANALYSABLE, Finding, Step, Verdict
from forge.core.shell.analysis.tables import commands, table
from forge.core.shell.analysis.windows_paths import FILE, TREE, WRITE, windows_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

_LETTERS = {category: letter for letter, category in CODES.items()}


def analyse_powershell(text: str, portable: Callable[[str], Verdict] | None = None) -> Verdict:
    """The judgement of a PowerShell command text; `portable` judges programs that are the same everywhere."""
    work = _Work(text, portable)
    odd = suspicious(text)
    if odd:
        work.note("C7", f"the text contains {odd[0]}", UNANALYSABLE)
    try:
        tree = parser("powershell").parse(text.encode("utf-8", "replace"))
        if tree.root_node.has_error:
            work.note("C7", "the text is not understood completely", UNANALYSABLE)
        work.follow(tree.root_node)
    except (RecursionError, ImportError, LookupError, ValueError):
        work.note("C7", "cannot be analysed", UNANALYSABLE)
    return Verdict(text, work.findings, work.steps, work.interactive)


class _Work:
    __slots__ = ("findings", "interactive", "piped", "portable", "step", "steps", "text")

    def __init__(self, text: str, portable: Callable[[str], Verdict] | None = None) -> None:
        self.text = text
        self.portable = portable
        self.findings: list[Finding] = []
        self.steps: list[Step] = []
        self.step: Step | None = None
        self.interactive: str | None = None
        self.piped = False

    def note(self, code: str, reason: str, effect: str = "run") -> None:
        finding = Finding(code, reason, effect)
        finding.safer = table("advice").get(effect, "")
        finding.span = self.step.span if self.step else (0, len(self.text))
        if self.step is not None:
            self.step.findings.append(finding)
        self.findings.append(finding)

    def follow(self, node: Node) -> None:
        if node.type == "command":
            self._command(node)
        elif node.type == "invokation_expression":
            self._method(_text(node))
        elif node.type in ("redirection", "redirected_file_name") and node.type == "redirected_file_name":
            self._write(_text(node).strip())
        for child in node.children:
            self.follow(child)

    def _command(self, node: Node) -> None:
        words = [w for w in _words(node) if w and w not in ("&", ".")]
        if not words:
            return
        self.step = Step(words, (node.start_byte, node.end_byte), 0)
        self.steps.append(self.step)
        name = words[0].strip("&.").strip("\"' ")
        rows = table("powershell")
        full = rows["aliases"].get(name.lower(), name)
        if "$" in name:
            self.note("C7", "the program to run is not known before", UNANALYSABLE)
            return
        self._judge(full, words[1:], node)

    def _judge(self, name: str, words: list[str], node: Node) -> None:
        lowered = name.lower()
        flags = {w.lower().split(":")[0] for w in words if w.startswith("-")}
        operands = [w for w in words if not w.startswith("-")]
        if lowered == "remove-item" or lowered in ("clear-content", "remove-itemproperty", "clear-item"):
            self._remove(flags, operands)
        elif lowered == "invoke-expression":
            self._expression(operands, node)
        elif lowered in ("powershell", "pwsh", "powershell.exe", "pwsh.exe"):
            self._nested(words, flags)
        elif lowered in ("cmd", "cmd.exe"):
            self._old_shell(words)
        else:
            self._by_table(lowered, words, operands)

    def _remove(self, flags: set[str], operands: list[str]) -> None:
        tree = any("-recurse".startswith(f) and len(f) > 1 for f in flags)
        targets = [part for o in operands for part in o.split(",")]
        for target in targets:
            wide = target.rstrip("\"'").endswith("*")
            column = TREE if tree or wide else FILE
            self.note(column[windows_kind(target)], f"deletes {target}", "delete_tree" if tree else "delete")
        if not targets:
            self.note("D8" if tree or flags else "C7", "deletes what the pipeline names", "delete_tree")

    def _expression(self, operands: list[str], node: Node) -> None:
        text = _text(node.parent or node).lower()
        if re.search(
            r"iwr|irm|invoke-web|invoke-rest|downloadstring|curl|wget|http|frombase64|net\.webclient", text
        ):
            self.note("D9", "runs code from the network or decoded code", "remote_code")
        elif operands and operands[0][:1] in "\"'" and "$" not in operands[0]:
            nested = analyse_nested(operands[0].strip("\"'"))
            self.findings += nested.findings
        else:
            self.note("C7", "runs code that is not known before", UNANALYSABLE)

    def _nested(self, words: list[str], flags: set[str]) -> None:
        if any(f.startswith("-e") and "-encodedcommand".startswith(f) for f in flags) or "-ec" in flags:
            self.note("D9", "runs an encoded command", "remote_code")
            return
        for at, word in enumerate(words):
            if "-command".startswith(word.lower()) and len(word) > 1:
                self.findings += analyse_nested(" ".join(words[at + 1 :]).strip("\"'")).findings
                return
        self.note("W4", "runs a PowerShell script", "run")
        if not words:
            self.interactive = "a PowerShell prompt"

    def _old_shell(self, words: list[str]) -> None:
        """`cmd /c TEXT`: its commands have the names of PowerShell's aliases, its options have slashes."""
        self.note("C6", "runs another shell", "run")
        text = " ".join(words[1:]).strip("\"'")
        self.findings += analyse_nested(re.sub(r"(?i)\s/s\b", " -Recurse", text)).findings

    def _portable(self, name: str, words: list[str]) -> None:
        """A program that is the same everywhere is judged as everywhere."""
        if self.portable is None:
            self.note("C6", "runs a program of this machine", "run")
            return
        quoted = ["$unknown" if "$" in word else _quoted(word.strip("\"'")) for word in words]
        verdict = self.portable(" ".join([name, *quoted]))
        self.interactive = self.interactive or verdict.interactive
        for finding in verdict.findings:
            self.note(f"{_LETTERS[finding.category]}{finding.risk}", finding.reason, finding.effect)

    def _by_table(self, name: str, words: list[str], operands: list[str]) -> None:
        rows = table("powershell")
        meaning = rows["commands"].get(name) or next(
            (m for prefix, m in rows["verbs"].items() if name.startswith(prefix)), None
        )
        if name in rows["writers"]:
            for operand in operands[:1] or ["x"]:
                self._write(operand)
            return
        program = name.removesuffix(".exe")
        if meaning is None and (program in rows["portable"] or program in commands()):
            self._portable(program, words)
            return
        code, reason = (meaning or ["W4", f"runs {name}"])[:2]
        self.note(code, reason, "read" if code[0] == "R" else "run")

    def _write(self, target: str) -> None:
        if target.strip("\"'").lower() in ("$null", "nul"):
            return
        self.note(WRITE[windows_kind(target)], f"writes {target}", "write")

    def _method(self, text: str) -> None:
        """Calls of .NET methods."""
        lowered = text.lower()
        if re.search(r"\[(?:system\.)?io\.(?:file|directory)\]::(?:delete|move)", lowered):
            target = re.search(r"\(\s*[\"']([^\"']*)", text)
            tree = "directory" in lowered
            column = TREE if tree else FILE
            self.note(
                column[windows_kind(target[1]) if target else "unknown"], "deletes by a .NET method", "delete"
            )
        elif "downloadstring" in lowered or "downloadfile" in lowered or "frombase64string" in lowered:
            self.note("C6", "downloads or decodes", "network")
        elif "start(" in lowered and "process" in lowered:
            self.note("C7", "starts a program", UNANALYSABLE)


def analyse_nested(text: str) -> Verdict:
    """A text that PowerShell runs as a script of its own."""
    work = _Work(text)
    work.follow(parser("powershell").parse(text.encode("utf-8", "replace")).root_node)
    return Verdict(text, work.findings, work.steps, None)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _words(node: Node) -> list[str]:
    found = []
    for child in node.children:
        if child.type == "command_elements":
            found += [
                _text(c)
                for c in child.children
                if c.type not in ("command_argument_sep", "redirections", "redirection")
            ]
        elif child.is_named and child.type not in ("redirections",):
            found.append(_text(child))
    return found


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
