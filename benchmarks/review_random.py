"""`python -m benchmarks.review_random [COUNT [FIRST]]`: random repositories and decisions, all bytes checked.

Each seed is three reviews: whole units (then restored), single lines (then restored), and one with an edit by
somebody else in between.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("src", "tests")]

from review_rounds import (  # noqa: E402  # found through the line above
    round_of_concurrent_edit,
    round_of_lines,
    round_of_units,
)

ROUNDS = (round_of_units, round_of_lines, round_of_concurrent_edit)


def main(count: int, first: int) -> int:
    """Prints failures and figures; the exit code is 1 if there was a failure."""
    os.umask(0o022)
    started, failed, units = time.perf_counter(), 0, 0
    for seed in range(first, first + count):
        for review in ROUNDS:
            with tempfile.TemporaryDirectory() as directory:
                try:
                    units += review(seed, os.path.join(directory, "repo"))
                except Exception:  # noqa: BLE001  # the run goes on and counts
                    failed += 1
                    print(f"seed {seed}, {review.__name__}:")
                    traceback.print_exc()
    seconds = time.perf_counter() - started
    print(f"{count} seeds, {3 * count} repositories, {units} units, {failed} failures, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [1000, 0][len(given) :])))
