"""A memory file: instructions that are put in front of the model, and how they look there."""

from __future__ import annotations

import msgspec

from forge.foundation.origin import Diagnostic

MANAGED, USER, PROJECT, LOCAL, AUTO = "Managed", "User", "Project", "Local", "AutoMem"

_LABELS = {
    MANAGED: "organization-managed policy instructions",
    USER: "user's private global instructions for all projects",
    PROJECT: "project instructions, checked into the codebase",
    LOCAL: "user's private project instructions, not checked in",
    AUTO: "user's auto-memory, persists across conversations",
}


class MemoryFile(msgspec.Struct, frozen=True):
    """One file as the model gets it.

    `globs` are the `paths` of a scoped rule, `parent` is the file that imports it, `trigger` the file whose
    use brought it in. `load_reason` is session_start, nested_traversal, path_glob_match, include or compact.
    """

    path: str
    memory_type: str
    content: str
    load_reason: str = "session_start"
    globs: list[str] | None = None
    parent: str = ""
    trigger: str = ""
    agents: bool = False

    @property
    def label(self) -> str:
        return _LABELS[self.memory_type]

    @property
    def block(self) -> str:
        """The file in the list of all files a conversation starts with."""
        return f"Contents of {self.path} ({self.label}):\n\n{self.content.strip()}"

    @property
    def nested_block(self) -> str:
        """The file as it is added when something near it is touched."""
        return f"Contents of {self.path}:\n\n{self.content}"


class Skipped(msgspec.Struct, frozen=True):
    """A file that is there but not used, and why."""

    path: str
    reason: str


class Loaded(msgspec.Struct, frozen=True):
    """Files in the order in which the model gets them, what was left out and what is wrong with them."""

    files: list[MemoryFile]
    skipped: list[Skipped] = []
    agents_active: bool = False
    diagnostics: list[Diagnostic] = []
