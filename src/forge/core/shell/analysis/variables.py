"""Values of variables and of the expansions that change them: `$x`, `${x:-y}`, `${x%y}`, `${!x}` …"""

from __future__ import annotations

import functools
import re
from fnmatch import fnmatchcase

from forge.core.shell.analysis.places import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.core.shell.analysis.state import Frame

# Stands for the number of a process this command has started itself.
OWN_JOB = "%own"
_NUMBERS = {"?": "0", "$": "12345", "RANDOM": "4242", "SECONDS": "7", "LINENO": "1",
            "UID": "1000", "EUID": "1000", "PPID": "12345", "SHLVL": "1", "-": "hB",
            "!": OWN_JOB}  # fmt: skip


def lookup(name: str, frame: Frame) -> list[str]:
    """The elements of a variable; `[UNKNOWN]` if nothing is known. Several values are read in turn."""
    state, run = frame.state, frame.run
    if name in state.variables:
        variable = state.variables[name]
        run.tags |= variable.tags
        run.choices = max(run.choices, len(variable.values))
        return variable.values[run.choice % len(variable.values)]
    if name in "@*":
        return list(state.args) if state.args is not None else [UNKNOWN]
    if name.isdigit():
        at = int(name) - 1
        if state.args is None or at < 0:
            return [UNKNOWN]
        return [state.args[at]] if at < len(state.args) else []
    return [_NUMBERS[name]] if name in _NUMBERS else _ambient(name, frame)


def _ambient(name: str, frame: Frame) -> list[str]:
    around, state = frame.run.around, frame.state
    known = {
        "HOME": around.home,
        "PWD": state.cwd,
        "OLDPWD": state.old_cwd,
        "TMPDIR": around.temp[0] if around.temp else "/tmp",
        "USER": around.user,
        "LOGNAME": around.user,
        "IFS": " \t\n",
    }
    value = known.get(name)
    if any(part in name.upper() for part in ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY")):
        frame.run.tags.add("credential")
    return [value] if value is not None else [UNKNOWN]


def separators(frame: Frame) -> str:
    """The characters unquoted values are split at."""
    variable = frame.state.variables.get("IFS")
    return variable.values[0][0] if variable and variable.values[0] else " \t\n"


def braced(inner: str, frame: Frame, word: Callable[[], str]) -> list[str]:
    """The elements of `${inner}`; `word` gives the expanded text behind the operator."""
    match = _form().match(inner)
    if not match:
        return [UNKNOWN]
    indirect, length, name, index, rest = match.groups()
    if length and not rest and name not in "@*":
        return ["1"]
    elements = _indirect(name, frame) if indirect else lookup(name, frame)
    elements = _indexed(elements, index)
    return _operate(elements, rest, frame, word)


def _indirect(name: str, frame: Frame) -> list[str]:
    target = "".join(lookup(name, frame))
    return lookup(target, frame) if target.isidentifier() else [UNKNOWN]


def _indexed(elements: list[str], index: str | None) -> list[str]:
    if index is None:
        return elements[:1]
    inner = index[1:-1].strip("\"'")
    if inner in ("@", "*"):
        return elements
    if inner.lstrip("-").isdigit() and UNKNOWN not in elements:
        at = int(inner)
        return [elements[at]] if -len(elements) <= at < len(elements) else []
    return [UNKNOWN] if elements else []


def _operate(elements: list[str], rest: str, frame: Frame, word: Callable[[], str]) -> list[str]:
    if not rest:
        return elements
    sign = rest[1:2] if rest[0] == ":" and rest[1:2] in ("-", "=", "+", "?") else rest[0]
    if sign in ("-", "=", "+"):
        return _default(elements, sign, frame, word)
    if sign == "?":
        return elements
    change = _CHANGES.get(sign)
    if change is None:
        return [UNKNOWN]
    return [change(e, rest, word) if UNKNOWN not in e else UNKNOWN for e in elements]


def _default(elements: list[str], sign: str, frame: Frame, word: Callable[[], str]) -> list[str]:
    value = "".join(elements)
    if sign == "+":
        return [word()] if value else elements
    if UNKNOWN in value:
        # Unset or not: both must be harmless.
        frame.run.choices = max(frame.run.choices, 2)
        return [word()] if frame.run.choice % 2 == 0 else elements
    return elements if value else [word()]


def _case(value: str, rest: str, word: Callable[[], str]) -> str:
    changes = {"^^": value.upper(), ",,": value.lower(), "^": value[:1].upper() + value[1:],
               ",": value[:1].lower() + value[1:]}  # fmt: skip
    return changes.get(rest, UNKNOWN)


def _slice(value: str, rest: str, word: Callable[[], str]) -> str:
    parts = [p.strip() for p in rest[1:].split(":")]
    if len(parts) > 2 or not all(p.lstrip("-").isdigit() for p in parts):
        return UNKNOWN
    start = int(parts[0])
    start = max(len(value) + start, 0) if start < 0 else start
    if len(parts) == 1:
        return value[start:]
    length = int(parts[1])
    return value[start : start + length] if length >= 0 else value[start : len(value) + length]


def _replace(value: str, rest: str, word: Callable[[], str]) -> str:
    everywhere = rest.startswith("//")
    old, _, new = rest.lstrip("/").partition("/")
    if any(c in old + new for c in "*?[$`\\\"'#%") or not old:
        return UNKNOWN
    return value.replace(old, new) if everywhere else value.replace(old, new, 1)


def _trim(value: str, rest: str, word: Callable[[], str]) -> str:
    sign = rest[0]
    longest = rest[1:2] == sign
    pattern = rest.lstrip(sign)
    if "$" in pattern or "`" in pattern or len(value) > 500:
        return UNKNOWN
    pattern = pattern.replace("\\", "").strip("\"'")
    cuts = range(len(value) + 1)
    if sign == "#":
        fitting = [value[n:] for n in cuts if fnmatchcase(value[:n], pattern)]
        return (fitting[-1] if longest else fitting[0]) if fitting else value
    fitting = [value[:n] for n in cuts if fnmatchcase(value[n:], pattern)]
    return (fitting[0] if longest else fitting[-1]) if fitting else value


_CHANGES = {"^": _case, ",": _case, ":": _slice, "/": _replace, "#": _trim, "%": _trim}


@functools.cache
def _form() -> re.Pattern[str]:
    return re.compile(r"(!?)(#?)([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[^\]]*\])?(.*)$", re.DOTALL)
