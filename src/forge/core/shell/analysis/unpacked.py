"""Archives from the network: where they were unpacked, whatever was not there before is a download, too."""

from __future__ import annotations

import os

from forge.core.shell.analysis.paths import absolute
from forge.core.shell.analysis.state import NETWORK, Word, Written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

# Stands for the files that came out of an archive, whose names are not known.
_ANY = "\0"


def unpack(tags: frozenset[str], directory: Word, frame: Frame) -> None:
    """Remembers where something from the network was unpacked."""
    path = absolute(directory.text, frame.state)
    if NETWORK in tags and path is not None:
        frame.state.files[f"{path.rstrip('/')}/{_ANY}"] = Written(None, tags)


def judge_unpacked(path: str, frame: Frame) -> None:
    """Running a file that only an archive from the network can have brought needs a look."""
    places = [key[:-1] for key in frame.state.files if key.endswith(_ANY)]
    if any(path.startswith(place) for place in places) and not os.path.lexists(path):
        frame.run.note(frame, "C7", "runs what was unpacked from a download", "remote_code")
