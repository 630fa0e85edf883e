"""Files as language servers name them: URIs with escaped characters."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit


def uri_of(path: str) -> str:
    """The URI of an absolute path."""
    return f"file://{quote(os.fsencode(path))}"


def path_of(uri: str) -> str:
    """The path a URI means; other URIs stay as they are."""
    if not uri.startswith("file:"):
        return uri
    return os.fsdecode(unquote(urlsplit(uri).path, errors="surrogateescape"))


def shown(uri: str, cwd: str) -> str:
    """A file as answers name it: relative to the current directory when below it."""
    return path_of(uri).removeprefix(cwd if cwd.endswith("/") else f"{cwd}/")
