"""Plugins in a .zip: unpacked once into a directory that is named after their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable


def unpack_plugin(path: str, temp_dir: str, extract: Callable[[bytes, str], None]) -> str:
    """The directory with the files of an archive; `extract` refuses archives that try to break out."""
    with open(path, "rb") as file:
        data = file.read()
    target = os.path.join(temp_dir, f"forge-plugin-{hashlib.sha256(data).hexdigest()[:16]}")
    if os.path.isdir(target):
        return target
    # Under another name until it is complete: a half unpacked plugin must never be found.
    partial = f"{target}.{os.urandom(4).hex()}"
    extract(data, partial)
    try:
        os.rename(partial, target)
    except OSError:
        return partial
    return target
