"""Which entries of a transcript are the conversation: the branch written last, from its root to its leaf.

Works on links only, so that a large file need not be in memory. What is damaged is bridged and reported.
"""

from __future__ import annotations

import msgspec


class Link(msgspec.Struct, frozen=True, gc=False):
    """What is known of one entry without its content; `at` and `size` say where its line is."""

    uuid: str
    parent: str | None
    kind: str
    at: int
    size: int = 0
    side: bool = False
    stamped: bool = True
    message: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class Kept(msgspec.Struct, frozen=True):
    """What a compaction left standing: the entries from `head` to `tail` follow behind `anchor`."""

    head: str
    anchor: str
    tail: str


def lineage(links: list[Link], kept: list[Kept], until: str = "") -> tuple[list[Link], list[str]]:
    """The entries of the current conversation, root first, and what had to be bridged or left out."""
    by_id = {link.uuid: link for link in links}
    notes: list[str] = []
    if len(by_id) < len(links):
        notes.append(
            f"{_count(len(links) - len(by_id), 'entry', 'entries')} written twice: the last one counts"
        )
    leaf = by_id.get(until) if until else _leaf(links)
    if leaf is None:
        return [], notes
    line = _Walk(links, by_id, _segments(kept, by_id), notes).back_from(leaf)
    line = _with_siblings(line, links)
    if until:
        line = line[: line.index(leaf) + 1]
    aside = 0 if until else _other_branches(line, links)
    if aside:
        notes.append(f"left out {_count(aside, 'entry', 'entries')} of another branch: the last one counts")
    return line, notes


class _Walk:
    """Follows parents from a leaf to the root."""

    def __init__(
        self, links: list[Link], by_id: dict[str, Link], segments: dict[str, Kept], notes: list[str]
    ) -> None:
        self._links, self._by_id, self._notes = links, by_id, notes
        self._tails = segments
        self._heads = {kept.head: kept.anchor for kept in segments.values()}
        self._seen: set[str] = set()
        self._places: dict[str, int] = {}

    def back_from(self, leaf: Link) -> list[Link]:
        line: list[Link] = []
        at: Link | None = leaf
        while at is not None:
            self._seen.add(at.uuid)
            line.append(at)
            at = self._before(at)
        line.reverse()
        return line

    def _before(self, link: Link) -> Link | None:
        parent = self._heads.get(link.uuid, link.parent)
        if parent is None:
            # Nothing but a prompt or a compaction begins a conversation.
            return self._bridge(link) if link.kind == "assistant" or link.results else None
        segment = self._tails.get(parent)
        if segment is not None and segment.tail not in self._seen and link.uuid != segment.head:
            parent = segment.tail
        if parent in self._seen and link.kind != "system":
            return self._bridge(link)
        if parent in self._seen:
            self._notes.append(f"the parents of entry {link.uuid} form a loop: what stood before is left out")
            return None
        if link.uuid in self._heads and parent not in self._by_id:
            self._notes.append(
                f"the summary before entry {link.uuid} is missing: the conversation starts there"
            )
            return None
        return self._by_id.get(parent) or self._bridge(link)

    def _bridge(self, link: Link) -> Link | None:
        """The entry written before one whose parent is lost."""
        if not self._places:
            self._places = {other.uuid: n for n, other in enumerate(self._links)}
        for place in range(self._places[link.uuid] - 1, -1, -1):
            other = self._links[place]
            if other.side == link.side and other.uuid not in self._seen and self._by_id[other.uuid] is other:
                self._notes.append(
                    f"the parent of entry {link.uuid} is missing: it follows the one before it"
                )
                return other
        self._notes.append(f"the parent of entry {link.uuid} is missing: the conversation starts there")
        return None


def _other_branches(line: list[Link], links: list[Link]) -> int:
    """How many words were said beside the line; what a rewind left behind on purpose does not count."""
    on_line = {link.uuid for link in line}
    ends = on_line - {link.parent for link in line if link.kind == "system"}
    aside: set[str] = set()
    count = 0
    for link in links:
        if link.uuid in on_line or link.side != line[-1].side:
            continue
        if link.parent in ends or link.parent in aside:
            aside.add(link.uuid)
            count += link.kind in ("user", "assistant")
    return count


def _leaf(links: list[Link]) -> Link | None:
    """The last entry nobody names as parent; sidechains only if there is nothing else."""
    parents = {link.parent for link in links}
    ends = [link for link in links if link.uuid not in parents]
    plain = [link for link in ends if not link.side]
    candidates = plain or [link for link in links if not link.side] or ends or links
    return candidates[-1] if candidates else None


def _segments(kept: list[Kept], by_id: dict[str, Link]) -> dict[str, Kept]:
    """Preserved stretches whose entries are all there, by their anchor."""
    whole: dict[str, Kept] = {}
    for segment in kept:
        at, seen = by_id.get(segment.tail), set[str]()
        while at is not None and at.uuid != segment.head and at.uuid not in seen:
            seen.add(at.uuid)
            at = by_id.get(at.parent or "")
        if at is not None and at.uuid == segment.head:
            whole[segment.anchor] = segment
    return whole


def _with_siblings(line: list[Link], links: list[Link]) -> list[Link]:
    """Puts what hangs beside the line back: blocks of the same message, and results of parallel calls."""
    on_line = {link.uuid for link in line}
    # All of a sub-agent's own transcript is a sidechain.
    aside = [link for link in links if link.uuid not in on_line and link.side == line[-1].side]
    if not aside:
        return line
    last = {link.message: link.uuid for link in line if link.message and link.kind == "assistant"}
    behind: dict[str, list[Link]] = {}
    for link in aside:
        # Some servers name all their messages alike: an entry of another branch must not come in.
        if link.message in last and link.kind == "assistant" and link.parent in on_line:
            on_line.add(link.uuid)
            behind.setdefault(last[link.message], []).append(link)
    return _with_results(_inserted(line, behind), aside)


def _with_results(line: list[Link], aside: list[Link]) -> list[Link]:
    """Results that hang beside the line come back, with what was written along with them and with calls."""
    answered = {call for link in line for call in link.results}
    open_calls = {call: link.uuid for link in line for call in link.calls if call not in answered}
    anchors = {link.uuid: link.uuid for link in line if link.calls or link.results}
    lost: dict[str, Link] = {}
    for link in aside:
        lost |= {call: link for call in link.results if call in open_calls}
    anchors |= {link.uuid: open_calls[call] for call, link in lost.items()}
    back = {link.uuid: link for link in lost.values()}
    for link in aside:
        if link.kind == "attachment" and link.parent in anchors:
            anchors[link.uuid] = anchors[link.parent]
            back[link.uuid] = link
    behind: dict[str, list[Link]] = {}
    for link in back.values():
        behind.setdefault(anchors[link.uuid], []).append(link)
    return _inserted(line, behind)


def _inserted(line: list[Link], behind: dict[str, list[Link]]) -> list[Link]:
    """The line with more links behind some, in the order in which they were written.

    Blocks stand directly behind those of their message; what answers them, before the next message.
    """
    whole: list[Link] = []
    waiting: list[tuple[Link, Link]] = []
    for link in line:
        due = [more for more, call in waiting if not _comes_first(link, call, more)]
        if due:
            whole += due
            waiting = [pair for pair in waiting if pair[0] not in due]
        whole.append(link)
        hanging = behind.get(link.uuid, [])
        whole += [more for more in hanging if more.kind == "assistant"]
        waiting += [(more, link) for more in hanging if more.kind != "assistant"]
        waiting.sort(key=lambda pair: pair[0].at)
    return whole + [more for more, _ in waiting]


def _comes_first(other: Link, call: Link, more: Link) -> bool:
    """Whether an entry stands before one that hangs beside the line behind a call."""
    if other.kind == "assistant":
        return other.message == call.message
    return call.at < other.at < more.at and (other.kind == "attachment" or bool(other.results))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
