"""`python -m benchmarks [--reference PATH]`: start-up first, then the scripted jobs, as tables."""

from __future__ import annotations

import sys

from benchmarks import compare, startup

if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--json"]
    startup.main(arguments)
    print()
    sys.exit(compare.main(arguments))
