"""The whole analysis of a command text: never raises, never silent about what it does not understand."""

from __future__ import annotations

from forge.core.shell.analysis.joining import original
from forge.core.shell.analysis.parse import parse
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.record import Finding, Verdict
from forge.core.shell.analysis.run import Engine, OutOfTime, Run
from forge.core.shell.analysis.simple import execute, rejudge
from forge.core.shell.analysis.state import Frame, Known, State
from forge.core.shell.analysis.walk import call, follow, script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.surroundings import Surroundings

BUDGET_SECONDS = 0.25
LONGEST = 200_000

_ENGINE = Engine(script, call, execute, rejudge)
# What a mistake in the analysis itself can raise; the answer then is to ask.
_FAULTS = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def analyse(
    text: str, around: Surroundings, budget_seconds: float = BUDGET_SECONDS, known: Known | None = None
) -> Verdict:
    """The judgement of a bash command; `known` carries files from one command of a session to the next."""
    run = Run(around, budget_seconds, _ENGINE)
    complaint = ""
    try:
        complaint = _follow(text, run, known or Known())
    except OutOfTime:
        run.findings.append(_unanalysed(text, "the analysis took too long"))
    except RecursionError:
        run.findings.append(_unanalysed(text, "the command is nested too deeply"))
    except _FAULTS as fault:
        run.findings.append(_unanalysed(text, f"the analysis failed ({type(fault).__name__})"))
    verdict = Verdict(text, run.findings, run.steps, run.interactive)
    verdict.syntax_error = complaint
    return verdict


def _follow(text: str, run: Run, known: Known) -> str:
    if len(text) > LONGEST:
        run.findings.append(_unanalysed(text, "the command is too long to be analysed"))
        return ""
    if UNKNOWN in text:
        run.findings.append(_unanalysed(text, "the command contains a character of the private range"))
    parsed = parse(text, None)
    state = State(run.around.cwd)
    state.files, state.links = known.files, known.links
    frame = Frame(run, state, parsed.source)
    follow(parsed, frame)
    for function in list(state.functions.values()):
        if not function.called:
            run.call(function, None, frame)
    if parsed.cuts:
        for finding in run.findings:
            finding.span = original(finding.span, parsed.cuts)
        for step in run.steps:
            step.span = original(step.span, parsed.cuts)
    return parsed.complaint


def _unanalysed(text: str, reason: str) -> Finding:
    finding = Finding("C7", f"cannot be analysed: {reason}", "unanalysable")
    finding.span = (0, len(text))
    return finding
