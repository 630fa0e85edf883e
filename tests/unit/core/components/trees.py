"""Trees of component files for tests."""

from __future__ import annotations

from pathlib import Path

from forge.core.components.catalog import Catalog
from forge.core.components.user_files import ALL_SOURCES, read_places
from forge.foundation.paths import find_places


def skill(directory: Path, name: str, description: str, more: str = "") -> None:
    """Writes `skills/NAME/SKILL.md` below a directory."""
    write(directory / "skills" / name / "SKILL.md", f"---\ndescription: {description}\n{more}---\nBody\n")


def command(directory: Path, name: str, description: str, more: str = "") -> None:
    """Writes `commands/NAME.md` below a directory."""
    write(directory / "commands" / f"{name}.md", f"---\ndescription: {description}\n{more}---\nBody\n")


def agent(directory: Path, name: str, description: str, file: str = "") -> None:
    """Writes `agents/FILE.md` below a directory."""
    write(
        directory / "agents" / f"{file or name}.md",
        f"---\nname: {name}\ndescription: {description}\n---\nx\n",
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Tree:
    """A home, a repository with a start directory in it, a managed directory and one beside them."""

    def __init__(self, top: Path, start: str = ".") -> None:
        self.home, self.repository = top / "home", top / "repo"
        self.managed, self.beside = top / "etc", top / "extra"
        self.cwd = (self.repository / start).resolve()
        for directory in (self.home, self.managed, self.beside, self.cwd, self.repository / ".git"):
            directory.mkdir(parents=True, exist_ok=True)

    def load(self, added: bool = False, sources: frozenset[str] = ALL_SOURCES) -> Catalog:
        """The catalogue of everything in the tree."""
        places = find_places({"HOME": str(self.home)}, str(self.cwd), managed_root=str(self.managed))
        catalog = Catalog()
        for contribution in read_places(places, [str(self.beside)] if added else [], sources):
            catalog.add(contribution)
        return catalog
