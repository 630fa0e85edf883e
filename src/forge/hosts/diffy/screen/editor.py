"""The user's own editor for the lines of a hunk."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping


def own_editor(env: Mapping[str, str]) -> list[str]:
    """The words that start the user's own editor, which is not diffy itself."""
    for name in ("DIFFY_EDITOR", "VISUAL", "EDITOR"):
        words = shlex.split(env.get(name, ""))
        if words and os.path.basename(words[0]) != "diffy":
            return words
    return ["vi"]


def edit(text: str, path: str, env: Mapping[str, str]) -> str | None:
    """The text as the user's editor leaves it; None if the editor fails."""
    with tempfile.TemporaryDirectory(prefix="diffy-") as folder:
        # The name has the ending of the file, so that editors know its language.
        name = os.path.join(folder, "hunk" + os.path.splitext(path)[1])
        with open(name, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        try:
            if subprocess.run([*own_editor(env), name], check=False).returncode:
                return None
        except OSError:
            return None
        with open(name, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
