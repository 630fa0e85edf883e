"""Where plugins and marketplaces can come from: reading what a user or a catalogue says about it."""

from __future__ import annotations

import os
import re
from typing import Any

from forge.core.plugins.context import PluginFailure
from forge.core.plugins.shape import ANY, STRING, Issue, Shape, choice, issues, soft, text

Source = dict[str, Any]

_SHA = re.compile(r"[0-9a-f]{40}")
_SHORTHAND = re.compile(r"([\w.-]+/[\w.-]+?)(?:[@#]([^\s]+))?")
_SSH = re.compile(r"[\w.-]+@[\w.-]+:\S+")
_HIDDEN_HOSTS = ("localhost", "127.", "0.", "169.254.", "[::1]", "[fe80", "metadata.google.internal")

FORMAT = "Invalid marketplace source format. Try: owner/repo, https://..., or ./path"
NO_ROOT = (
    "Bare source names resolve under metadata.pluginRoot, which this marketplace does not set (or sets to a "
    'path outside the marketplace root). Use a "./relative/path" source, or set metadata.pluginRoot to allow '
    "bare names."
)
NETWORK_KINDS = frozenset(("github", "git", "url", "git-subdir", "npm", "archive"))


def read_argument(argument: str, cwd: str, home: str) -> Source:
    """The source that the argument of `marketplace add` means; PluginFailure in the reference's words."""
    if argument.startswith(("http://", "https://")):
        return _web(argument)
    if argument.startswith("ssh://") or _SSH.fullmatch(argument):
        return _with_ref({"source": "git"}, argument)
    if argument.startswith(("./", "../", "/", "~", ".")) or os.path.exists(os.path.join(cwd, argument)):
        return _local(argument, cwd, home)
    if "://" in argument or "/" not in argument or "::" in argument or argument.startswith("-"):
        raise PluginFailure(FORMAT, "invalid_source")
    found = _SHORTHAND.fullmatch(argument)
    if found is None or ".." in argument:
        raise PluginFailure(
            f"'{argument}' is not a valid GitHub owner/repo shorthand. For a git repo, use the full https:// "
            "clone URL from your host (typically ending in .git — some hosts like Azure DevOps omit "
            "it). For a "
            "hosted marketplace.json, use its https:// URL. For a local path, use ./ or an absolute path.",
            "invalid_source",
        )
    return {"source": "github", "repo": found[1], **({"ref": found[2]} if found[2] else {})}


def git_url(source: Source) -> str:
    """The address git is given; GitHub's can be replaced with git's own `insteadOf`."""
    if source.get("source") == "github":
        return f"https://github.com/{source['repo']}.git"
    url = str(source["url"])
    is_shorthand = "://" not in url and _SHORTHAND.fullmatch(url) is not None and ":" not in url
    return f"https://github.com/{url}.git" if is_shorthand else url


def without_login(text: str) -> str:
    """The text with names and passwords taken out of its addresses."""
    return re.sub(r"(https?://)[^/@\s]+@", r"\1***@", text)


def describe(source: Source) -> str:
    """A source in a few characters."""
    kind = source.get("source")
    place = source.get("path") if kind in ("directory", "file") else source.get("repo") or source.get("url")
    return without_login(f"{'dir' if kind == 'directory' else kind}:{place}")


def entry_source(value: Any, plugin_root: str) -> Any:
    """A usable source as it is; any other as `{"source": "unsupported"}` with what is wrong."""
    if isinstance(value, str):
        return _text_source(value, plugin_root)
    if not isinstance(value, dict) or not isinstance(value.get("source"), str):
        return unsupported("source: Invalid input")
    shape = _KINDS.get(value["source"])
    if shape is None:
        return {"source": "unsupported"}
    wrong = [f"{'.'.join(i.path)}: {i.message}" for i in issues(value, shape, ("source",))]
    return unsupported(", ".join(wrong)) if wrong else value


def unsupported(error: str) -> Source:
    """The source of an entry that cannot be installed."""
    return {"source": "unsupported", "error": error}


def _text_source(value: str, plugin_root: str) -> Any:
    if value.startswith("./") or value == ".":
        return "./" if value == "." else value
    if "/" in value or value.startswith(".") or "\\" in value or not value:
        return unsupported('source: Invalid string: must start with "./"')
    return value if plugin_root else unsupported(NO_ROOT)


def _web(argument: str) -> Source:
    plain = argument.partition("#")[0].partition("?")[0]
    if plain.endswith(".json"):
        return {"source": "url", "url": argument}
    github = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?(?:#(\S+))?", argument)
    if github and not plain.endswith(".git"):
        return _with_ref({"source": "git"}, f"https://github.com/{github[1]}.git" + _ref(github[2]))
    if plain.endswith(".git") or "/_git/" in plain:
        return _with_ref({"source": "git"}, argument)
    return {"source": "url", "url": argument}


def _ref(ref: str | None) -> str:
    return f"#{ref}" if ref else ""


def _with_ref(source: Source, url: str) -> Source:
    address, _, ref = url.partition("#")
    return {**source, "url": address, **({"ref": ref} if ref else {})}


def _local(argument: str, cwd: str, home: str) -> Source:
    expanded = home + argument[1:] if argument == "~" or argument.startswith("~/") else argument
    path = os.path.normpath(os.path.join(cwd, expanded))
    if os.path.isdir(path):
        return {"source": "directory", "path": path}
    if not os.path.exists(path):
        raise PluginFailure(f"Path does not exist: {path}", "path_not_found")
    if not path.endswith(".json"):
        raise PluginFailure(
            f"File path must point to a .json file (marketplace.json), but got: {path}", "invalid_source"
        )
    return {"source": "file", "path": path}


def _commit(value: str) -> list[Issue]:
    found = []
    if len(value) != 40:
        size = "Too small" if len(value) < 40 else "Too big"
        found += soft(f"{size}: expected string to have exactly 40 characters")
    if not _SHA.fullmatch(value):
        found += soft("Must be a full 40-character lowercase git commit SHA")
    return found


def _package(value: str) -> list[Issue]:
    bad = ".." in value or not value or value.startswith("-") or any(c.isspace() for c in value)
    return soft("Invalid input") if bad else []


def _archive_url(value: str) -> list[Issue]:
    host = value.partition("://")[2].rpartition("@")[2].lower()
    if value.startswith("https://") and not host.startswith(_HIDDEN_HOSTS):
        return []
    return soft(
        "Archive URLs must use https:// and must not point at a loopback, link-local, or cloud-metadata host"
    )


def _digest(value: str) -> list[Issue]:
    return (
        [] if re.fullmatch(r"[0-9a-fA-F]{64}", value) else soft("Must be a 64-character hex SHA-256 digest")
    )


def _seconds(value: Any) -> list[Issue]:
    if value <= 0:
        return soft("Too small: expected number to be >0")
    return soft("Too big: expected number to be <=600") if value > 600 else []


def _kind(required: str, **keys: Shape) -> Shape:
    return Shape("object", keys={"source": ANY, **keys}, required=tuple(required.split()))


_PINNED = {"ref": STRING, "sha": text(_commit)}
_KINDS = {
    "github": _kind("repo", repo=STRING, **_PINNED),
    "url": _kind("url", url=STRING, **_PINNED),
    "git-subdir": _kind("url path", url=STRING, path=STRING, **_PINNED),
    "npm": _kind("package", package=text(_package), version=STRING, registry=STRING),
    "archive": _kind("url", url=text(_archive_url), sha256=text(_digest)),
    "command": _kind(
        "command", command=STRING, timeout=Shape("number", rules=(_seconds,)), mode=choice("copy link")
    ),
}
