"""Kinds of places on Windows, by the words of PowerShell and cmd.exe."""

from __future__ import annotations

import functools
import re

_REGENERABLE = (
    "node_modules",
    "dist",
    "build",
    "target",
    "bin",
    "obj",
    "out",
    "__pycache__",
    ".next",
    "coverage",
    ".venv",
    "venv",
)


def windows_kind(word: str) -> str:
    """root, home, system, temp, regenerable, unknown, outside or workspace."""
    text = word.strip("\"'").replace("/", "\\")
    lowered = text.lower().rstrip("\\*.") or text.lower()
    if (
        text[:1] not in "*." and _root().fullmatch(text.lower().rstrip("*.").rstrip("\\") + "\\")
    ) or lowered in (
        "~",
        "$home",
        "\\",
        "$env:systemdrive",
        "%systemdrive%",
    ):
        return "root"
    for kind, pattern in _kinds().items():
        if pattern.match(lowered):
            return kind
    last = lowered.rpartition("\\")[2]
    if last in _REGENERABLE:
        return "regenerable"
    if "$" in text or "%" in text:
        return "unknown"
    return "outside" if re.match(r"[a-z]:|\\\\|\.\.", lowered) else "workspace"


@functools.cache
def _root() -> re.Pattern[str]:
    return re.compile(
        r"(?:[a-z]:|/|~|\$home|\$env:(?:userprofile|systemroot|windir|systemdrive|programfiles)|"
        r"%(?:userprofile|systemroot|windir|homepath)%|hk(?:lm|cu|ey_\w+):?)?\\+"
    )


@functools.cache
def _kinds() -> dict[str, re.Pattern[str]]:
    return {
        "temp": re.compile(
            r"\$env:(?:temp|tmp)\\|%(?:temp|tmp)%\\|[a-z]:\\(?:windows\\)?temp\\|/tmp/|\\tmp\\"
        ),
        "root": re.compile(
            r"(?:[a-z]:\\(?:windows|users|program files(?: "
            r"\(x86\))?|programdata)|\$env:(?:userprofile|systemroot|windir|programfiles)|"
            r"%(?:userprofile|windir|systemroot)%)$"
        ),
        "system": re.compile(
            r"[a-z]:\\(?:windows|program "
            r"files|programdata)|\$env:(?:systemroot|windir|programfiles)|%(?:windir|systemroot)%|"
            r"hk(?:lm|cr|u|ey_)|/etc|/usr|/bin"
        ),
        "home": re.compile(r"[a-z]:\\users\\[^\\]+$"),
        "outside": re.compile(r"[a-z]:\\users\\|\$env:userprofile\\|\$home\\|~\\|%userprofile%\\"),
    }


TREE = {
    "root": "F10",
    "home": "F10",
    "system": "F9",
    "outside": "D8",
    "workspace": "D8",
    "unknown": "D8",
    "regenerable": "C6",
    "temp": "C5",
}
FILE = {
    "root": "D8",
    "home": "D8",
    "system": "D8",
    "outside": "C7",
    "workspace": "C6",
    "unknown": "C7",
    "regenerable": "C5",
    "temp": "C5",
}
WRITE = {
    "root": "C7",
    "home": "C6",
    "system": "D8",
    "outside": "C6",
    "workspace": "W4",
    "unknown": "C6",
    "regenerable": "W3",
    "temp": "W3",
}
