"""Where installed plugins, marketplaces and their data are kept: the reference program's own places."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from forge.foundation.paths import Places

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Layout(msgspec.Struct, frozen=True):
    """The files and directories below `<config>/plugins`."""

    root: str

    @property
    def known(self) -> str:
        return os.path.join(self.root, "known_marketplaces.json")

    @property
    def installed(self) -> str:
        return os.path.join(self.root, "installed_plugins.json")

    @property
    def cache(self) -> str:
        return os.path.join(self.root, "cache")

    @property
    def markets(self) -> str:
        return os.path.join(self.root, "marketplaces")

    def data(self, plugin_id: str) -> str:
        """The directory a plugin may keep things in; it survives updates."""
        return os.path.join(self.root, "data", _UNSAFE.sub("-", plugin_id))


def find_layout(places: Places, env: Mapping[str, str]) -> Layout:
    """The plugin directory; `CLAUDE_CODE_PLUGIN_CACHE_DIR` moves it."""
    moved = env.get("CLAUDE_CODE_PLUGIN_CACHE_DIR", "")
    return Layout(os.path.abspath(moved) if moved else os.path.join(places.claude_dir, "plugins"))


def is_plain_word(text: str) -> bool:
    """Whether a name may be part of a plugin id, and so of a path."""
    return _WORD.fullmatch(text) is not None


def split_id(text: str) -> tuple[str, str]:
    """Name and marketplace of `NAME@MARKETPLACE`; the marketplace may be empty."""
    name, _, market = text.rpartition("@") if "@" in text[1:] else (text, "", "")
    return name, market
