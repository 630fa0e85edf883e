"""Fetches git repositories: no questions, no hooks, no submodules, no transports that run programs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from forge.core.installing.program import Finished, run_program
from forge.core.plugins.context import PluginFailure
from forge.core.plugins.source import without_login

CLONE_SECONDS = 120.0
_SCP_LIKE = re.compile(r"[\w.-]+@[\w.-]+:[^\s:][^\s]*")
_URL = re.compile(r"(https?|ssh|git|file)://[^\s]+")
_REF = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|/$))[\w./@+-]+")
_SHA = re.compile(r"[0-9a-f]{40}")

_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_SAFE = (
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "advice.detachedHead=false",
)


def clone(url: str, target: str, env: Mapping[str, str], *, ref: str = "", sha: str = "") -> str:
    """Puts a repository at `target` and returns the commit; with `sha` exactly that one is checked out."""
    check_url(url)
    if ref and not _REF.fullmatch(ref):
        raise PluginFailure(f"{ref!r} is not the name of a branch or tag.", "error_policy")
    if sha and not _SHA.fullmatch(sha):
        raise PluginFailure(f"{sha!r} is not a full commit id of 40 lower-case digits.", "error_policy")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    branch = [f"--branch={ref}"] if ref else []
    common = ["clone", "--template=", "--no-recurse-submodules", *branch]
    if sha:
        _clone([*common, "--no-checkout", "--", url, target], env)
        done = _git(["-C", target, "checkout", "--detach", sha], env)
        if done.code:
            raise PluginFailure(f"Failed to checkout commit {sha}: {without_login(done.err.strip())}")
    else:
        _clone([*common, "--depth=1", "--", url, target], env)
    commit = _git(["-C", target, "rev-parse", "HEAD"], env).out.strip()
    if sha and commit != sha:
        raise PluginFailure(
            f"The repository gave commit {commit or 'none'} instead of {sha}.", "error_integrity"
        )
    return commit


def check_url(url: str) -> None:
    """Refuses what git would take for an option or for a program to run."""
    shown = without_login(url)
    fits = _URL.fullmatch(url) or _SCP_LIKE.fullmatch(url)
    if not fits or url.startswith("-") or "::" in url.partition("://")[0]:
        raise PluginFailure(
            f"{shown!r} is not an address of a git repository that may be used (https, ssh, git or file).",
            "error_policy",
        )
    host = url.partition("://")[2] or url
    if host.startswith("-") or host.rpartition("@")[2].startswith("-"):
        raise PluginFailure(f"{shown!r} has a host name that looks like an option.", "error_policy")


def commit_of(directory: str, env: Mapping[str, str]) -> str:
    """The commit a checkout is at; empty when it is none."""
    if not os.path.isdir(os.path.join(directory, ".git")):
        return ""
    return _git(["-C", directory, "rev-parse", "HEAD"], env).out.strip()


def _clone(arguments: list[str], env: Mapping[str, str]) -> None:
    done = _git(arguments, env)
    if done.code and "does not support shallow" in done.err:
        # Plain web servers offer files only; they can serve whole repositories.
        done = _git([word for word in arguments if word != "--depth=1"], env)
    if done.timed_out:
        raise PluginFailure(f"git did not finish within {CLONE_SECONDS:g} s.", "error_network")
    if done.code:
        missing = "not found" in done.err
        code = "error_not_found" if missing else "error_unknown"
        raise PluginFailure(f"Failed to clone repository: {without_login(done.err.strip())}", code)


def _git(arguments: list[str], env: Mapping[str, str]) -> Finished:
    inherited = {key: value for key, value in env.items() if not _redirects(key)}
    ssh = {"GIT_SSH_COMMAND": env.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")}
    try:
        return run_program(["git", *_SAFE, *arguments], os.sep, {**inherited, **ssh, **_QUIET}, CLONE_SECONDS)
    except FileNotFoundError:
        raise PluginFailure("git is not installed, and this source needs it.", "error_not_found") from None


def _redirects(key: str) -> bool:
    """Variables that would make git work on another repository than the one named."""
    return key in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_TEMPLATE_DIR")
