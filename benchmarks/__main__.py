"""`python -m benchmarks [--reference PATH] [--json]`: start-up first, then the scripted jobs."""

from __future__ import annotations

import sys

from benchmarks import compare, startup

if __name__ == "__main__":
    arguments = sys.argv[1:]
    startup.main(arguments)
    print()
    sys.exit(compare.main(arguments))
