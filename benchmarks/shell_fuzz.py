"""`python -m benchmarks.shell_fuzz [COUNT [SEED]]`: random snippets against bash, the corpus in other words.

Counts hidden commands (bash ran one the analysis did not see), commands that look safer when they are written
in another way, and text that is taken for more than data.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("src", "tests")]

import shell_fuzz  # noqa: E402  # found through the line above
from forge.core.shell.analysis.record import RANK  # noqa: E402  # likewise
from unit.core.shell.analysis.judged import corpus, judged  # noqa: E402  # likewise
from unit.core.shell.analysis.metamorphic import MENTIONED, SAME  # noqa: E402  # likewise


def main(count: int, seed: int) -> int:
    """Prints the figures; the exit code is 1 if anything was hidden or changed its category."""
    faults = 0
    if shell_fuzz.usable():
        for kind in ("general", "heredoc"):
            started = time.perf_counter()
            texts = shell_fuzz.snippets(kind, count, seed)
            found = shell_fuzz.hidden(texts)
            faults += len(found)
            seconds = time.perf_counter() - started
            unsure = shell_fuzz.unsure(texts)
            print(f"{kind:8} {count} snippets, {len(found)} hidden, {unsure} unsure, {seconds:.0f} s")
            for text, names in found:
                print(f"  {text!r} ran {names}")
    else:
        print("differential: skipped, no namespace can be made here")
    return 1 if faults + metamorphic() else 0


def metamorphic() -> int:
    """How many rows of the corpus change their category when they are written in another way."""
    fallen, risen, tried = [], [], 0
    for expect, _, command in corpus():
        if expect in ("dangerous", "forbidden"):
            tried += len(SAME)
            fallen += [
                (way, command) for way, change in SAME.items() if rank(change(command)) < rank(command)
            ]
        if command.isascii():
            tried += len(MENTIONED)
            risen += [(way, command) for way, change in MENTIONED.items() if rank(change(command)) > 1]
    print(f"metamorphic {tried} texts, {len(fallen)} look safer, {len(risen)} look worse")
    for way, command in fallen + risen:
        print(f"  {way}: {command!r}")
    return len(fallen) + len(risen)


def rank(command: str) -> int:
    """The place of a command's category in the order of danger; interactive counts as caution."""
    return RANK.get(judged(command).category, RANK["caution"])


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [5000, 1][len(numbers) :])))
