"""What the model has written to files itself, as long as it knows the whole of them."""

from __future__ import annotations

_MOST_FILES = 64
_MOST_CHARS = 200_000


class Written:
    """Kept once per session: the texts of the files written last."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, path: str, text: str) -> None:
        """Remembers a text, in the place of the oldest one if there are too many; a long one is not kept."""
        self.texts.pop(path, None)
        if len(text) > _MOST_CHARS:
            return
        if len(self.texts) >= _MOST_FILES:
            del self.texts[next(iter(self.texts))]
        self.texts[path] = text

    def begin_anew(self) -> None:
        """Another conversation has written nothing."""
        self.texts.clear()
