"""This program itself, and the agents it guards: what switches the guard off is dangerous."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import Stream
from forge.core.shell.analysis.tables import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, Word

_REMOVING = frozenset({"disable", "uninstall", "remove", "rm"})


def _forgecmd(argv: list[Word], frame: Frame) -> Stream:
    words = [word.text for word in argv]
    if words[1:2] != ["run"]:
        judge_by_table(commands()["forgecmd"], argv[1:], frame)
        return Stream()
    options = parse_options(argv[2:], "--timeout --profile --cwd", permute=False)
    if options.has("--yes") or any(value.text == "full" for value in options.values("--profile")):
        frame.run.note(frame, "C6", "answers the questions of forgecmd itself", "run")
    return frame.run.script(" ".join(word.text for word in options.operands), frame)


def _agent(argv: list[Word], frame: Frame) -> Stream:
    words = [word.text for word in argv[1:]]
    guard = any(word.split("@")[0] == "forgecmd" for word in words)
    if words[:1] in (["plugin"], ["plugins"]) and guard and not _REMOVING.isdisjoint(words):
        frame.run.note(frame, "D8", "switches the guard off", "persist")
        return Stream()
    judge_by_table(commands()[argv[0].text.rpartition("/")[2]], argv[1:], frame)
    return Stream()


PROGRAMS = {"forgecmd": _forgecmd, "forge claude": _agent}
