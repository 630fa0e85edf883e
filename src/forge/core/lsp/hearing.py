"""What one conversation has heard from language servers and not yet passed on to its model."""

from __future__ import annotations

from forge.core.lsp.finding import Finding, News, tell


class Hearing:
    """Kept once per conversation, sub-agents have their own."""

    def __init__(self) -> None:
        self._news: dict[str, list[Finding]] = {}
        self._told: dict[str, set[Finding]] = {}

    def forget(self, path: str) -> None:
        """A file is edited: whatever is found in it now is news."""
        self._told.pop(path, None)
        self._news.pop(path, None)

    def hear(self, path: str, findings: list[Finding]) -> None:
        """A server has looked at a file."""
        self._news[path] = findings

    def take(self) -> News:
        """What the model is to be told now; empty if nothing is new."""
        fresh: dict[str, list[Finding]] = {}
        for path, findings in self._news.items():
            told = self._told.get(path, set())
            fresh[path] = [finding for finding in findings if finding not in told]
            self._told[path] = set(findings)
        self._news.clear()
        return tell(fresh)
