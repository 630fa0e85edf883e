"""The debug log: off by default, to standard error or a file on request."""

from __future__ import annotations

import logging

from forge.foundation.errors import UsageError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def start_log(debug: str | bool | None, path: str | None) -> None:
    """Sends the log where the user wants it; `debug` may be a comma-separated list of areas (hooks,tools)."""
    root = logging.getLogger("forge")
    root.propagate = False
    if not debug and not path:
        root.addHandler(logging.NullHandler())
        return
    try:
        target = logging.FileHandler(path, encoding="utf-8") if path else logging.StreamHandler()
    except OSError as error:
        raise UsageError(f"The debug log {path} cannot be written: {error.strerror}") from None
    target.setFormatter(logging.Formatter(FORMAT))
    if isinstance(debug, str):
        areas = tuple(f"forge.{a.strip()}" for a in debug.split(",") if a.strip())
        target.addFilter(lambda record: record.name.startswith(areas))
    root.addHandler(target)
    root.setLevel(logging.DEBUG)
