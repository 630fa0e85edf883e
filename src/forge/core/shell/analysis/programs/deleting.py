"""Programs that remove or empty files."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import judge
from forge.core.shell.analysis.state import LISTED, Stream, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame


def _rm(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:])
    tree = options.has("-r", "-R", "--recursive")
    if options.has("--no-preserve-root"):
        frame.run.note(frame, "D9", "switches off the protection of the root directory", "delete_tree")
    for operand in options.operands:
        delete(operand, frame, tree)
    if not options.operands:
        frame.run.note(frame, "C5", "deletes what other words will name", "delete")
    return Stream("")


def delete(operand: Word, frame: Frame, tree: bool) -> None:
    """Judges one deleted path; a wide pattern is as bad as its directory."""
    if operand.glob and _wide(operand.text) and not tree:
        tree = True
    if operand.unknown and LISTED in operand.tags:
        frame.run.note(frame, "D8", "deletes whatever another program lists", "delete_tree")
    judge(frame, "delete_tree" if tree else "delete", operand)


def _wide(text: str) -> bool:
    last = text.rpartition("/")[2]
    return last in ("*", ".*", ".[!.]*", "**", "*.*") or set(last) <= set("*?.[]!^")


def _one(argv: list[Word], frame: Frame) -> Stream:
    for operand in parse_options(argv[1:], "-n --iterations -s --size --random-source").operands:
        delete(operand, frame, False)
    return Stream("")


def _shred(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-n --iterations -s --size --random-source")
    for operand in options.operands:
        judge(frame, "write", operand, "overwrites")
        judge(frame, "delete", operand)
    frame.run.note(frame, "C7", "destroys the content of files for good", "delete")
    return Stream("")


def _rmdir(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:])
    for operand in options.operands:
        judge(frame, "delete", operand, "removes the empty directory in")
    return Stream("")


def _truncate(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-s --size -r --reference")
    sizes = [v.text for v in options.values("-s", "--size")]
    for operand in options.operands:
        judge(frame, "write", operand, "truncates a file in")
        if any(not s.startswith("+") for s in sizes):
            frame.run.note(frame, "C6", "cuts off the content of a file", "delete")
    return Stream("")


def _rimraf(argv: list[Word], frame: Frame) -> Stream:
    for operand in parse_options(argv[1:], "--tmp --backoff --max-retries").operands:
        delete(operand, frame, True)
    return Stream("")


PROGRAMS = {
    "rm grm": _rm,
    "unlink": _one,
    "shred srm wipe sfill": _shred,
    "rmdir": _rmdir,
    "truncate": _truncate,
    "rimraf del-cli": _rimraf,
}
