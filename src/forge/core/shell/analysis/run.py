"""The collecting side of one analysis: findings, steps, open streams, time and depth limits."""

from __future__ import annotations

import time

from forge.core.shell.analysis.record import UNANALYSABLE, Finding, Step
from forge.core.shell.analysis.state import Stream
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.core.shell.analysis.state import Frame
    from forge.core.shell.analysis.surroundings import Surroundings

DEPTH_LIMIT = 8
_FIRST_STREAM = 900


class OutOfTime(Exception):
    """The analysis took longer than its budget."""


class Engine:
    """The functions of the evaluation that programs need."""

    __slots__ = ("call", "execute", "rejudge", "script")

    def __init__(
        self,
        script: Callable[..., Stream],
        call: Callable[..., Stream],
        execute: Callable[..., Stream],
        rejudge: Callable[..., Stream],
    ) -> None:
        self.script = script
        self.call = call
        self.execute = execute
        self.rejudge = rejudge


class Run:
    """One analysis from the text to the findings."""

    __slots__ = (
        "around", "call", "choice", "choices", "deadline", "execute", "findings", "interactive", "kept",
        "pipelines", "rejudge", "script", "steps", "streams", "tags", "visited",
    )  # fmt: skip

    def __init__(self, around: Surroundings, budget_seconds: float, engine: Engine) -> None:
        self.around = around
        # The evaluation calls itself through these: programs run scripts, functions and other programs.
        self.script = engine.script
        self.call = engine.call
        self.execute = engine.execute
        self.rejudge = engine.rejudge
        self.kept: list[object] = []
        # Time of this thread: a busy machine must not turn answers into questions.
        self.deadline = time.thread_time() + budget_seconds
        self.findings: list[Finding] = []
        self.steps: list[Step] = []
        self.streams: list[Stream] = []
        self.interactive: str | None = None
        # A variable with several possible values is read with each in turn; see walk.simple.
        self.choice = 0
        self.choices = 1
        self.tags: set[str] = set()
        self.visited: set[tuple[int, int, str]] = set()
        self.pipelines = 0

    def check_time(self) -> None:
        """Ends the analysis when its time is over."""
        if time.thread_time() > self.deadline:
            raise OutOfTime

    def note(self, frame: Frame, code: str, reason: str, effect: str = "run", place: str = "") -> None:
        """Adds a finding about the current step."""
        finding = Finding(code, reason, effect, place)
        finding.safer = table("advice").get(effect, "")
        step = frame.step
        if step is not None:
            finding.span = step.span
            step.findings.append(finding)
        else:
            finding.span = frame.source.span or (0, 0)
        self.findings.append(finding)

    def unclear(self, frame: Frame, reason: str) -> None:
        """Adds the finding for what cannot be analysed: never silent, never forbidden."""
        self.note(frame, "C7", reason, UNANALYSABLE)

    def keep(self, tree: object) -> None:
        """Keeps a tree alive: functions may still point into it."""
        self.kept.append(tree)

    def is_interactive(self, why: str) -> None:
        """Remembers that a person is expected at the keyboard."""
        self.interactive = self.interactive or why

    def open_stream(self, stream: Stream) -> str:
        """A path for `<(…)` under which the stream can be found again."""
        self.streams.append(stream)
        return f"/dev/fd/{_FIRST_STREAM + len(self.streams) - 1}"

    def stream_of(self, path: str) -> Stream | None:
        """The stream of a process substitution, by its path."""
        number = path.removeprefix("/dev/fd/")
        if number == path or not number.isdigit():
            return None
        at = int(number) - _FIRST_STREAM
        return self.streams[at] if 0 <= at < len(self.streams) else None
