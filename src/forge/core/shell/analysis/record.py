"""What the analysis says about a command: findings with place and reason, one record per simple command."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CATEGORIES = ("read_only", "safe_write", "caution", "dangerous", "forbidden")
RANK = {name: at for at, name in enumerate(CATEGORIES)}
CODES = {"R": "read_only", "W": "safe_write", "C": "caution", "D": "dangerous", "F": "forbidden"}

# Findings no rule may overlook when it allows a line.
UNANALYSABLE = "unanalysable"


class Finding:
    """One thing a command does. `span` are character offsets in the text that was given."""

    __slots__ = ("category", "effect", "place", "reason", "risk", "safer", "span")

    def __init__(self, code: str, reason: str, effect: str = "run", place: str = "") -> None:
        self.category = CODES[code[0]]
        self.risk = int(code[1:])
        self.reason = reason
        self.effect = effect
        self.place = place
        self.span = (0, 0)
        self.safer = ""

    def weight(self) -> tuple[int, int]:
        """Orders findings: the category first, then the risk."""
        return RANK[self.category], self.risk

    def as_dict(self, text: str) -> dict[str, object]:
        """The finding for people and models, with the part of the text it is about."""
        found: dict[str, object] = {
            "category": self.category,
            "risk": self.risk,
            "reason": self.reason,
            "effect": self.effect,
            "span": list(self.span),
            "text": text[self.span[0] : self.span[1]],
        }
        if self.place:
            found["place"] = self.place
        if self.safer:
            found["safer"] = self.safer
        return found


class Step:
    """One simple command as it would run: wrappers stripped, quotes removed. Nested ones have their own.

    `outer` has the words as they were before each wrapper was stripped.
    """

    __slots__ = ("findings", "outer", "pipeline", "program", "span", "sub", "words")

    def __init__(self, words: list[str], span: tuple[int, int], pipeline: int) -> None:
        self.words = words
        self.program = words[0] if words else ""
        self.sub = ""
        self.span = span
        self.pipeline = pipeline
        self.outer: list[list[str]] = []
        self.findings: list[Finding] = []

    @property
    def text(self) -> str:
        """The words with one blank between them."""
        return " ".join(self.words)

    def forms(self) -> list[list[str]]:
        """Every way to name the command that a rule against it may use: with its wrappers, without a path."""
        found = [self.words, *self.outer]
        found += [[w[0].rpartition("/")[2], *w[1:]] for w in found if w and "/" in w[0]]
        return found

    def worst(self) -> Finding | None:
        """The finding that decides about this command."""
        return max(self.findings, key=Finding.weight, default=None)

    def effect_key(self) -> str:
        """What "allow for this session" remembers: program, sub-command, effects and kinds of places."""
        marks = sorted({f"{f.effect}@{f.place}:{f.category}" for f in self.findings})
        return "|".join([self.program, self.sub, *marks])


class Verdict:
    """The judgement of a whole command text."""

    __slots__ = ("category", "findings", "interactive", "risk", "steps", "syntax_error", "text")

    def __init__(
        self, text: str, findings: Iterable[Finding], steps: list[Step], interactive: str | None
    ) -> None:
        self.text = text
        self.findings = sorted(_distinct(findings), key=Finding.weight, reverse=True)
        self.steps = steps
        self.interactive = interactive
        self.syntax_error = ""
        worst = self.findings[0] if self.findings else None
        self.category = worst.category if worst else "read_only"
        self.risk = worst.risk if worst else 0
        if interactive and RANK[self.category] <= RANK["caution"] and self.analysable:
            self.category = "interactive"
            self.risk = min(max(self.risk, 3), 7)

    @property
    def analysable(self) -> bool:
        """Whether the text was understood completely."""
        return all(f.effect != UNANALYSABLE for f in self.findings)

    def keys(self) -> list[str]:
        """Effect keys of all simple commands that do more than read."""
        return [s.effect_key() for s in self.steps if (w := s.worst()) and w.category != "read_only"]


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    seen = {(f.category, f.risk, f.reason, f.span): f for f in findings}
    return list(seen.values())
