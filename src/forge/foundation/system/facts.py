"""What kind of machine this is, in the words the model and the doctor read."""

from __future__ import annotations

import os
import sys


def platform_name() -> str:
    """linux, darwin or win32."""
    return sys.platform


def os_version() -> str:
    """Name and release of the operating system."""
    if hasattr(os, "uname"):
        u = os.uname()
        return f"{u.sysname} {u.release}"
    return sys.platform


def is_superuser() -> bool:
    """Whether the process may do anything on this machine."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
