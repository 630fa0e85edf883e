"""The bodies of HTTP answers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.core.http.framing import BadAnswer, Chunked, Head, Sized, UntilClose, framing_of, parse_head


def test_the_head_is_read_with_lower_case_names_and_joined_repetitions() -> None:
    head = parse_head(b"HTTP/1.1 200 Fine Day\r\nX-A: 1\r\nx-a:2\r\nodd line\r\nContent-Length: 3")
    assert head == Head(200, "Fine Day", {"x-a": "1, 2", "content-length": "3"}, keeps_open=True)


@pytest.mark.parametrize(
    ("raw", "keeps"),
    [
        (b"HTTP/1.1 200", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive", True),
    ],
)
def test_version_and_connection_header_decide_about_keeping(raw: bytes, keeps: bool) -> None:
    assert parse_head(raw).keeps_open is keeps


@pytest.mark.parametrize("raw", [b"SSH-2.0-OpenSSH", b"HTTP/2 200", b"HTTP/1.1 20", b"HTTP/1.1 abc", b""])
def test_other_protocols_are_refused(raw: bytes) -> None:
    with pytest.raises(BadAnswer):
        parse_head(raw)


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (200, {"transfer-encoding": "gzip, Chunked"}, Chunked),
        (200, {"content-length": "5"}, Sized),
        (200, {"content-length": "5, 5"}, Sized),
        (200, {}, UntilClose),
        (204, {}, Sized),
    ],
)
def test_the_head_tells_how_the_body_ends(status: int, headers: dict[str, str], kind: type) -> None:
    assert type(framing_of(Head(status, "", headers, keeps_open=True))) is kind


@settings(max_examples=60, deadline=None)
@given(
    body=st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    cuts=st.lists(st.integers(0, 500), max_size=10),
    trailer=st.sampled_from([b"", b"x-sum: 1\r\n"]),
)
def test_chunked_bodies_survive_any_cut(body: list[bytes], cuts: list[int], trailer: bytes) -> None:
    raw = (
        b"".join(b"%x;ext=1\r\n%b\r\n" % (len(piece), piece) for piece in body) + b"0\r\n" + trailer + b"\r\n"
    )
    places = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    chunked = Chunked()
    out = b"".join(chunked.feed(raw[a:b]) for a, b in itertools.pairwise(places))
    assert (out, chunked.done, chunked.surplus) == (b"".join(body), True, False)


@pytest.mark.parametrize("raw", [b"xyz\r\n", b"-5\r\n", b"0x5\r\n", b"1_0\r\n", b"5" * 2000])
def test_bad_chunk_sizes_are_refused(raw: bytes) -> None:
    with pytest.raises(BadAnswer):
        Chunked().feed(raw)


def test_bytes_after_the_end_make_a_connection_unfit_for_reuse() -> None:
    chunked, sized = Chunked(), Sized(2)
    assert (chunked.feed(b"1\r\na\r\n0\r\n\r\nHTTP"), chunked.surplus) == (b"a", True)
    assert (sized.feed(b"abc"), sized.surplus) == (b"ab", True)


def test_an_early_end_is_an_error_only_where_the_length_was_promised() -> None:
    for framing in (Chunked(), Sized(3)):
        with pytest.raises(BadAnswer):
            framing.end()
    open_end = UntilClose()
    open_end.end()
    assert open_end.done
