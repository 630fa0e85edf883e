"""Programs that only start another one, and variables that change nothing: what a rule looks through."""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Word

SAFE_VARIABLES = word_set(
    """NODE_ENV CI TZ NO_COLOR FORCE_COLOR TERM COLORTERM RUST_LOG RUST_BACKTRACE PYTHONUNBUFFERED
    PYTHONDONTWRITEBYTECODE PYTEST_DISABLE_PLUGIN_AUTOLOAD GOOS GOARCH CGO_ENABLED GO111MODULE
    GOEXPERIMENT ANTHROPIC_API_KEY CLICOLOR CLICOLOR_FORCE CHARSET LANGUAGE LC_TIME GREP_COLOR
    GREP_COLORS GCC_COLORS LS_COLORS LSCOLORS TIME_STYLE BLOCK_SIZE BLOCKSIZE DEBIAN_FRONTEND
    GIT_TERMINAL_PROMPT"""
)
_LOCALE_VARIABLES = frozenset({"LANG", "LC_ALL", "LC_CTYPE"})
_NUMBER_VARIABLES = frozenset({"COLUMNS", "LINES"})
_SAFE_VALUE = r"(?!.*//)[A-Za-z0-9_./:-]+"
_LOCALE = r"C|POSIX|(?:C|[a-z]{2}_[A-Z]{2})\.(?:UTF-8|utf-?8)"
_DURATION = r"\d+(?:\.\d+)?[smhd]?"
_TIMEOUT_FLAG = r"-v|--verbose|--foreground|--preserve-status|--(?:signal|kill-after)=\S+|-[ks]\S+"
_STDBUF_FLAG = r"-[ioe](?:L|\d+)"
ASSIGNMENT = r"(?s)[A-Za-z_]\w*\+?="

STARTERS = word_set(
    """watch setsid ionice flock strace ltrace unshare nsenter taskset chrt script setarch runuser
    unbuffer"""
)
EVALUATORS = word_set(
    """eval source . exec alias hash trap let mapfile readarray enable bind complete coproc"""
)
FRAGMENT = "Command appears to be an incomplete fragment"


def safe_assignment(word: Word) -> bool:
    """Whether a leading assignment is one that an allow rule looks past."""
    name, _, value = word.raw.partition("=")
    if not re.fullmatch(_SAFE_VALUE, value):
        return False
    if name in _LOCALE_VARIABLES:
        return re.fullmatch(_LOCALE, value) is not None
    if name in _NUMBER_VARIABLES:
        return value.isdigit()
    return name in SAFE_VARIABLES


def lasting_locale(word: Word) -> bool:
    """Whether an assignment without a command changes how the commands after it are looked up."""
    name = word.raw.partition("=")[0]
    return name in ("LANGUAGE", "LANG") or name.startswith("LC_")


def has_safe_name(word: Word) -> bool:
    """Whether a leading assignment sets a variable that cannot change what a reading command does."""
    name = word.raw.partition("=")[0]
    if name in _LOCALE_VARIABLES or name in _NUMBER_VARIABLES:
        return safe_assignment(word)
    return name in SAFE_VARIABLES and word.literal


def unwrapped(words: list[Word]) -> tuple[list[Word], str]:
    """The words without one leading wrapper that allow rules look through, and what is odd about its use."""
    name = words[0].value if words else ""
    strip = _WRAPPERS.get(name)
    if strip is None or len(words) < 2:
        return words, ""
    rest, problem = strip(words)
    if not problem and rest is not words and rest and rest[0].value.startswith("-"):
        problem = FRAGMENT
    return rest, problem


def _time(words: list[Word]) -> tuple[list[Word], str]:
    if re.match(ASSIGNMENT, words[1].raw):
        return words, f"'{words[0].value} {words[1].raw}' can't be checked before it runs"
    return words[1:], ""


def _plain(words: list[Word]) -> tuple[list[Word], str]:
    return words[1:], ""


def _nice(words: list[Word]) -> tuple[list[Word], str]:
    if words[1].value == "-n" and len(words) > 3 and words[2].value.lstrip("+-").isdigit():
        return words[3:], ""
    if re.fullmatch(r"-\d+", words[1].value) and len(words) > 2:
        return words[2:], ""
    return words[1:], ""


def _stdbuf(words: list[Word]) -> tuple[list[Word], str]:
    at = 1
    while at < len(words) and re.fullmatch(_STDBUF_FLAG, words[at].value):
        at += 1
    return (words[at:], "") if 1 < at < len(words) else (words, "")


def _timeout(words: list[Word]) -> tuple[list[Word], str]:
    at = 1
    while at < len(words) and words[at].value.startswith("-"):
        flag = words[at].value
        if flag in ("-k", "-s"):
            at += 2
        elif re.fullmatch(_TIMEOUT_FLAG, flag):
            at += 1
        else:
            return words, f"'timeout {flag}' can't be checked before it runs"
    if at >= len(words):
        return words, ""
    if not re.fullmatch(_DURATION, words[at].value):
        return words, f"timeout duration '{words[at].value}' can't be checked before it runs"
    return words[at + 1 :], ""


def _command(words: list[Word]) -> tuple[list[Word], str]:
    if words[1].value == "-p":
        return words[2:], ""
    return (words, "") if words[1].value in ("-v", "-V") else (words[1:], "")


_WRAPPERS = {
    "timeout": _timeout,
    "time": _time,
    "nice": _nice,
    "nohup": _plain,
    "stdbuf": _stdbuf,
    "command": _command,
    "builtin": _plain,
    "noglob": _plain,
}
