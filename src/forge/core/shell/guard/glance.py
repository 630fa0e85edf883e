"""Commands that need no analysis: plain words after the name of a program that can only read or print.

Loading the analysis takes longer than most commands, and many runs consist of nothing else.
"""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import word_set

_PLAIN = re.compile(r"\s*[A-Za-z_][\w.+-]*(?:[ \t]+[\w./:=,@%+-]+)*\s*")
# Programs that write, delete or start nothing, whatever their arguments are.
_READING = word_set(
    """basename cat cksum cmp comm cut date df diff dirname du echo expand expr factor false fold grep groups
    head hexdump id join ls md5sum nl nproc od paste printf pwd readlink realpath seq sha1sum sha256sum sleep
    stat strings sum tac tail test tr true tty uname uniq uptime wc which whoami"""
)
# Names that secrets have: reading those is worth a closer look.
_TELLING = re.compile(
    r"(?:^|[\s/=])\.\w|key|pem|shadow|cred|secret|passw|token|id_|environ|[\s=]/(?:proc|etc|root|dev|sys|run|var)\b",
    re.IGNORECASE,
)


def only_reads(text: str) -> bool:
    """Whether it is certain without a closer look that a command changes nothing."""
    if _PLAIN.fullmatch(text) is None or _TELLING.search(text):
        return False
    words = text.split()
    # `uniq IN OUT` and `date -s` are the exceptions among them.
    return words[0] in _READING and not (words[0] in ("uniq", "date") and len(words) > 1)
