"""`result` lines and the end of the process: how a turn and a run have ended, and what they cost."""

from __future__ import annotations

import signal

import msgspec

from forge.core.models.claude_cli.changes import TurnFinished
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.parts import Failure, StepFinish
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.values import amount_of, count_of, object_of, text_of, usage_of
from forge.core.models.claude_cli.whole import release_held, text_in

Verdict = tuple[str, Failure | None]

# What is wrong with a turn is the step's own reason only where its message was cut short.
_ENDINGS = ("aborted", "error")
_LIMITS = {"error_max_turns": ("max-turns", "max_turns"), "error_max_budget_usd": ("budget", "budget")}
_COSTS = ("total_cost_usd", "cost_usd", "total_cost")
_DIGITS = 10
_STDERR = 8192


def take_result(run: Run, line: Event) -> None:
    """Ends a turn: its open step, its cost, its verdict."""
    verdict = _verdict(run, line)
    if verdict is None or verdict[1] is None:
        release_held(run)
    finish, error = verdict or ("", None)
    run.close_step(finish if finish in _ENDINGS else "")
    run.results += 1
    run.result = line
    run.session_id = run.session_id or text_of(line, "session_id") or None
    run.finish, run.error = finish or last_reason(run), error
    usage = line.get("usage")
    if type(usage) is dict:
        told = usage_of(usage)
        run.result_usage = run.result_usage + told if run.result_usage is not None else told
    cost = _take_cost(run, line)
    run.current = run.held = run.api_error = None
    run.working = run.interrupted = False
    at = run.last_finish.at if run.last_finish is not None else -1
    run.changes.append(TurnFinished(at, run.finish, error, cost, line))


def last_reason(run: Run) -> str:
    """The reason of the last step."""
    value = run.last_finish.value if run.last_finish is not None else None
    return value.reason if isinstance(value, StepFinish) else "stop"


def judge_exit(run: Run, code: int | None, stderr: str) -> Verdict:
    """How a run without a result has ended; "" as the reason means: as its last step."""
    if code is not None and (code < 0 or code >= 128):
        return "aborted", Failure("killed", None, "signal", _signal_name(-code if code < 0 else code - 128))
    if run.interrupted:
        return "aborted", Failure("aborted", None, None, "interrupted")
    if code == 0:
        run.warnings.append("The CLI ended without a result line.")
        return "", None
    if run.api_error is not None:
        return "error", run.api_error
    said = stderr.strip()[-_STDERR:]
    silent = "The CLI ended without a result" + ("." if code is None else f" (exit code {code}).")
    return "error", Failure("exit", code, None, said or silent)


def place_cost(run: Run, cost: float) -> None:
    """Puts a cost on the last step there is, or keeps it for the one that must still be made."""
    mark = run.last_finish
    if mark is None or not isinstance(mark.value, StepFinish):
        run.unplaced_cost += cost
    else:
        mark.value = msgspec.structs.replace(mark.value, cost=round(mark.value.cost + cost, _DIGITS))


def _verdict(run: Run, line: Event) -> Verdict | None:
    """The verdict of a result line, None if the last step's reason is the turn's too."""
    kind, ended = text_of(line, "subtype"), text_of(line, "terminal_reason")
    failed = line.get("is_error") is True or kind.startswith("error_")
    if ended.startswith("aborted") or (failed and run.interrupted and not ended):
        return "aborted", Failure("aborted", None, ended or kind, "interrupted")
    if kind in _LIMITS:
        finish, name = _LIMITS[kind]
        return finish, Failure(name, None, kind, _message(run, line) or finish)
    if failed:
        return "error", _failure(run, line)
    return ("tool-calls", None) if ended == "tool_deferred" else None


def _failure(run: Run, line: Event) -> Failure:
    kind = text_of(line, "subtype")
    message = _message(run, line)
    if kind.startswith("error_"):
        name = "structured_output" if "structured_output" in kind else "execution"
        return Failure(name, None, text_of(line, "terminal_reason") or kind, message or kind)
    known = run.api_error or Failure("api_error", None, None, "")
    status = count_of(line, "api_error_status") or known.status
    what = text_of(line, "api_error_type") or known.type
    return Failure("api_error", status, what, message or kind or "error", known.word)


def _message(run: Run, line: Event) -> str:
    errors = line.get("errors")
    if type(errors) is list and errors and type(errors[0]) is str:
        return errors[0]
    said = text_of(line, "result") or (run.api_error.message if run.api_error is not None else "")
    return said or (text_in(object_of(run.held, "message")) if run.held is not None else "")


def _take_cost(run: Run, line: Event) -> float:
    """What this turn added. The CLI's number grows over the whole session; a smaller one has begun anew."""
    told = next((value for key in _COSTS if (value := amount_of(line, key)) is not None), None)
    if told is None:
        return 0.0
    added = round(told - run.total_cost if told >= run.total_cost else told, _DIGITS)
    run.total_cost = told
    run.cost = round(run.cost + added, _DIGITS)
    place_cost(run, added)
    return added


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
