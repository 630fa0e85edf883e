"""Reads what the user decided in advance: managed, user and project settings, in this order of strength.

A project can only make things stricter: whoever clones a repository has not decided anything yet.
"""

from __future__ import annotations

import json
import os
from importlib import import_module

from forge.core.shell.analysis.policy import Policy, add_settings
from forge.foundation.errors import ConfigError
from forge.foundation.gitdir import find_root
from forge.foundation.homes import DIALECTS, home_dir, user_dirs
from forge.foundation.inside import is_inside
from forge.foundation.system.locks import MANAGED_DIRS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _typeshed import Incomplete

_HINT = "Until then forgecmd decides nothing: correct the file, or move it away."


def load_policy(env: Mapping[str, str], cwd: str, managed: Sequence[str] = MANAGED_DIRS) -> Policy:
    """The policy for commands in a directory; ConfigError with file and line if a file cannot be used."""
    policy = Policy()
    strict = [(path, _read(path)) for directory in managed for path in _managed(directory)]
    # Where only managed rules count, the user's may still forbid.
    alone = any(data.get("allowManagedPermissionRulesOnly") is True for _, (data, _) in strict)
    for directory in user_dirs(env):
        for name in (".forge.toml", "settings.json"):
            path = os.path.join(directory, name)
            _add(policy, path, _read(path), not alone)
    for path, content in strict:
        _add(policy, path, content, True)
    for path in _project_files(env, cwd):
        _add(policy, path, _read(path), False)
    return policy


def workspace_of(env: Mapping[str, str], cwd: str) -> str:
    """The directory a project lives in: the agent's own, else the repository, else where we are."""
    home = os.path.normpath(home_dir(env))
    for root in (env.get("CLAUDE_PROJECT_DIR", ""), find_root(cwd)):
        root = os.path.normpath(root) if os.path.isabs(root) else ""
        # A repository of dot files must not make the whole home directory a workspace.
        if root and is_inside(cwd, root) and not is_inside(home, root):
            return root
    return cwd


def _managed(directory: str) -> list[str]:
    more = os.path.join(directory, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(more) if name.endswith(".json") and name[0] != ".")
    except OSError:
        names = []
    return [os.path.join(directory, "managed-settings.json"), *(os.path.join(more, n) for n in names)]


def _project_files(env: Mapping[str, str], cwd: str) -> list[str]:
    own = [os.path.realpath(directory) for directory in user_dirs(env)]
    roots = dict.fromkeys((workspace_of(env, cwd), cwd))
    folders = [os.path.join(root, dialect) for root in roots for dialect in DIALECTS]
    names = ("settings.json", "settings.local.json")
    return [os.path.join(f, n) for f in folders if os.path.realpath(f) not in own for n in names]


def _read(path: str) -> tuple[dict[str, Incomplete], str]:
    """The content of a file and its text; nothing if there is none."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"cannot be read: {reason}", path=path, hint=_HINT) from None
    return _parsed(text, path), text


def _parsed(text: str, path: str) -> dict[str, Incomplete]:
    if path.endswith(".toml"):
        return _toml(text, path)
    try:
        data = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg}"
        raise ConfigError(what, path=path, line=error.lineno, column=error.colno, hint=_HINT) from None
    except RecursionError:
        raise ConfigError("nested too deeply", path=path, hint=_HINT) from None
    if not isinstance(data, dict):
        raise ConfigError("expected an object", path=path, line=1, column=1, hint=_HINT)
    return data


def _toml(text: str, path: str) -> dict[str, Incomplete]:
    tomllib = import_module("tomllib")
    try:
        data: dict[str, Incomplete] = tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f"not valid TOML: {error}", path=path, hint=_HINT) from None
    return data


def _add(policy: Policy, path: str, content: tuple[dict[str, Incomplete], str], trusted: bool) -> None:
    data, text = content
    if not data:
        return
    try:
        add_settings(policy, data, path, trusted)
    except ConfigError as error:
        raise _placed(error, path, text) from None


def _placed(error: ConfigError, path: str, text: str) -> ConfigError:
    """The same error with the line of the key that its message names."""
    message = error.message.removeprefix(f"{path}: ")
    key = message.partition(":")[0].replace("[", ".").replace("]", "")
    line = column = 0
    if path.endswith(".json"):
        line, column = import_module("forge.foundation.jsontext").place(text, tuple(key.split(".")))
    hint = f"{error.hint} {_HINT}" if error.hint else _HINT
    return ConfigError(message, path=path, line=line, column=column, hint=hint)
