"""Running text as code: what is known is analysed, what came from the network is dangerous."""

from __future__ import annotations

from forge.core.shell.analysis.record import RANK, Finding
from forge.core.shell.analysis.state import NETWORK, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame


def run_text(stream: Stream, frame: Frame, args: list[str] | None = None) -> Stream:
    """Judges a stream that a shell executes."""
    if NETWORK in stream.tags:
        frame.run.note(frame, "D9", "runs code from the network without review", "remote_code")
        return Stream()
    if stream.text is None:
        frame.run.unclear(frame, "runs code that is not known before")
        return Stream()
    interpreter = _interpreter(stream.text)
    if interpreter:
        frame.run.note(frame, "W5", f"runs a {interpreter} script this command wrote", "run")
        return Stream()
    inner = frame.child()
    inner.stdin = None
    return frame.run.script(stream.text, inner, args)


def tentative(text: str, frame: Frame, most: str = "forbidden") -> None:
    """Follows a text that may be a command: only what would be a disaster counts, at most as `most`."""
    run = frame.run
    before, steps, seen = len(run.findings), len(run.steps), run.interactive
    run.script(text, frame)
    made = run.findings[before:]
    del run.findings[before:], run.steps[steps:]
    run.interactive = seen
    worst = max(made, key=Finding.weight, default=None)
    if worst is not None and RANK[worst.category] >= RANK["dangerous"]:
        if RANK[most] < RANK[worst.category]:
            run.note(frame, "C7", f"may run a command that {worst.reason}", worst.effect, worst.place)
        else:
            run.findings.append(worst)


def _interpreter(text: str) -> str:
    """The program of a `#!` line if it is not a shell."""
    if not text.startswith("#!"):
        return ""
    words = text.split("\n", 1)[0][2:].split()
    name = words[-1].rpartition("/")[2] if words else ""
    return "" if name.endswith("sh") else name
