"""Finds and reads the manifest of a plugin directory, in whichever of the accepted forms it is."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any

import msgspec

from forge.core.plugins.manifest_check import schema_errors
from forge.core.plugins.shape import Finding
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import parse_json

STANDARD_SITE = "https://agent-plugins.org/"


class Form(StrEnum):
    """The kinds of manifests, by the place they are found at."""

    FORGE = ".forge-plugin/plugin.json"
    CLAUDE = ".claude-plugin/plugin.json"
    STANDARD = "plugin.json of agent-plugins.org"
    BARE = "plugin.json"
    NONE = "none"


class Dependency(msgspec.Struct, frozen=True):
    """Another plugin that must be there; an empty marketplace means one's own."""

    name: str
    marketplace: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name}@{self.marketplace}" if self.marketplace else self.name


class Manifest(msgspec.Struct, frozen=True):
    """What a usable manifest says about the plugin; `raw` is all of it, component places included."""

    name: str
    raw: dict[str, Any]
    version: str | None = None
    description: str = ""
    display_name: str = ""
    dependencies: list[Dependency] = []
    default_enabled: bool | None = None
    options: dict[str, dict[str, Any]] = {}


class Found(msgspec.Struct, frozen=True):
    """The manifest of a directory: which file, what it holds, and why it cannot be used.

    `manifest` is None without a file (form NONE), or when `corrupt` (the JSON error) or `errors` say why.
    """

    root: str
    form: Form
    path: str = ""
    manifest: Manifest | None = None
    raw: Any = None
    errors: list[Finding] = []
    corrupt: str = ""

    @property
    def failure(self) -> str:
        """Why the plugin cannot be loaded, in one sentence."""
        directory = os.path.basename(self.root.rstrip("/"))
        if self.corrupt:
            what = f"corrupt manifest file at {self.path}. JSON parse error: {self.corrupt}"
            return f"Plugin {directory} has a {what}"
        wrong = ", ".join(e.message if e.path == "root" else str(e) for e in self.errors)
        return f"Plugin {directory} has an invalid manifest file at {self.path}. Validation errors: {wrong}"


def read_manifest(root: str, *, bare: bool = True) -> Found:
    """The first manifest in the order .forge-plugin, .claude-plugin, plugin.json.

    A plugin.json that does not name the vendor-neutral schema counts only when `bare`.
    """
    for form in (Form.FORGE, Form.CLAUDE, Form.BARE):
        found = read_manifest_file(root, f"{root}/{form.value}", form)
        if found is not None and (form is not Form.BARE or bare or found.form is Form.STANDARD):
            return found
    return Found(root, Form.NONE)


def read_manifest_file(root: str, path: str, form: Form) -> Found | None:
    """One manifest file, read as this form; None when it is not there."""
    data = _read(path)
    if isinstance(data, str):
        return Found(root, form, path, corrupt=data)
    return None if data is None else _decoded(root, form, path, data)


def manifest_of(raw: dict[str, Any], fallback_name: str) -> Manifest:
    """The typed view of a checked manifest or marketplace entry."""
    config = raw.get("userConfig")
    return Manifest(
        name=raw.get("name") or fallback_name,
        raw=raw,
        version=raw.get("version") or None,
        description=raw.get("description") or "",
        display_name=raw.get("displayName") or "",
        dependencies=[dependency(item) for item in raw.get("dependencies") or ()],
        default_enabled=raw.get("defaultEnabled"),
        options=config if isinstance(config, dict) else {},
    )


def dependency(item: Any) -> Dependency:
    """A dependency from its text or its object."""
    if isinstance(item, str):
        name, _, market = item.partition("@")
        return Dependency(name, market)
    version = item.get("version")
    return Dependency(
        item["name"], item.get("marketplace") or "", version if isinstance(version, str) else ""
    )


def _read(path: str) -> bytes | str | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _decoded(root: str, form: Form, path: str, data: bytes) -> Found:
    # Only UTF-8: the reference refuses what Windows calls Unicode.
    text = data.decode("utf-8", "replace")
    if not text.removeprefix("\ufeff").strip():
        return Found(root, form, path, corrupt="Unexpected EOF (the file is empty)")
    try:
        raw = parse_json(text, path)
    except ConfigError as error:
        position = f" at line {error.line}, column {error.column}"
        return Found(
            root,
            form,
            path,
            corrupt=error.message.removeprefix(f"{path}:{error.line}:{error.column}: ") + position,
        )
    if form is Form.BARE and _is_standard(raw):
        return Found(root, Form.STANDARD, path, raw=raw)
    lenient = form is not Form.CLAUDE
    errors = schema_errors(raw, lenient=lenient)
    if errors:
        return Found(root, form, path, raw=raw, errors=errors)
    name = os.path.basename(root.rstrip("/"))
    return Found(root, form, path, manifest_of(raw, name), raw)


def _is_standard(raw: Any) -> bool:
    schema = raw.get("$schema") if isinstance(raw, dict) else None
    return isinstance(schema, str) and schema.startswith(STANDARD_SITE)
