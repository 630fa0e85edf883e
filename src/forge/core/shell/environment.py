"""Which shell runs commands, and the environment it gets."""

from __future__ import annotations

import os
from collections.abc import Mapping

from forge.core.tool import ToolContext
from forge.version import COMPATIBLE_WITH, VERSION

_PLACES = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")


def find_shell(env: Mapping[str, str]) -> str:
    """The user's bash or zsh, else any bash or zsh, else sh."""
    for name in ("FORGE_SHELL", "CLAUDE_CODE_SHELL", "SHELL"):
        wanted = env.get(name, "")
        if os.path.basename(wanted) in ("bash", "zsh") and os.access(wanted, os.X_OK):
            return wanted
    for shell in ("bash", "zsh", "sh"):
        for place in (*_PLACES, *env.get("PATH", "").split(os.pathsep)):
            path = os.path.join(place, shell)
            if os.access(path, os.X_OK):
                return path
    return "/bin/sh"


def directory_of(ctx: ToolContext) -> str:
    """Where a command starts: the current directory, or the first one if that is gone."""
    return ctx.cwd if os.path.isdir(ctx.cwd) else ctx.start_dir


def child_environment(env: Mapping[str, str], *, session_id: str, shell: str, cwd: str) -> dict[str, str]:
    """The environment of a command: the session's own, marked as run by an agent."""
    return {
        **env,
        "CLAUDECODE": "1",
        "FORGECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": env.get("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
        "CLAUDE_CODE_SESSION_ID": session_id,
        "FORGE_SESSION_ID": session_id,
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "FORGE_CHILD_SESSION": "1",
        "CLAUDE_CODE_SESSION_ATTENDED": env.get("CLAUDE_CODE_SESSION_ATTENDED", "0"),
        "CLAUDE_PID": str(os.getpid()),
        "FORGE_PID": str(os.getpid()),
        "AI_AGENT": f"claude-code_{COMPATIBLE_WITH.replace('.', '-')}_agent",
        "FORGE_AGENT": f"forge_{VERSION.replace('.', '-')}_agent",
        "GIT_EDITOR": "true",
        "COREPACK_ENABLE_AUTO_PIN": "0",
        "NoDefaultCurrentDirectoryInExePath": "1",
        "SHELL": shell,
        "PWD": cwd,
    }
