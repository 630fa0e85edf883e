"""What a command hook finds when it starts: its arguments and its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module

from forge.agent.hooks.hook import Hook
from forge.version import COMPATIBLE_WITH, VERSION

SHELL = "/bin/sh"
# FORGE_TTY was lent to whoever started this program, not to its hooks.
_NOT_THEIRS = ("OTEL_", "FORGE_TTY")
_SECRETS = ("API_KEY", "AUTH_TOKEN", "ACCESS_TOKEN", "OAUTH_TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
_PLUGIN_VARIABLES = "forge.core.plugins.variables"  # loaded when the first plugin has a hook


class Unusable(Exception):
    """The hook cannot be started the way it is configured; the text says why."""


def arguments(hook: Hook, project_dir: str) -> list[str]:
    """The command line of a hook; with `args` no shell is involved."""
    if hook.plugin is not None and not os.path.isdir(hook.plugin.root):
        raise Unusable(f"plugin directory does not exist: {hook.plugin.root}")
    command = str(hook.fields["command"])
    given = hook.fields.get("args")
    texts = [command, *(given or ())]
    if hook.plugin is None and not hook.base and any("${CLAUDE_PLUGIN_ROOT}" in text for text in texts):
        raise Unusable("${CLAUDE_PLUGIN_ROOT} has a value only in hooks of plugins and skills")
    if given is not None:
        return [_replaced(hook, text, project_dir) for text in texts]
    if hook.plugin is not None and "${user_config." in command:
        raise Unusable('${user_config.…} can be used only with "args", where no shell reads it')
    if hook.fields.get("shell") == "powershell":
        return ["pwsh", "-NoProfile", "-Command", command]
    if hook.base and command.startswith("./"):
        command = f'"$CLAUDE_PLUGIN_ROOT"/{command.removeprefix("./")}'
    return [SHELL, "-c", command]


def _replaced(hook: Hook, text: str, project_dir: str) -> str:
    if hook.plugin is not None:
        text = str(import_module(_PLUGIN_VARIABLES).expand(text, hook.plugin, project_dir))
    elif hook.base:
        text = text.replace("${CLAUDE_PLUGIN_ROOT}", hook.base)
    return text.replace("${CLAUDE_PROJECT_DIR}", project_dir)


def environment(
    hook: Hook, env: Mapping[str, str], facts: Mapping[str, str], project_dir: str
) -> dict[str, str]:
    """The environment of the session with what hooks are told, in both families of names."""
    scrubbed = env.get("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") == "1"
    own = {
        name: value
        for name, value in env.items()
        if not name.startswith(_NOT_THEIRS) and not (scrubbed and name.endswith(_SECRETS))
    }
    pid = str(os.getpid())
    own |= {
        "CLAUDECODE": "1",
        "FORGECODE": "1",
        "CLAUDE_PROJECT_DIR": project_dir,
        "FORGE_PROJECT_DIR": project_dir,
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "FORGE_CHILD_SESSION": "1",
        "CLAUDE_PID": pid,
        "FORGE_PID": pid,
        "CLAUDE_CODE_ENTRYPOINT": env.get("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
        "AI_AGENT": f"claude-code_{COMPATIBLE_WITH.replace('.', '-')}_agent",
        "FORGE_AGENT": f"forge_{VERSION.replace('.', '-')}_agent",
        **facts,
    }
    if hook.plugin is not None:
        own |= import_module(_PLUGIN_VARIABLES).plugin_environment(hook.plugin, project_dir)
    elif hook.base:
        own |= {"CLAUDE_PLUGIN_ROOT": hook.base, "FORGE_PLUGIN_ROOT": hook.base}
    return own


def session_facts(session_id: str, effort: str, env_file: str, *, attended: bool) -> dict[str, str]:
    """What hooks are told of the session."""
    facts = {
        "CLAUDE_CODE_SESSION_ID": session_id,
        "CLAUDE_SESSION_ID": session_id,
        "FORGE_SESSION_ID": session_id,
        "CLAUDE_CODE_SESSION_ATTENDED": str(int(attended)),
        "FORGE_SESSION_ATTENDED": str(int(attended)),
    }
    if effort:
        facts |= {"CLAUDE_EFFORT": effort, "FORGE_EFFORT": effort}
    if env_file:
        facts |= {"CLAUDE_ENV_FILE": env_file, "FORGE_ENV_FILE": env_file}
    return facts
