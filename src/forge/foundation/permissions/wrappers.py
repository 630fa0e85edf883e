"""Programs that only start another one, and variables that change nothing: what a rule looks through."""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Simple, Word

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
_ASSIGNMENT = r"(?s)[A-Za-z_]\w*\+?="

STARTERS = word_set(
    """watch setsid ionice flock strace ltrace unshare nsenter taskset chrt script setarch runuser
    unbuffer"""
)
EVALUATORS = word_set(
    """eval source . exec alias hash trap let mapfile readarray enable bind complete coproc"""
)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash"})
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


def started(simple: Simple) -> list[list[Word]]:
    """Every command line that deny and ask rules must see: the words, and what each wrapper starts."""
    found = []
    words = simple.words
    while words:
        found.append(words)
        words = _inner(words)
        while words and re.match(_ASSIGNMENT, words[0].value):
            words = words[1:]
    return found


def quoted_command(words: list[Word]) -> str:
    """The command line that a wrapper gets as one argument: eval, script -c, env -S."""
    name = words[0].value.rsplit("/", 1)[-1] if words else ""
    values = [word.value for word in words[1:]]
    if name == "eval":
        return " ".join(values)
    flag = {"script": "c", "env": "S", "su": "c"}.get(name)
    for at, value in enumerate(values[:-1]):
        if flag and value.startswith("-") and not value.startswith("--") and value.endswith(flag):
            return values[at + 1]
    return ""


def script_of(words: list[Word]) -> str:
    """The script that a shell is given with -c."""
    if not words or words[0].value.rsplit("/", 1)[-1] not in SHELLS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if not word.value.startswith("-"):
            return ""
        if not word.value.startswith("--") and "c" in word.value:
            return words[at + 1].value if at + 1 < len(words) else ""
    return ""


def _time(words: list[Word]) -> tuple[list[Word], str]:
    if re.match(_ASSIGNMENT, words[1].raw):
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

_LOOSE = {
    "env": "uSC",
    "sudo": "ugpCThDRr",
    "doas": "uC",
    "exec": "a",
    "time": "fo",
    "nice": "n",
    "nohup": "",
    "stdbuf": "ioe",
    "timeout": "ks",
    "command": "",
    "builtin": "",
    "noglob": "",
    "xargs": "nPILsdEa",
    "watch": "n",
    "setsid": "",
    "ionice": "cnp",
    "flock": "wE",
    "strace": "oeps",
    "ltrace": "oeps",
    "unshare": "",
    "taskset": "",
    "chrt": "",
    "eval": "",
    "coproc": "",
    "busybox": "",
    "nocorrect": "",
}
_FIND_STARTS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_OPERANDS = {"timeout": 1, "flock": 1, "taskset": 1, "chrt": 1}


def _inner(words: list[Word]) -> list[Word]:
    """What a wrapper starts, skipping its options and operands; nothing if there is no wrapper."""
    name = words[0].value.rsplit("/", 1)[-1]
    if name == "find":
        return next((words[at + 1 :] for at, word in enumerate(words) if word.value in _FIND_STARTS), [])
    valued = _LOOSE.get(name)
    if valued is None or (name == "command" and len(words) > 1 and words[1].value in ("-v", "-V")):
        return []
    at = 1
    while at < len(words):
        value = words[at].value
        if re.match(_ASSIGNMENT, value):
            at += 1
        elif value.startswith("-") and len(value) > 1:
            at += 2 if len(value) == 2 and value[1] in valued else 1
        else:
            break
    return words[at + _OPERANDS.get(name, 0) :]
