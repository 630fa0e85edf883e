"""What tests of memory files share: trees of files, and a request that looks at one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forge.core.memory.file import MemoryFile
from forge.core.memory.sources import MemoryRequest


def plant(root: Path, files: dict[str, str]) -> None:
    """Writes a tree of files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def request(root: Path, **facts: Any) -> MemoryRequest:
    """A request for `root`/project with its own home and managed directories."""
    home = root / "home"
    user = [".claude", ".forgecode", "forge", ".forge"]
    managed = ["claude-code", "forgecode", "forge"]
    return MemoryRequest(
        cwd=facts.pop("cwd", str(root / "project")),
        home=str(home),
        user_dirs=[str(home / name) for name in user],
        managed_dirs=[str(root / "etc" / name) for name in managed],
        **facts,
    )


def short(root: Path, files: list[MemoryFile]) -> list[str]:
    """The paths below `root`."""
    return [f.path.removeprefix(f"{root}/") for f in files]
