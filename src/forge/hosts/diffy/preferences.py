"""What the user prefers: which surface, what to do when nobody watches, how a hook answers."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ConfigError, UsageError

UNATTENDED = ("skip", "web", "block")
OUTPUTS = ("exit2", "json")


class Preferences(msgspec.Struct, frozen=True):
    """The file `diffy.json` in Forge's home. `web`: offer the page even where no browser is in sight."""

    surface: str = ""
    unattended: str = "skip"
    hook_output: str = "exit2"
    web: bool = False
    web_port: int = 0


def read_preferences(env: Mapping[str, str]) -> Preferences:
    """The file and the variables `DIFFY_SURFACE`, `DIFFY_UNATTENDED`, `DIFFY_HOOK_OUTPUT`, `DIFFY_WEB_PORT`,
    which are stronger."""
    found = _checked(_read(preferences_file(env)), env)
    for name, allowed in (("unattended", UNATTENDED), ("hook_output", OUTPUTS)):
        if getattr(found, name) not in allowed:
            raise UsageError(
                f"{name} is {getattr(found, name)!r}.", f"It must be one of: {', '.join(allowed)}."
            )
    return found


def preferences_file(env: Mapping[str, str]) -> str:
    """Where the preferences are."""
    home = env.get("HOME") or os.path.expanduser("~")
    return os.path.join(env.get("FORGE_HOME") or os.path.join(home, ".forge"), "diffy.json")


def _read(path: str) -> Preferences:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=Preferences)
    except (FileNotFoundError, NotADirectoryError):
        return Preferences()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from None
    except NOT_JSON as error:
        raise ConfigError(str(error), path=path) from None


def _checked(found: Preferences, env: Mapping[str, str]) -> Preferences:
    port = env.get("DIFFY_WEB_PORT", "")
    return Preferences(
        surface=env.get("DIFFY_SURFACE") or found.surface,
        unattended=env.get("DIFFY_UNATTENDED") or found.unattended,
        hook_output=env.get("DIFFY_HOOK_OUTPUT") or found.hook_output,
        web=found.web or bool(port),
        web_port=int(port) if port.isdecimal() else found.web_port,
    )


def is_unattended(env: Mapping[str, str]) -> bool:
    """Whether nobody sits in front of the agent: it says so, is run by a program, or this is CI."""
    for name in ("FORGE_SESSION_ATTENDED", "CLAUDE_CODE_SESSION_ATTENDED"):
        if env.get(name):
            return env[name] == "0"
    if env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk"):
        return True
    return env.get("CI", "").lower() not in ("", "0", "false")
