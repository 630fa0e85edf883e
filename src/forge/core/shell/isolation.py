"""The environment a guarded command gets: a list of what is harmless, never a secret, and programs from
trusted directories only."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping

import msgspec

from forge.foundation.redact import holds_secret

_ALLOWED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TERM|COLORTERM|TERM_PROGRAM|TZ|TMPDIR|TEMP|TMP|PWD|OLDPWD"
    r"|EDITOR|VISUAL|HOSTNAME|HOSTTYPE|MAIL|SHLVL|DISPLAY|WAYLAND_DISPLAY|XDG_.*|DBUS_SESSION_BUS_ADDRESS"
    r"|GOPATH|GOROOT|GOFLAGS|GOPROXY|GOCACHE|GOMODCACHE|GOBIN|CARGO_HOME|CARGO_TARGET_DIR|RUSTUP_HOME|RUSTFLAGS"
    r"|RUST_BACKTRACE|RUST_LOG|NVM_DIR|NVM_BIN|NODE_ENV|NODE_PATH|NODE_EXTRA_CA_CERTS|VOLTA_HOME|PNPM_HOME"
    r"|COREPACK_.*|BUN_INSTALL|DENO_DIR|npm_config_(?:cache|prefix|registry)|VIRTUAL_ENV|CONDA_PREFIX"
    r"|CONDA_DEFAULT_ENV|CONDA_EXE|PYENV_ROOT|PYENV_VERSION|PYTHONPATH|PYTHONHOME|PYTHONUNBUFFERED"
    r"|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8|PIP_CACHE_DIR|PIP_INDEX_URL|UV_.*|POETRY_HOME"
    r"|PIPENV_.*|JAVA_HOME|JDK_HOME|MAVEN_HOME|M2_HOME|GRADLE_HOME|GRADLE_USER_HOME|SDKMAN_DIR|KOTLIN_HOME"
    r"|ANDROID_HOME|ANDROID_SDK_ROOT|GEM_HOME|GEM_PATH|RBENV_ROOT|RBENV_VERSION|BUNDLE_PATH|PHP_INI_SCAN_DIR"
    r"|COMPOSER_HOME|DOTNET_ROOT|DOTNET_CLI_HOME|NUGET_PACKAGES|HASKELL_.*|GHCUP_.*|STACK_ROOT|OPAM.*"
    r"|CC|CXX|CPP|LD|AR|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|LIBRARY_PATH|CPATH|PKG_CONFIG_PATH|CMAKE_.*|MAKEFLAGS"
    r"|NINJA_STATUS|CI|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|LESS|LS_COLORS"
    r"|(?:HTTPS?|FTP|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|MANPATH|INFOPATH"
    r"|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_PAGER|GIT_EDITOR|GIT_TERMINAL_PROMPT|PAGER|MANPAGER"
    r"|GH_PAGER|DEBIAN_FRONTEND|COREPACK_ENABLE_AUTO_PIN|AI_AGENT|CLAUDECODE|FORGECODE|FORGE_(?:SESSION_ID|PID|AGENT)"
    r"|FORGE_CHILD_SESSION|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMFILES.*",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r".*(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|AUTH(?!OR)|PRIVATE).*|.*_DSN|.*DATABASE_URL"
    r"|(?:AWS|AZURE|GOOGLE|GCP|GH|GITHUB|GITLAB|OPENAI|ANTHROPIC|SLACK|STRIPE|TWILIO|SENTRY|NPM|HF|DO|CF|VAULT)_.*"
    r"|PG(?:PASSWORD|PASSFILE)|MYSQL_PWD|REDIS_URL|MONGO(?:DB)?_UR[IL]|.*CONNECTION_STRING|KUBECONFIG",
    re.IGNORECASE,
)
_LOADING = re.compile(
    r"LD_(?!$).*|DYLD_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|BASH_XTRACEFD|PERL5.*"
    r"|RUBYOPT|RUBYLIB|NODE_OPTIONS|PYTHONSTARTUP|PYTHONINSPECT|PYTHONBREAKPOINT|GIT_CONFIG.*|GIT_SSH.*|GIT_ASKPASS"
    r"|GIT_EXTERNAL_DIFF|GIT_EXEC_PATH|GIT_PROXY_COMMAND|SSH_ASKPASS|LESSOPEN|LESSCLOSE|BROWSER|GCONV_PATH"
    r"|MALLOC_.*|GLIBC_TUNABLES|RIPGREP_CONFIG_PATH|IFS|CDPATH|GLOBIGNORE|HISTFILE|(?:_?JAVA_(?:TOOL_)?|JDK_JAVA_)OPTIONS",
    re.IGNORECASE,
)
_PAGERS = {name: "cat" for name in ("PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "SYSTEMD_PAGER")}


class Filtered(msgspec.Struct, frozen=True):
    """What a command gets, the names of what it does not get, and values that must not be kept anywhere."""

    env: dict[str, str]
    removed: tuple[str, ...]
    secrets: tuple[str, ...]


def filter_environment(
    env: Mapping[str, str], *, allow: Iterable[str] = (), ssh_agent: bool = False
) -> Filtered:
    """The harmless part of an environment. `allow` names variables of the user's choice, whatever they hold.

    Variables that change how programs load code are removed in any case.
    """
    chosen = {name.upper() for name in allow} | ({"SSH_AUTH_SOCK", "SSH_AGENT_PID"} if ssh_agent else set())
    kept: dict[str, str] = {}
    secrets: set[str] = set()
    for name, value in env.items():
        secret = _is_secret(name, value)
        if secret:
            secrets.add(value)
        wanted = name.upper() in chosen or (not secret and _ALLOWED.fullmatch(name) is not None)
        if wanted and _LOADING.fullmatch(name) is None:
            kept[name] = value
    removed = tuple(sorted(name for name in env if name not in kept))
    return Filtered(kept, removed, tuple(sorted(secrets)))


def _is_secret(name: str, value: str) -> bool:
    return _SECRET.fullmatch(name) is not None or holds_secret(value)


def carry_exports(env: Mapping[str, str], exports: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of the next command: what the last one exported, but nothing that loads code."""
    if exports is None:
        return dict(env)
    return {name: value for name, value in exports.items() if _LOADING.fullmatch(name) is None}


def quiet_variables(*, terminal: bool, ci: bool = False) -> dict[str, str]:
    """Variables that keep programs from paging, asking and painting."""
    return {
        **_PAGERS,
        "TERM": "xterm-256color" if terminal else "dumb",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "DEBIAN_FRONTEND": "noninteractive",
        "PYTHONUNBUFFERED": "1",
        **({} if terminal else {"NO_COLOR": "1"}),
        **({"CI": "1"} if ci else {}),
    }


def safe_path(path: str, workspace: str, *, trusted: Iterable[str] = ()) -> str:
    """PATH without relative directories and without those of the workspace, unless the user trusts them."""
    root = os.path.realpath(workspace)
    chosen = {os.path.realpath(directory) for directory in trusted}
    kept = []
    for directory in path.split(os.pathsep):
        real = os.path.realpath(directory)
        inside = real == root or real.startswith(root + os.sep)
        if os.path.isabs(directory) and (not inside or real in chosen) and directory not in kept:
            kept.append(directory)
    return os.pathsep.join(kept)


def find_program(name: str, path: str) -> str:
    """The absolute path of a program as the filtered PATH has it; "" if there is none."""
    if os.sep in name:
        return os.path.abspath(name) if os.access(name, os.X_OK) else ""
    places = [os.path.join(directory, name) for directory in path.split(os.pathsep) if directory]
    return next((p for p in places if os.path.isfile(p) and os.access(p, os.X_OK)), "")


def snapshot(env: Mapping[str, str]) -> dict[str, str]:
    """Names with a hash of each value: enough to see that something changed, never what it was."""
    return {name: hashlib.sha256(os.fsencode(value)).hexdigest()[:12] for name, value in sorted(env.items())}


def next_directory(cwd: str, before: str, places: Iterable[str]) -> tuple[str, str]:
    """Where the next command starts, and what to say about it: outside of the places nothing stays."""
    if is_inside(cwd, places):
        return cwd, ""
    return before, f"The working directory was reset to {before}: {cwd} is outside of the workspace."


def is_inside(directory: str, places: Iterable[str]) -> bool:
    """Whether a directory is one of these or below, with links resolved."""
    real = os.path.realpath(directory)
    roots = [os.path.realpath(place) for place in places]
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
