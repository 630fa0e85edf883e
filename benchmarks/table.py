"""Numbers of several runs: medians and minima, and the table that compares two programs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

KINDS = ("median", "min")
Figures = dict[str, dict[str, float]]  # measure → {"median": …, "min": …}


def figures(runs: Mapping[str, Sequence[float]]) -> Figures:
    """Median and minimum of each measure that has values."""
    return {
        name: {"median": round(statistics.median(values), 2), "min": round(min(values), 2)}
        for name, values in runs.items()
        if values
    }


def columns(name: str, measured: Figures, measure: str) -> dict[str, str]:
    """Cells with median and minimum of one measure."""
    values = measured.get(measure, {})
    return {f"{name} {kind}": f"{values[kind]:.1f}" if kind in values else "–" for kind in KINDS}


def ratios(measured: Figures, base: Figures, measure: str) -> dict[str, str]:
    """Cells that say how many times the base it is."""
    mine, other = measured.get(measure, {}), base.get(measure, {})
    return {
        f"× {kind}": f"{mine[kind] / other[kind]:.2f}" if mine and other.get(kind) else "–" for kind in KINDS
    }


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows of equal columns as aligned text; the first two columns are words, the others numbers."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(_pad(i, cell, widths[i]) for i, cell in enumerate(line)).rstrip() for line in lines
    )


def _pad(column: int, cell: str, width: int) -> str:
    return cell.ljust(width) if column < 2 else cell.rjust(width)
