"""Small marketplaces and the surroundings of plugin commands, for the tests of this directory."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from forge.core.installing.command import plugin_command
from forge.core.plugins.context import Context, Outcome
from forge.foundation.paths import find_places

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
NOW = 1_700_000_000.0
STAMP = "2023-11-14T22:13:20.000Z"


class Bench:
    """A home, a project, and everything that was said and asked in between."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.project = tmp_path / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.settings: dict[str, Any] = {}
        self.answers: list[bool] | None = None
        self.asked: list[str] = []
        self.said: list[str] = []
        self.input = ""
        self.more_env: dict[str, str] = {}

    @property
    def claude(self) -> Path:
        return self.home / ".claude"

    def env(self) -> dict[str, str]:
        kept = ("PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
        base = {key: os.environ[key] for key in kept if key in os.environ}
        return {**base, "HOME": str(self.home), **self.more_env}

    def context(self) -> Context:
        env = self.env()
        return Context(
            places=find_places(env, str(self.project), str(self.home / "managed")),
            env=env,
            setting=lambda key, default: self.settings.get(key, default),
            ask=None if self.answers is None else self._ask,
            say=self.said.append,
            warn=self.said.append,
            read_input=lambda: self.input,
            now=lambda: NOW,
        )

    def __call__(self, *words: str | Path) -> Outcome:
        return plugin_command([str(word) for word in words], self.context())

    def json(self, *words: str | Path) -> Any:
        """The JSON a command prints."""
        return json.loads(self(*words, "--json").out)

    def read(self, path: str) -> Any:
        """A JSON file below the home directory."""
        return json.loads((self.home / path).read_text())

    def _ask(self, question: str) -> bool:
        self.asked.append(question)
        return (self.answers or []).pop(0)


def write(root: Path, files: dict[str, Any]) -> Path:
    """Writes files; values that are not text become JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return root


def plugin(root: Path, name: str, **fields: Any) -> Path:
    """A plugin with a manifest and one command."""
    return write(
        root,
        {".claude-plugin/plugin.json": {"name": name, **fields}, "commands/go.md": "Go to $ARGUMENTS.\n"},
    )


def market(root: Path, name: str, entries: list[Any], **fields: Any) -> Path:
    """A marketplace directory."""
    content = {"name": name, "owner": {"name": "o"}, "plugins": entries, **fields}
    return write(root, {".claude-plugin/marketplace.json": content})


def shop(root: Path) -> Path:
    """A marketplace with a plugin of version 1.0.0."""
    plugin(root / "tool", "tool", version="1.0.0", description="does things")
    return market(root, "shop", [{"name": "tool", "source": "./tool"}])


def git(directory: Path, *words: str) -> str:
    """Runs git in a directory."""
    env = {**os.environ, **IDENTITY}
    done = subprocess.run(["git", *words], cwd=directory, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(root: Path) -> str:
    """Makes a git repository of a directory; returns the commit."""
    git(root, "init", "-q", "-b", "main")
    return commit(root)


def commit(root: Path) -> str:
    """Commits everything; returns the commit."""
    git(root, "add", "-A")
    git(root, "commit", "-qm", "state")
    return git(root, "rev-parse", "HEAD")
