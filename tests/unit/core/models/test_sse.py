"""Server-sent events, however they are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.core.models.sse import Parser


def parse(*pieces: bytes) -> list[bytes]:
    parser = Parser()
    return [data for piece in pieces for data in parser.feed(piece)] + parser.end()


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"event: x\ndata: a\nid: 7\n\n", [b"a"]),
        (b": keep-alive\n\ndata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\n\n\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: [DONE]\n\n", [b"[DONE]"]),
        (b"data: a", [b"a"]),
        (b"data\n\nretry: 5\n\n", []),
        (b"", []),
    ],
)
def test_events_are_found_whole_and_byte_by_byte(raw: bytes, events: list[bytes]) -> None:
    assert parse(raw) == events
    assert parse(*(raw[i : i + 1] for i in range(len(raw)))) == events


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.text("ab: é{}", min_size=1, max_size=12).map(str.encode), max_size=5),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_the_cuts_of_the_transport_do_not_matter(
    events: list[bytes], newline: bytes, cuts: list[int]
) -> None:
    raw = b"".join(b"event: x" + newline + b"data: " + e + newline * 2 for e in events)
    places = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    pieces = [raw[a:b] for a, b in itertools.pairwise(places)]
    assert parse(*pieces) == events


def test_an_event_is_given_out_as_soon_as_its_empty_line_ends() -> None:
    parser = Parser()
    assert parser.feed(b"data: a\r\n\r") == [b"a"]
    assert parser.feed(b"\ndata: b\r\n\r\n") == [b"b"]
