"""What the user's own shell knows: functions and aliases of the start-up file, taken once per session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from forge.core.shell.execute import Command, execute
from forge.foundation.system.process import Unsupported

_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}
# A start-up file that takes longer does without.
_SECONDS = 10.0
# Names that begin with an underscore are a shell's own business (completion); there can be thousands.
_BASH = """. {rc} </dev/null >/dev/null 2>&1
umask 077
{{ echo 'shopt -s extglob expand_aliases'
while read -r _ _ name; do case $name in _*) ;; *) declare -f -- "$name";; esac; done < <(declare -F)
echo 'shopt -u extglob'; alias -p; }} >{to} 2>/dev/null"""
_ZSH = """. {rc} </dev/null >/dev/null 2>&1
umask 077
{{ for name in ${{(k)functions}}; do case $name in _*) ;; *) typeset -f -- "$name";; esac; done
alias -L; }} >{to} 2>/dev/null"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH}


class Habits:
    """Kept once per session; `prelude` is shell text that brings them into a fresh shell."""

    def __init__(self) -> None:
        self._taken: str | None = None
        self._lock = asyncio.Lock()

    async def prelude(self, shell: str, env: Mapping[str, str], place: str) -> str:
        """The text for a command; the first one waits until it is known. Files are put into `place`."""
        async with self._lock:
            if self._taken is None:
                self._taken = await _take(shell, env, place)
        return self._taken


async def _take(shell: str, env: Mapping[str, str], place: str) -> str:
    kind = os.path.basename(shell)
    home = env.get("HOME", "")
    rc = os.path.join(home, _FILES.get(kind, ""))
    try:
        if kind not in _FILES or not home or _is_empty(rc):
            return ""
        os.makedirs(place, mode=0o700, exist_ok=True)
        target = os.path.join(place, f"shell-{os.urandom(4).hex()}.sh")
        script = _SCRIPTS[kind].format(rc=_quoted(rc), to=_quoted(target))
        command = Command(script, shell, home, env, f"{target}.out", timeout=_SECONDS)
        outcome = await execute(command)
        if outcome.timed_out or _is_empty(target):
            return ""
    except (OSError, Unsupported, ValueError):
        return ""
    return f". {_quoted(target)} >/dev/null 2>&1; "


def _is_empty(path: str) -> bool:
    return os.path.getsize(path) == 0


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
