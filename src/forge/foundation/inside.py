"""Whether one path lies in another."""

from __future__ import annotations

import os


def is_inside(path: str, root: str) -> bool:
    """Whether a normal path is the root or lies below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def is_really_inside(path: str, *roots: str) -> bool:
    """Whether a path is one of the roots or lies below, with links followed."""
    real = os.path.realpath(path)
    return any(is_inside(real, os.path.realpath(root)) for root in roots)
