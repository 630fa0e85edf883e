"""The environment a guarded command gets: a list of what is harmless, never a secret, and programs from
trusted directories only."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from forge.foundation.inside import is_inside, is_really_inside
from forge.foundation.redact import holds_secret

# Names; a star stands for the rest of one. (Text, because compiling patterns would cost every run.)
_ALLOWED = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TERM_PROGRAM TZ TMPDIR TEMP TMP PWD OLDPWD
EDITOR VISUAL HOSTNAME HOSTTYPE MAIL SHLVL DISPLAY WAYLAND_DISPLAY XDG_* COLUMNS LINES LESS LS_COLORS
MANPATH INFOPATH GOPATH GOROOT GOFLAGS GOPROXY GOCACHE GOMODCACHE GOBIN CARGO_HOME CARGO_TARGET_DIR
RUSTUP_HOME RUSTFLAGS RUST_BACKTRACE RUST_LOG NVM_DIR NVM_BIN NODE_ENV NODE_PATH NODE_EXTRA_CA_CERTS
VOLTA_HOME PNPM_HOME COREPACK_* BUN_INSTALL DENO_DIR NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_REGISTRY
VIRTUAL_ENV CONDA_PREFIX CONDA_EXE CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION PYTHONPATH PYTHONHOME
PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PIP_CACHE_DIR PIP_INDEX_URL UV_*
POETRY_HOME PIPENV_* JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR
KOTLIN_HOME ANDROID_HOME ANDROID_SDK_ROOT GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION BUNDLE_PATH
PHP_INI_SCAN_DIR COMPOSER_HOME DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES GHCUP_* STACK_ROOT OPAM* CC CXX
CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBRARY_PATH CPATH PKG_CONFIG_PATH CMAKE_* MAKEFLAGS NINJA_STATUS
CI DEBUG VERBOSE NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY
NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_PAGER GIT_EDITOR
GIT_TERMINAL_PROMPT PAGER MANPAGER GH_PAGER DEBIAN_FRONTEND AI_AGENT CLAUDECODE FORGECODE FORGE_SESSION_ID
FORGE_PID FORGE_AGENT FORGE_CHILD_SESSION SYSTEMROOT WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA
PROGRAMFILES*
"""
_SECRET = """
AWS_* AZURE_* GOOGLE_* GCP_* GH_* GITHUB_* GITLAB_* OPENAI_* ANTHROPIC_* SLACK_* STRIPE_* TWILIO_* SENTRY_*
HF_* DO_* CF_* VAULT_* PGPASSFILE MYSQL_PWD REDIS_URL MONGO_URL MONGO_URI MONGODB_URI MONGODB_URL DSN
KUBECONFIG
"""
_SECRET_WORDS = (
    "KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "AUTH", "PRIVATE",
    "DATABASE_URL", "CONNECTION_STRING", "_DSN",
)  # fmt: skip
_LOADING = """
LD_* DYLD_* BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 BASH_FUNC_* BASH_XTRACEFD
PERL5* RUBYOPT RUBYLIB NODE_OPTIONS PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT GIT_CONFIG* GIT_SSH*
GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_PROXY_COMMAND SSH_ASKPASS LESSOPEN LESSCLOSE BROWSER
GCONV_PATH MALLOC_* GLIBC_TUNABLES RIPGREP_CONFIG_PATH IFS CDPATH GLOBIGNORE HISTFILE JAVA_OPTIONS
_JAVA_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
"""
_PAGERS = {name: "cat" for name in ("PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "SYSTEMD_PAGER")}


class Filtered(msgspec.Struct, frozen=True):
    """What a command gets, the names of what it does not get, and values that must not be kept anywhere."""

    env: dict[str, str]
    removed: tuple[str, ...]
    secrets: tuple[str, ...]


def filter_environment(env: Mapping[str, str], *, allow: Iterable[str] = ()) -> Filtered:
    """The harmless part of an environment. `allow` names variables of the user's choice, whatever they hold.

    Variables that change how programs load code are removed in any case.
    """
    chosen = {name.upper() for name in allow}
    kept: dict[str, str] = {}
    secrets: set[str] = set()
    for name, value in env.items():
        secret = _is_secret(name, value)
        if secret:
            secrets.add(value)
        wanted = name.upper() in chosen or (not secret and _is_one_of(name, _ALLOWED))
        if wanted and not _is_one_of(name, _LOADING):
            kept[name] = value
    removed = tuple(sorted(name for name in env if name not in kept))
    return Filtered(kept, removed, tuple(sorted(secrets)))


def _is_secret(name: str, value: str) -> bool:
    # An author is no authority.
    upper = name.upper().replace("AUTHOR", "")
    named = any(word in upper for word in _SECRET_WORDS)
    allowed = upper in ("GH_PAGER", "DO_NOT_TRACK")
    return (not allowed and (named or _is_one_of(name, _SECRET))) or holds_secret(value)


def _is_one_of(name: str, table: str) -> bool:
    names, starts = _table(table)
    upper = name.upper()
    return upper in names or upper.startswith(starts)


@lru_cache(maxsize=4)
def _table(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = text.split()
    starts = tuple(word[:-1] for word in words if word.endswith("*"))
    return frozenset(word for word in words if not word.endswith("*")), starts


def carry_exports(env: Mapping[str, str], exports: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of the next command: what the last one exported, but nothing that loads code."""
    if exports is None:
        return dict(env)
    return {name: value for name, value in exports.items() if not _is_one_of(name, _LOADING)}


def quiet_variables(*, terminal: bool) -> dict[str, str]:
    """Variables that keep programs from paging, asking and painting."""
    return {
        **_PAGERS,
        "TERM": "xterm-256color" if terminal else "dumb",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "DEBIAN_FRONTEND": "noninteractive",
        "PYTHONUNBUFFERED": "1",
        **({} if terminal else {"NO_COLOR": "1"}),
    }


def safe_path(path: str, workspace: str, *, trusted: Iterable[str] = ()) -> str:
    """PATH without relative directories and without those of the workspace, unless the user trusts them."""
    root = os.path.realpath(workspace)
    chosen = {os.path.realpath(directory) for directory in trusted}
    kept = []
    for directory in path.split(os.pathsep):
        real = os.path.realpath(directory)
        allowed = real in chosen or not is_inside(real, root)
        if os.path.isabs(directory) and allowed and directory not in kept:
            kept.append(directory)
    return os.pathsep.join(kept)


def snapshot(env: Mapping[str, str]) -> dict[str, str]:
    """Names with a hash of each value: enough to see that something changed, never what it was."""
    return {name: hashlib.sha256(os.fsencode(value)).hexdigest()[:12] for name, value in sorted(env.items())}


def next_directory(cwd: str, before: str, places: Iterable[str]) -> tuple[str, str]:
    """Where the next command starts, and what to say about it: outside of the places nothing stays."""
    if is_really_inside(cwd, *places):
        return cwd, ""
    return before, f"The working directory was reset to {before}: {cwd} is outside of the workspace."
