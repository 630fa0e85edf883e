"""What a command may reach, by profile: read, workspace, build, full."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from forge.core.shell.sandbox.facts import Facts
from forge.foundation.inside import is_inside
from forge.foundation.system.keeping import Confinement

# Below the home directory. Registries' own keys are needed by installs, which have a profile of their own.
SECRETS = (
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".netrc", ".git-credentials", ".pgpass", ".my.cnf", ".boto",
    ".s3cfg", ".vault-token", ".password-store", ".config/gh", ".config/hub", ".config/gcloud", ".config/op",
    ".config/rclone", ".config/doctl", ".config/heroku", ".terraform.d", ".terraformrc",
    ".docker/config.json", ".local/share/keyrings", "Library/Keychains", ".mozilla", ".config/google-chrome",
    ".config/chromium", ".config/BraveSoftware", ".thunderbird", ".bitcoin", ".electrum", ".ethereum",
    ".codex/auth.json",
    ".claude/.credentials.json", ".local/share/opencode/auth.json", ".gemini/oauth_creds.json",
    ".config/sops",
)  # fmt: skip
REGISTRY_SECRETS = (".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml",
                    ".gem/credentials", ".m2/settings.xml", ".nuget/NuGet/NuGet.Config")  # fmt: skip
SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private")
# Whoever may talk to these can leave any sandbox.
SOCKETS = (
    "/run/docker.sock", "/var/run/docker.sock", "/run/containerd", "/run/podman", "/run/crio", "/run/dbus",
    "/run/systemd/private", "/run/snapd.socket", "/run/libvirt",
)  # fmt: skip
# In the workspace: what is executed later, or decides what this program may do.
PROTECTED = (
    ".git/hooks", ".git/config", ".gitmodules", ".husky", ".vscode", ".idea", ".claude", ".forge",
    ".forgecode", ".mcp.json", ".envrc",
)  # fmt: skip
CACHES = (
    ".cache", ".npm", ".pnpm-store", ".local/share/pnpm", ".yarn", ".cargo/registry", ".cargo/git", "go/pkg",
    ".m2/repository", ".gradle/caches", ".ivy2", ".nuget/packages", ".bundle/cache", ".deno",
    ".bun/install/cache",
)  # fmt: skip


_REFUSED = re.compile(
    r"Permission denied|Operation not permitted|Read-only file system|Network is unreachable|EACCES|EPERM"
    r"|EROFS|Could not resolve host|[Tt]emporary failure in name resolution|ENETUNREACH|ENOTFOUND|EAI_AGAIN"
)


_OFFLINE = re.compile(
    r"Network is unreachable|Could not resolve host|[Tt]emporary failure in name resolution|ENETUNREACH"
    r"|ENOTFOUND|EAI_AGAIN"
)


class Profile(StrEnum):
    """From the narrowest to none."""

    READ = "read"
    WORKSPACE = "workspace"
    BUILD = "build"
    FULL = "full"


class Places(msgspec.Struct, frozen=True):
    """The directories of a session. `temp` belongs to it alone; `hide` adds to what nobody may see."""

    workspace: str
    home: str
    temp: str
    write: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()


class NoSandbox(Exception):
    """A profile was asked for that this machine cannot enforce; the text says what is missing."""


def confinement(profile: Profile, places: Places, facts: Facts) -> Confinement | None:
    """The sandbox of a profile, None for the full one; NoSandbox where the kernel cannot confine anything."""
    if profile is Profile.FULL:
        return None
    if facts.layer > 3:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in facts.missing)
        raise NoSandbox(f"The profile {profile} needs a sandbox that does not work here ({reasons}).")
    hide = _hidden(profile, places)
    write = [places.temp]
    if profile is not Profile.READ:
        write += [places.workspace, *places.write]
        write += [path for name in CACHES if os.path.isdir(path := os.path.join(places.home, name))]
    spaces = facts.layer == 1
    network = profile is Profile.BUILD
    return Confinement(
        read=("/",) if spaces else tuple(without(hide)),
        write=tuple(dict.fromkeys(os.path.realpath(path) for path in write)),
        protect=_protected(places),
        hide=tuple(hide),
        no_network=not network,
        namespaces=spaces,
        fresh_proc=spaces and facts.fresh_proc,
        landlock=True,
        seccomp=True,
        # Without a mount namespace the sockets of other programs cannot be hidden.
        sockets="any" if network or spaces else "none",
    )


def cut_off(sandbox: Confinement | None, facts: Facts) -> Confinement:
    """The same sandbox without a network, also where there was none; NoSandbox where that cannot be had."""
    if facts.layer > 3:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in facts.missing)
        raise NoSandbox(f"With airGap commands get no network, which cannot be enforced here ({reasons}).")
    spaces = facts.layer == 1
    if sandbox is None:
        proc = spaces and facts.fresh_proc
        sandbox = Confinement(write=("/",), namespaces=spaces, fresh_proc=proc, landlock=True, seccomp=True)
    return msgspec.structs.replace(sandbox, no_network=True, sockets="any" if spaces else "none")


def wider(profile: Profile) -> Profile | None:
    """The next profile, in which a command that was refused something may be offered another try."""
    order = list(Profile)
    place = order.index(profile) + 1
    return order[place] if place < len(order) else None


def looks_refused(text: str) -> bool:
    """Whether output of a command that failed says that a sandbox was in its way."""
    return _REFUSED.search(text) is not None


def looks_offline(text: str) -> bool:
    """Whether output of a command that failed says that it had no network."""
    return _OFFLINE.search(text) is not None


def sockets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """Sockets that an environment leads to and that are as good as credentials."""
    docker = env.get("DOCKER_HOST", "").removeprefix("unix://")
    named = [env.get("SSH_AUTH_SOCK", ""), env.get("XDG_RUNTIME_DIR", ""), docker]
    return tuple(path for path in named if os.path.isabs(path))


def cache_variables(directory: str) -> dict[str, str]:
    """Variables that lead tools to caches in a place they may write."""
    return {
        "XDG_CACHE_HOME": directory,
        "npm_config_cache": os.path.join(directory, "npm"),
        "PIP_CACHE_DIR": os.path.join(directory, "pip"),
        "GOCACHE": os.path.join(directory, "go"),
        "UV_CACHE_DIR": os.path.join(directory, "uv"),
    }


def without(hidden: list[str], top: str = "/") -> list[str]:
    """The largest directories and files below `top` that contain nothing hidden."""
    below = [path for path in hidden if path.startswith(top.rstrip("/") + "/")]
    if not below:
        return [top]
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return []
    # What a link leads to has a place of its own in the tree.
    children = [path for name in names if not os.path.islink(path := os.path.join(top, name))]
    return [part for child in children if child not in hidden for part in without(below, child)]


def _hidden(profile: Profile, places: Places) -> list[str]:
    names = SECRETS if profile is Profile.BUILD else SECRETS + REGISTRY_SECRETS
    wanted = [os.path.join(places.home, name) for name in names]
    wanted += [*SYSTEM_SECRETS, *SOCKETS, *places.hide]
    own = (places.workspace, places.temp, *places.write)
    found = {os.path.realpath(path) for path in wanted if os.path.exists(path)}
    # What the user has opened explicitly is not hidden, and nothing that contains it.
    return sorted(path for path in found if not any(is_inside(os.path.realpath(o), path) for o in own))


def _protected(places: Places) -> tuple[str, ...]:
    root = os.path.realpath(places.workspace)
    return tuple(path for name in PROTECTED if os.path.lexists(path := os.path.join(root, name)))
