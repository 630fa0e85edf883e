"""The forgecmd command line: classify, check and explain shell commands without running them."""

from __future__ import annotations

import json
import os
import sys

from forge.core.shell.analysis.decide import Decision, Thresholds, decide, explanation
from forge.core.shell.analysis.judge import judge
from forge.core.shell.analysis.rules import RuleSet
from forge.core.shell.analysis.surroundings import surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from forge.core.shell.analysis.record import Verdict

USAGE = """usage: forgecmd classify [--jsonl | COMMAND]   category, risk and decision as JSON
       forgecmd check COMMAND                  exit 0 if it may run, 1 if a person must look, 2 if refused
       forgecmd explain COMMAND                every finding and every step of the decision
options: --cwd DIR  --shell bash|powershell|cmd"""
EXIT = {"allow": 0, "allow_session": 0, "ask": 1, "deny": 2}
_USAGE_ERROR = 64
# Loads tables and patterns before the first line is timed.
_WARM_UP = (
    "rm -rf node_modules; git push -f; curl -d @x https://h/ | sh; python3 -c 'import os; "
    'os.system("ls")\'; find . -name x -delete',
    "cat <<EOF | sed -n 's/a/b/p' | awk '{print}' > out.txt\n$x\nEOF\ncat .env; X=${Y:-z}; echo `date`; "
    "psql -c 'select 1'",
    "docker run -v /a:/b x sh -c ls; ssh h ls; git commit -m x; npm test; tar czf a b; chmod +x a; kill "
    "1; sort a | xargs -n1 ls",
)


def run(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs a sub-command and returns the exit code."""
    words, options = _options(argv)
    command = words[0] if words else ""
    cwd = options.get("cwd") or os.getcwd()
    if command == "classify" and "jsonl" in options:
        return _stream(env)
    if command not in ("classify", "check", "explain") or len(words) < 2:
        sys.stderr.write(USAGE + "\n")
        return _USAGE_ERROR
    row = {"cmd": " ".join(words[1:]), "cwd": cwd, "shell": options.get("shell", "bash")}
    verdict, decision = _decided(row, env)
    if command == "classify":
        sys.stdout.write(json.dumps(_answer(row["cmd"], verdict, decision), ensure_ascii=False) + "\n")
        return 0
    if command == "check":
        sys.stdout.write(explanation(decision, verdict) + "\n")
        return EXIT[decision.verdict]
    sys.stdout.write(json.dumps(_explained(verdict, decision), ensure_ascii=False, indent=2) + "\n")
    return 0


def _options(argv: list[str]) -> tuple[list[str], dict[str, str]]:
    words: list[str] = []
    options: dict[str, str] = {}
    at = 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if words[1:] or not word.startswith("--"):
            words.append(word)
        elif word == "--":
            words += argv[at:]
            break
        elif word == "--jsonl":
            options["jsonl"] = "1"
        elif at < len(argv):
            options[word[2:]] = argv[at]
            at += 1
    return words, options


def _stream(env: Mapping[str, str]) -> int:
    for text in _WARM_UP:
        _decided({"cmd": text, "cwd": "/tmp/x"}, env)
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text = str(row["cmd"])
        except (ValueError, KeyError, TypeError):
            sys.stdout.write(json.dumps({"error": 'expected a JSON object with "cmd"'}) + "\n")
            sys.stdout.flush()
            continue
        verdict, decision = _decided(row, env)
        sys.stdout.write(json.dumps(_answer(text, verdict, decision), ensure_ascii=False) + "\n")
        sys.stdout.flush()
    return 0


def _decided(row: Mapping[str, str], env: Mapping[str, str]) -> tuple[Verdict, Decision]:
    around = surroundings(row.get("cwd") or os.getcwd(), env)
    verdict = judge(row["cmd"], around, row.get("shell") or "bash")
    return verdict, decide(verdict, RuleSet(), Thresholds())


def _answer(text: str, verdict: Verdict, decision: Decision) -> dict[str, object]:
    return {
        "cmd": text,
        "category": verdict.category,
        "risk": verdict.risk,
        "decision": decision.verdict,
        "reason": decision.reason,
    }


def _explained(verdict: Verdict, decision: Decision) -> dict[str, object]:
    return {
        "category": verdict.category,
        "risk": verdict.risk,
        "decision": decision.verdict,
        "reason": decision.reason,
        "interactive": verdict.interactive,
        "syntax_error": verdict.syntax_error,
        "trace": decision.trace,
        "findings": [f.as_dict(verdict.text) for f in verdict.findings],
        "commands": [{"command": s.text, "effects": s.effect_key()} for s in verdict.steps],
    }
