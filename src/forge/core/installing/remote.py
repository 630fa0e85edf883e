"""Installs a plugin straight from an address: a git repository, an archive, or an npm package."""

from __future__ import annotations

import os
import re

from forge.core.installing.copying import discard
from forge.core.installing.fetch import fetch_source
from forge.core.installing.install_path import install_path, plugins_root
from forge.core.installing.request import Request
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.source import Source, without_login

_ARCHIVE = re.compile(r"(https?://\S+\.(?:zip|tgz|tar\.gz))(?:#sha256=([0-9a-fA-F]{64}))?")
_GIT = re.compile(r"((?:https?|ssh|git|file)://\S+?|[\w.-]+@[\w.-]+:\S+?)(?:#(\S+))?")
_GITHUB = re.compile(r"github:([\w.-]+/[\w.-]+?)(?:#(\S+))?")
_PACKAGE = re.compile(r"npm:(@[\w.-]+/[\w.-]+|[\w.-]+)(?:@(\S+))?")
_SHA = re.compile(r"[0-9a-f]{40}")
_LOOPBACK = ("http://127.", "http://localhost", "http://[::1]")


def remote_source(argument: str) -> Source | None:
    """The source an address means; None when the word is no address."""
    archive = _ARCHIVE.fullmatch(argument)
    if archive:
        return {"source": "archive", "url": archive[1], **({"sha256": archive[2]} if archive[2] else {})}
    package = _PACKAGE.fullmatch(argument)
    if package:
        return {"source": "npm", "package": package[1], **({"version": package[2]} if package[2] else {})}
    github = _GITHUB.fullmatch(argument)
    if github:
        return {"source": "github", "repo": github[1], **_pin(github[2])}
    repository = _GIT.fullmatch(argument)
    return {"source": "url", "url": repository[1], **_pin(repository[2])} if repository else None


def install_remote(source: Source, request: Request, context: Context) -> Outcome:
    """Fetches the plugin, then goes on as with a directory: copied, shown, off until trusted."""
    url = str(source.get("url") or "")
    if source["source"] == "archive" and url.startswith("http://") and not url.startswith(_LOOPBACK):
        raise PluginFailure("Archives are fetched over https only.", "error_policy")
    scratch = os.path.join(plugins_root(request.scope("user"), context), f".fetch-{os.urandom(6).hex()}")
    try:
        fetched = fetch_source(source, scratch, context)
        return install_path(fetched.path, request, context, shown=without_login(request.words[0]))
    finally:
        discard(scratch)


def _pin(ref: str | None) -> dict[str, str]:
    """A fragment is a commit when it looks like one, else a branch or tag."""
    if not ref:
        return {}
    return {"sha": ref} if _SHA.fullmatch(ref) else {"ref": ref}
