"""The judgement of a command for the shell it is written for; unknown shells are asked about."""

from __future__ import annotations

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.cmd import analyse_cmd
from forge.core.shell.analysis.powershell import analyse_powershell
from forge.core.shell.analysis.record import UNANALYSABLE, Finding, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Known
    from forge.core.shell.analysis.surroundings import Surroundings


def _powershell(text: str, around: Surroundings) -> Verdict:
    return analyse_powershell(text, lambda command: analyse(command, around))


_SHELLS = {
    "bash": analyse,
    "sh": analyse,
    "powershell": _powershell,
    "pwsh": _powershell,
    "cmd": analyse_cmd,
}


def judge(text: str, around: Surroundings, shell: str = "bash", known: Known | None = None) -> Verdict:
    """The judgement of a command text; `known` carries files from one bash command to the next."""
    if known is not None and _SHELLS.get(shell) is analyse:
        return analyse(text, around, known=known)
    analysis = _SHELLS.get(shell)
    if analysis is not None:
        return analysis(text, around)
    finding = Finding("C7", f"commands of {shell} cannot be analysed", UNANALYSABLE)
    finding.span = (0, len(text))
    return Verdict(text, [finding], [], None)
