"""The forgecmd command line: the light commands themselves, and the way to all others."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from forge.core.shell.analysis.decide import Decision, Thresholds, decide, explanation
from forge.core.shell.analysis.judge import judge
from forge.core.shell.analysis.rules import RuleSet
from forge.core.shell.analysis.surroundings import surroundings
from forge.foundation.errors import ConfigError, ForgeError, UsageError
from forge.hosts.forgecmd.judging import assess, place, warm_up
from forge.hosts.forgecmd.policies import load_policy
from forge.hosts.forgecmd.usage import PAGES, USAGE
from forge.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from forge.core.shell.analysis.record import Verdict

EXIT = {"allow": 0, "allow_session": 0, "ask": 1, "deny": 2}
USAGE_ERROR = 64
CONFIG_ERROR = 78
# Commands that run or store something need more than the guard may import.
_HEAVY = {
    "run": "forge.hosts.guarded.run_command",
    "history": "forge.hosts.guarded.history_command",
    "search": "forge.hosts.guarded.history_command",
    "show": "forge.hosts.guarded.history_command",
    "stats": "forge.hosts.guarded.history_command",
    "doctor": "forge.hosts.guarded.doctor_command",
    "restore": "forge.hosts.guarded.restore_command",
    "mcp": "forge.hosts.guarded.mcp_command",
}


def run(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs a sub-command and returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Words of a command line need not be valid text; showing them must not fail.
            stream.reconfigure(errors="backslashreplace")
    name = next((word for word in argv if not word.startswith("-")), "")
    if argv[:1] == ["--version"]:
        sys.stdout.write(f"forgecmd {VERSION}\n")
        return 0
    if _wants_help(argv, name):
        sys.stdout.write(PAGES.get(name, USAGE) + "\n")
        return 0
    try:
        return _command(argv, env)
    except UsageError as error:
        page = PAGES.get(argv[0], USAGE)
        sys.stderr.write(f"forgecmd: {error}\n{page}\n" if error.message else f"{page}\n")
        return USAGE_ERROR
    except ForgeError as error:
        sys.stderr.write(f"forgecmd: {error}\n")
        return CONFIG_ERROR if isinstance(error, ConfigError) else 1


def _command(argv: list[str], env: Mapping[str, str]) -> int:
    try:
        if argv[0] not in _HEAVY:
            return _light(argv, env)
        code: int = import_module(_HEAVY[argv[0]]).command(argv, env)
    except FileNotFoundError as error:
        raise ForgeError(f"{error.filename or 'the current directory'} does not exist any more") from None
    return code


def _wants_help(argv: list[str], name: str) -> bool:
    before = argv[: argv.index("--")] if "--" in argv else argv
    # Behind the name of a light command stands a command, whose own --help is none of ours.
    own = before[:2] if name in ("classify", "check", "explain", "run") else before
    return not argv or argv[0] == "help" or "--help" in own or "-h" in own


def _light(argv: list[str], env: Mapping[str, str]) -> int:
    words, options = _options(argv)
    command = words[0] if words else ""
    if command == "classify" and "jsonl" in options:
        return _stream(env)
    if command not in ("classify", "check", "explain"):
        raise UsageError(f"unknown command {command!r}" if command else "")
    if len(words) < 2:
        raise UsageError(f"{command} needs a command, for example: forgecmd {command} 'git push'")
    cwd = os.path.abspath(options.get("cwd") or os.getcwd())
    policy = load_policy(env, cwd)
    text = " ".join(words[1:])
    verdict, decision = assess(text, place(cwd, env, policy), policy, options.get("shell", "bash"))
    if command == "classify":
        sys.stdout.write(json.dumps(_answer(text, verdict, decision), ensure_ascii=False) + "\n")
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
        elif word in ("--cwd", "--shell") and at < len(argv):
            options[word[2:]] = argv[at]
            at += 1
        else:
            raise UsageError(f"unknown option {word}, or it needs a value")
    return words, options


def _stream(env: Mapping[str, str]) -> int:
    """One answer per line, without rules: the judgement of a machine that has none."""
    warm_up()
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
        verdict = judge(text, surroundings(row.get("cwd") or os.getcwd(), env), row.get("shell") or "bash")
        decision = decide(verdict, RuleSet(), Thresholds())
        sys.stdout.write(json.dumps(_answer(text, verdict, decision), ensure_ascii=False) + "\n")
        sys.stdout.flush()
    return 0


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
