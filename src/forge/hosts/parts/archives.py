"""Plugins in archives: a .zip on disk or behind an address becomes a directory of the user's own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from forge.core.installing.archive import unpack
from forge.core.installing.download import download
from forge.core.plugins.context import PluginFailure
from forge.core.plugins.packed import unpack_plugin
from forge.hosts.configuration import Configuration

_ADDRESS = ("https://", "http://")


class Archives:
    """Unpacks archives; what came over the network is fetched once per process."""

    def __init__(self, c: Configuration) -> None:
        self._air_gap = c.settings.get("airGap", False) is True
        self._env = c.env
        # Not in the directory for temporary files, where somebody else could put something first.
        self._place = os.path.join(c.places.forge_home, "cache", "archives")
        self._fetched: dict[str, str] = {}

    def open(self, place: str) -> str:
        """The directory with the files of an archive; PluginFailure or OSError when there is none."""
        os.makedirs(self._place, mode=0o700, exist_ok=True)
        if not place.startswith(_ADDRESS):
            return unpack_plugin(place, self._place, unpack)
        if place not in self._fetched:
            self._fetched[place] = self._fetch(place)
        return self._fetched[place]

    def _fetch(self, url: str) -> str:
        if self._air_gap:
            raise PluginFailure(f"the setting airGap forbids fetching {url}", "air_gap")
        # In a thread: a session that looks for plugins again already has an event loop in this one.
        with ThreadPoolExecutor(1) as pool:
            data = pool.submit(download, url, self._env).result()
        path = os.path.join(self._place, f"{os.urandom(8).hex()}.zip")
        with open(path, "xb") as file:
            file.write(data)
        try:
            return unpack_plugin(path, self._place, unpack)
        finally:
            os.unlink(path)
