"""The user's own editor for the lines of a hunk."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping


def edit(text: str, path: str, env: Mapping[str, str]) -> str | None:
    """The text as the user's editor leaves it; None if the editor fails."""
    command = shlex.split(env.get("DIFFY_EDITOR") or env.get("VISUAL") or env.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="diffy-") as folder:
        # The name has the ending of the file, so that editors know its language.
        name = os.path.join(folder, "hunk" + os.path.splitext(path)[1])
        with open(name, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        try:
            if subprocess.run([*command, name], check=False).returncode:
                return None
        except OSError:
            return None
        with open(name, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
