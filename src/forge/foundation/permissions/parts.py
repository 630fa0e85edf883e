"""Whether one simple command of a line needs approval, and why."""

from __future__ import annotations

import re

from forge.foundation.permissions.commandrule import allows, is_exact, matches_text
from forge.foundation.permissions.filecommands import operands
from forge.foundation.permissions.modes import EDITING
from forge.foundation.permissions.reach import plain_words
from forge.foundation.permissions.readonly import is_read_only
from forge.foundation.permissions.sed import DANGEROUS, prints_lines, substitutes
from forge.foundation.permissions.syntax import text_of, word_set
from forge.foundation.permissions.wrappers import (
    EVALUATORS,
    STARTERS,
    has_safe_name,
    lasting_locale,
    safe_assignment,
    unwrapped,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Simple, Word

APPROVAL = "This command requires approval"
VARIABLE_SET = "A variable set in this command can't be checked before it runs"
VARIABLES_SET = "Variable assignments in this command can't be checked before it runs"
FIND_GLOB = (
    "find contains unquoted glob characters — could glob-expand to a dangerous action before find runs"
)
CD_TWO = "cd with two or more directory arguments"
JQ_FLAGS = "jq command contains dangerous flags that could execute code or read arbitrary files"
JQ_MODULES = "jq command contains include/import — modules can load arbitrary files"
JQ_SYSTEM = "jq command contains system() function which executes arbitrary commands"
AWK_OPTION = "awk has an option that can't be checked before it runs"
AWK_PIPE = 'awk program contains a command pipe (| "cmd" or | getline) which executes arbitrary commands'
AWK_INDIRECT = "awk program contains @load/@include or an @indirect call which can execute arbitrary code"
AWK_SYSTEM = "awk program contains system() which executes arbitrary commands"

_FIND_ACTIONS = word_set("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")
_JQ_FLAG = r"-[a-zA-Z]*[fL][a-zA-Z./]*|--(?:from-file|rawfile|slurpfile|library-path)(?:=.*)?"
_NUMERIC_TESTS = word_set("-eq -ne -lt -le -gt -ge")
_EDITORS = frozenset({"mkdir", "rm", "rmdir", "mv", "cp", "sed"})
_LITERAL_ONLY = frozenset({"uniq", "jq", "hostname", "["})
_BUILTINS = frozenset({"history", "type", "help", "cd"})
_AWK_OPTION = r"(?s)-[Fv].*|--|-"
_AWK_PIPE = r"\|&?\s*(?:\"|getline)"
_AWK_INDIRECT = r"@\s*(?:load|include|namespace|\w+\s*\()"
_NUMBER = r"-?\d+"


def why_ask(simple: Simple, s: Situation) -> str:
    """Why a simple command needs approval; empty if it does not."""
    if not simple.words:
        return _assigned(simple)
    here_string = any(redirect.operator == "<<<" for redirect in simple.redirects)
    if not here_string and exactly_allowed(text_of([*simple.assignments, *simple.words]), s):
        return always_checked(simple)
    reason = _odd(simple) or always_checked(simple)
    if reason:
        return reason
    allowed = [rule for rule in s.having("allow") if rule.tool == "Bash" and not simple.led_by_redirect]
    if looks_only(simple) or any(allows(rule, simple) for rule in allowed):
        return ""
    if s.mode in EDITING and _edits(simple):
        return ""
    return _sed_reason(simple) or APPROVAL


def exactly_allowed(text: str, s: Situation) -> bool:
    """Whether an allow rule names exactly this text."""
    rules = [rule for rule in s.having("allow") if rule.tool == "Bash" and rule.content is not None]
    return any(is_exact(rule.content or "") and matches_text(rule.content or "", text) for rule in rules)


def looks_only(simple: Simple) -> bool:
    """Whether a simple command is in the read-only set, behind harmless variables and wrappers."""
    if not all(has_safe_name(word) for word in simple.assignments):
        return False
    words = simple.words
    behind: set[str] = set()
    while words:
        name = words[0].value
        plain_timeout = name == "timeout" and len(words) > 2 and not words[1].value.startswith("-")
        if not plain_timeout and name not in ("command", "builtin", "noglob"):
            return _as_written(simple, words, behind) and is_read_only(words)
        rest, problem = unwrapped(words)
        if problem or rest is words:
            return False
        behind.add(name)
        words = rest
    return False


def _as_written(simple: Simple, words: list[Word], behind: set[str]) -> bool:
    """Whether a command may stand behind variables, quotes or wrappers and still counts as read-only."""
    name = words[0].value
    if name in ("[", "[[") and (behind or (simple.led_by_redirect and name == "[[")):
        return False
    if "timeout" in behind and name in _BUILTINS:
        return False
    if name == "[" and simple.redirects:
        return False
    plain = not simple.assignments and not simple.led_by_redirect and words[0].raw == name
    return plain or name not in _LITERAL_ONLY


def _assigned(simple: Simple) -> str:
    unsafe = [word for word in simple.assignments if not safe_assignment(word) or lasting_locale(word)]
    if not simple.assignments:
        return APPROVAL
    if not unsafe:
        return ""
    if not all(word.literal for word in simple.assignments):
        return APPROVAL
    return VARIABLE_SET if len(simple.assignments) == 1 else VARIABLES_SET


def _odd(simple: Simple) -> str:
    """What makes a command impossible to judge by its prefix."""
    words = simple.words
    while words:
        name = words[0].value
        if name in EVALUATORS:
            return f"'{name}' evaluates arguments as shell code"
        if name == "shopt":
            return "Zsh builtin 'shopt' can bypass security checks"
        if name in STARTERS and len(words) > 1:
            return f"What '{name}' starts can't be checked before it runs"
        rest, problem = unwrapped(words)
        if problem or rest is words:
            return problem or _odd_file_command(words)
        words = rest
    return ""


def _odd_file_command(words: list[Word]) -> str:
    name, values = words[0].value, [word.value for word in words[1:]]
    if name == "find":
        action = next((value for value in values if value in _FIND_ACTIONS), "")
        if action:
            return (
                f"find with '{action}' executes commands or modifies files — cannot be auto-allowed by a"
                " Bash(find:*) prefix rule"
            )
    if name == "jq":
        return _odd_jq(values)
    if name in ("awk", "gawk", "mawk"):
        return _odd_awk(values)
    if name == "xargs" and values[:1] and values[0] in ("find", "jq"):
        return f"What xargs adds to {values[0]} can't be checked before it runs"
    if name in ("[", "[[", "test"):
        return _odd_test(name, values)
    return ""


def _odd_awk(values: list[str]) -> str:
    if any(value.startswith("-") and not re.fullmatch(_AWK_OPTION, value) for value in values):
        return AWK_OPTION
    checks = ((r"system\s*\(", AWK_SYSTEM), (_AWK_PIPE, AWK_PIPE), (_AWK_INDIRECT, AWK_INDIRECT))
    return next((text for check, text in checks if any(re.search(check, value) for value in values)), "")


def _odd_jq(values: list[str]) -> str:
    if any(re.fullmatch(_JQ_FLAG, value) for value in values):
        return JQ_FLAGS
    if any(re.search(r"\bsystem\s*\(", value) for value in values):
        return JQ_SYSTEM
    return JQ_MODULES if any(re.search(r"\b(?:include|import)\s+\"", value) for value in values) else ""


def _odd_test(name: str, values: list[str]) -> str:
    for at, value in enumerate(values):
        sides = values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
        if value in _NUMERIC_TESTS and not all(re.fullmatch(_NUMBER, side) for side in sides):
            return f"'[[ ... {value} ...' operand is non-numeric — `[[` arithmetically evaluates identifiers"
        if value == "-t" and not all(re.fullmatch(_NUMBER, side) for side in values[at + 1 : at + 2]):
            return f"'{name} -t' operand is non-numeric — zsh arith-evals identifiers (may run $(cmd))"
    return ""


def always_checked(simple: Simple) -> str:
    """Checks that only a rule for the whole tool lifts."""
    words = plain_words(simple)
    name = words[0].value if words else ""
    if name == "find" and any(word.glob for word in words[1:]):
        return FIND_GLOB
    if name == "cd" and len(operands(words)) > 1:
        return CD_TWO
    if name in ("cp", "mv") and any(word.value.startswith("-") for word in words[1:]):
        return f"{name} command with flags requires manual approval"
    return ""


def _edits(simple: Simple) -> bool:
    """Whether accepting edits covers this command; its paths are checked elsewhere."""
    if simple.led_by_redirect or not all(safe_assignment(word) for word in simple.assignments):
        return False
    words = simple.words
    if words[0].raw == "touch":
        return not simple.assignments and not any(word.value.startswith("-") for word in words[1:])
    while words:
        rest, problem = unwrapped(words)
        if problem:
            return False
        if rest is words:
            break
        words = rest
    name = words[0].value if words else ""
    return name in _EDITORS and (name != "sed" or substitutes(words, in_place=True))


def _sed_reason(simple: Simple) -> str:
    words = simple.words
    if words[0].value != "sed" or prints_lines(words) or substitutes(words, in_place=True):
        return ""
    return DANGEROUS
