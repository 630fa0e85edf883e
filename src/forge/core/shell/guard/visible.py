"""Forbidden things that can be seen in the text of a command that could not be analysed."""

from __future__ import annotations

import re

_SYSTEM = r"/(?:bin|boot|dev|etc|home|lib\w*|opt|root|sbin|srv|sys|usr|var)/?\*?"
_TREE = rf"(?:/\*?|~/?\*?|\"?\$\{{?HOME\}}?\"?/?\*?|{_SYSTEM})"
_DEVICE = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md|disk|mapper/|mem\b)"
_PATTERNS = (
    (
        rf"\brm\s+(?:-\S+\s+)*-\w*[rR]\w*\s+(?:-\S+\s+)*(?:\S+\s+)*?{_TREE}(?:\s|;|&|\||\)|$)",
        "deletes a whole tree",
    ),
    (rf"\brm\s+(?:\S+\s+)*?--recursive\s+(?:\S+\s+)*?{_TREE}(?:\s|;|&|\||\)|$)", "deletes a whole tree"),
    (r"\b(?:mkfs(?:\.\w+)?|wipefs|mke2fs|blkdiscard)\s", "destroys a file system"),
    (rf"\bof={_DEVICE}", "writes to a disk"),
    (rf">\s*{_DEVICE}", "writes to a disk"),
    (r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&", "a fork bomb"),
    (r"\bkill\s+(?:-\S+\s+)*-1(?:\s|;|&|\||$)", "ends every process"),
    (r">\s*/etc/(?:passwd|shadow|sudoers|fstab)\b", "overwrites an account file"),
)


def forbidden_words(text: str) -> str:
    """What a text shows that is never allowed; "" if there is no such thing."""
    # `{rm,-rf,/}` is the same as its words.
    spread = re.sub(r"\{([^{}\s]*,[^{}\s]*)\}", lambda match: match[1].replace(",", " "), text)
    return next((reason for pattern, reason in _PATTERNS if re.search(pattern, spread)), "")


def raw_commands(text: str) -> list[list[str]]:
    """The words between separators, read without any understanding; quotes are taken off."""
    parts = re.split(r"[;&|\n()`{}]+", text)
    return [words for part in parts if (words := [word.strip("'\"\\") for word in part.split()])]
