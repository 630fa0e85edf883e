"""Paths as tools get them from a model, and what is wrong with a path in words scripts know."""

from __future__ import annotations

import errno
import os

from forge.core.tool import ToolContext, ToolError


def resolve(path: str, ctx: ToolContext) -> str:
    """The absolute path a model means: blanks around it do not count, `~` is the home directory."""
    path = path.strip()
    if path == "~" or path.startswith("~/"):
        path = ctx.env.get("HOME", "~") + path[1:]
    path = os.path.normpath(os.path.join(ctx.cwd, path))
    return _real_name(path) if "\ufffd" in path else path


def _real_name(path: str) -> str:
    """A file whose name is not UTF-8 is known to the model by what `visible` makes of it."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder)
    except OSError:
        return path
    return os.path.join(folder, next((n for n in names if visible(n) == name), name))


def visible(path: str) -> str:
    """A path as text; bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def relative(path: str, ctx: ToolContext) -> str:
    """A path as search results show it: relative to the current directory when below it."""
    root = ctx.cwd if ctx.cwd.endswith("/") else ctx.cwd + "/"
    return visible(path.removeprefix(root))


def modified(path: str) -> float:
    """When a file was last changed; 0 if that cannot be told."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def refuse_null_bytes(tool_name: str, path: str) -> None:
    if "\0" in path:
        raise ToolError(
            f"{tool_name} file_path cannot contain null bytes (\\0). Remove the null byte and try again."
        )


def missing(path: str, ctx: ToolContext) -> ToolError:
    """The error for a file that is not there; names a file that differs only in its extension."""
    similar = _similar(path)
    hint = f" Did you mean {similar}?" if similar else ""
    return ToolError(f"File does not exist. Note: your current working directory is {ctx.cwd}.{hint}")


def system_error(error: OSError, call: str, path: str = "") -> ToolError:
    """An error of the operating system in the form `EACCES: permission denied, open '<path>'`."""
    return ToolError(describe(error, call, path))


def calling_error(tool_name: str, error: OSError, call: str, path: str = "") -> ToolError:
    """The same for an error found before the tool could start."""
    text = f"Error calling tool ({tool_name}): {describe(error, call, path)}"
    return ToolError(text, data=text)


def describe(error: OSError, call: str, path: str = "") -> str:
    name = errno.errorcode.get(error.errno or 0, "EIO")
    words = _WORDS.get(name, (error.strerror or str(error)).lower())
    return f"{name}: {words}, {call} '{visible(path)}'" if path else f"{name}: {words}, {call}"


def _similar(path: str) -> str:
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ""
    return next((visible(n) for n in names if n != name and os.path.splitext(n)[0] == stem), "")


_WORDS = {
    "EACCES": "permission denied",
    "EBUSY": "resource busy or locked",
    "EEXIST": "file already exists",
    "EISDIR": "illegal operation on a directory",
    "ELOOP": "too many symbolic links encountered",
    "ENAMETOOLONG": "name too long",
    "ENOENT": "no such file or directory",
    "ENOSPC": "no space left on device",
    "ENOTDIR": "not a directory",
    "EPERM": "operation not permitted",
    "EROFS": "read-only file system",
    "EDQUOT": "disk quota exceeded",
    "EFBIG": "file too large",
    "EIO": "i/o error",
}
