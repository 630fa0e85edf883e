"""tmux and screen: text that is typed into another terminal runs there."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import Stream
from forge.core.shell.analysis.tables import commands, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, Word


def _tmux(argv: list[Word], frame: Frame) -> Stream:
    judge_by_table(commands()["tmux"], argv[1:], frame)
    rest = parse_options(argv[1:], "-c -f -L -S -T", permute=False).operands
    while rest:
        texts = [w.text for w in rest]
        end = texts.index(";") if ";" in texts else len(rest)
        _sub_command(rest[:end], frame)
        rest = rest[end + 1 :]
    return Stream()


def _sub_command(words: list[Word], frame: Frame) -> None:
    name = words[0].text if words else ""
    if name in ("send-keys", "send"):
        typed = parse_options(words[1:], "-t -N").operands
        frame.run.script(
            " ".join(w.text for w in typed if w.text not in names("programs", "tmux_keys")), frame
        )
    elif name in names("programs", "tmux_runs"):
        given = parse_options(words[1:], "-t -n -s -c -e -F -x -y -l -p -w -h", permute=False).operands
        frame.run.script(" ".join(w.text for w in given), frame)


def _screen(argv: list[Word], frame: Frame) -> Stream:
    judge_by_table(commands()["screen"], argv[1:], frame)
    options = parse_options(argv[1:], "-S -c -e -h -p -s -t -T", permute=False)
    words = options.operands
    if options.has("-X"):
        typed = words[1].text if len(words) > 1 and words[0].text in ("stuff", "exec", "screen") else ""
        frame.run.script(typed.replace("\\n", "\n").replace("^M", "\n"), frame)
    elif words:
        frame.run.execute(words, frame, frame.step.span if frame.step else (0, 0))
    return Stream()


PROGRAMS = {"tmux": _tmux, "screen": _screen}
