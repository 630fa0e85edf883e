"""One registry type for every kind of component. Winners are chosen by scope, shadowed ones stay visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from forge.foundation.origin import Origin, Scope

T = TypeVar("T")


class Component(msgspec.Struct, Generic[T], frozen=True):
    """A named thing and where it comes from."""

    name: str
    value: T
    origin: Origin


class Registry(Generic[T]):
    """Components by name; the first scope in `order` wins, among equals the one added last.

    `rank` orders components by more than their scope; the lowest wins.
    """

    def __init__(self, order: Sequence[Scope], rank: Callable[[Component[T]], int] | None = None) -> None:
        ranks = {scope: n for n, scope in enumerate(order)}
        self._rank = rank or (lambda c: ranks.get(c.origin.scope, len(ranks)))
        self._entries: dict[str, list[Component[T]]] = {}

    def add(self, component: Component[T]) -> Callable[[], None]:
        """Adds a component and returns the function that removes it again."""
        entries = self._entries.setdefault(component.name, [])
        entries.insert(0, component)
        entries.sort(key=self._rank)

        def remove() -> None:
            entries[:] = [c for c in entries if c is not component]
            if not entries:
                self._entries.pop(component.name, None)

        return remove

    def find(self, name: str) -> list[Component[T]]:
        """The winner first, then the shadowed ones."""
        return list(self._entries.get(name, ()))

    def get(self, name: str) -> T | None:
        entries = self._entries.get(name)
        return entries[0].value if entries else None

    def __getitem__(self, name: str) -> T:
        return self._entries[name][0].value

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Component[T]]:
        return iter([self._entries[name][0] for name in sorted(self._entries)])

    def __len__(self) -> int:
        return len(self._entries)
