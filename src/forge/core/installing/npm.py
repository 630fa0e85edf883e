"""Fetches plugins from npm registries without running npm, so that no script of a package ever runs."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from forge.core.installing.archive import unpack
from forge.core.installing.download import download
from forge.core.installing.program import run_program
from forge.core.plugins.context import PluginFailure
from forge.core.plugins.semver import best
from forge.foundation.encode import NOT_JSON

_ASKING_SECONDS = 20
_LISTING = {"accept": "application/vnd.npm.install-v1+json, application/json"}
_STRENGTH = ("sha512", "sha384", "sha256", "sha1")


def fetch_package(source: dict[str, Any], target: str, env: Mapping[str, str]) -> str:
    """Unpacks the package a source names into `target`; returns its exact version."""
    package = str(source["package"])
    named = str(source.get("registry") or "")
    own = env.get("npm_config_registry") or env.get("NPM_CONFIG_REGISTRY") or ("" if named else _usual(env))
    registry = (named or own).rstrip("/")
    _check_registry(package, registry, own)
    # A scope keeps its @ but its slash is part of the name, not of the path.
    listing = _listing(download(f"{registry}/{quote(package, safe='@')}", env, headers=_LISTING), package)
    version = _choose(listing, str(source.get("version") or "latest"), package)
    dist = listing["versions"][version].get("dist")
    address = dist.get("tarball") if isinstance(dist, dict) else None
    if not isinstance(address, str):
        raise PluginFailure(f"The registry does not say where {package}@{version} is.", "error_not_found")
    data = download(address, env)
    _verify(data, dist, f"{package}@{version}")
    unpack(data, target)
    return version


def _usual(env: Mapping[str, str]) -> str:
    """The registry npm itself would ask, which knows the user's own configuration."""
    try:
        told = run_program(["npm", "config", "get", "registry"], os.path.sep, env, _ASKING_SECONDS)
    except FileNotFoundError:
        told = None
    address = told.out.strip() if told is not None and told.code == 0 else ""
    if not address.startswith(("http://", "https://")):
        raise PluginFailure(
            "It is not known which npm registry to ask. Install npm, or set the environment variable "
            "npm_config_registry to the address of one.",
            "error_network",
        )
    return address


def _check_registry(package: str, registry: str, own: str) -> None:
    if registry.startswith("http://") and registry != own.rstrip("/"):
        place = "/".join(registry.split("/")[:3])
        raise PluginFailure(
            f'"{package}" was not fetched: its npm registry, {place}, is unencrypted and isn\'t your default '
            "npm registry. It works once the registry uses https or is your default npm registry "
            "(environment variable npm_config_registry).",
            "error_policy",
        )


def _listing(data: bytes, package: str) -> dict[str, Any]:
    try:
        listing = msgspec.json.decode(data)
    except NOT_JSON:
        listing = None
    if not isinstance(listing, dict) or not isinstance(listing.get("versions"), dict):
        raise PluginFailure(f"The registry's answer about {package} cannot be read.", "error_network")
    return listing


def _choose(listing: dict[str, Any], wanted: str, package: str) -> str:
    tags, versions = listing.get("dist-tags"), listing["versions"]
    tagged = tags.get(wanted) if isinstance(tags, dict) else None
    chosen = (
        tagged if isinstance(tagged, str) else wanted if wanted in versions else best(list(versions), wanted)
    )
    if not chosen or not isinstance(versions.get(chosen), dict):
        raise PluginFailure(f"No version of {package} matches {wanted!r}.", "error_not_found")
    return chosen


def _verify(data: bytes, dist: dict[str, Any], name: str) -> None:
    """Compares with the strongest digest the registry gives; one there must be."""
    digests = dict(part.split("-", 1) for part in str(dist.get("integrity") or "").split() if "-" in part)
    if isinstance(dist.get("shasum"), str):
        digests.setdefault("sha1", base64.b64encode(_hex(dist["shasum"])).decode())
    algorithm = next((known for known in _STRENGTH if known in digests), "")
    if not algorithm:
        raise PluginFailure(f"The registry gives no digest for {name}.", "error_integrity")
    actual = base64.b64encode(hashlib.new(algorithm, data).digest()).decode()
    if actual != digests[algorithm].partition("?")[0]:
        raise PluginFailure(f"{name} is not what the registry says ({algorithm} differs).", "error_integrity")


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
