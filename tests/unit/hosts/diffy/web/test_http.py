"""Who is let in to the page: only this machine's browser, on our own page, with the token."""

from __future__ import annotations

import asyncio

import pytest

from forge.hosts.diffy.web.http import Asked, Wrong, admitted, read_request, response

HOST = {"host": "127.0.0.1:80"}
OURS = {**HOST, "origin": "http://127.0.0.1:80", "content-type": "application/json"}

LET_IN = [
    (Asked("GET", "/tok/", HOST), ""),
    (Asked("GET", "/tok/page.js", {"host": "localhost:80"}), "page.js"),
    (Asked("GET", "/tok/review", {**HOST, "sec-fetch-site": "same-origin"}), "review"),
    (Asked("POST", "/tok/finish", OURS), "finish"),
]
KEPT_OUT = [
    ("another name for this machine", Asked("GET", "/tok/", {"host": "evil.test:80"}), 403),
    ("no host", Asked("GET", "/tok/", {}), 403),
    ("another port", Asked("GET", "/tok/", {"host": "127.0.0.1:81"}), 403),
    ("no token", Asked("GET", "/", HOST), 404),
    ("wrong token", Asked("GET", "/tik/", HOST), 404),
    ("token without an end", Asked("GET", "/tok", HOST), 404),
    ("token too long", Asked("GET", "/tokk/", HOST), 404),
    ("odd token", Asked("GET", "/t\xf6k/", HOST), 404),
    ("page of another site", Asked("POST", "/tok/finish", {**OURS, "origin": "http://evil.test"}), 403),
    ("page without a site", Asked("POST", "/tok/finish", {**OURS, "origin": "null"}), 403),
    ("another port's page", Asked("POST", "/tok/finish", {**OURS, "origin": "http://127.0.0.1:81"}), 403),
    ("no origin", Asked("POST", "/tok/finish", {**HOST, "content-type": "application/json"}), 403),
    ("a form", Asked("POST", "/tok/finish", {**OURS, "content-type": "text/plain"}), 403),
    ("embedded elsewhere", Asked("GET", "/tok/", {**HOST, "sec-fetch-site": "cross-site"}), 403),
    ("another method", Asked("PUT", "/tok/", HOST), 405),
]


@pytest.mark.parametrize(("asked", "rest"), LET_IN)
def test_our_own_page_is_let_in(asked: Asked, rest: str) -> None:
    assert admitted(asked, 80, "tok") == rest


@pytest.mark.parametrize(("asked", "status"), [row[1:] for row in KEPT_OUT], ids=[row[0] for row in KEPT_OUT])
def test_everybody_else_is_kept_out(asked: Asked, status: int) -> None:
    with pytest.raises(Wrong) as caught:
        admitted(asked, 80, "tok")
    assert caught.value.status == status


def read(data: bytes) -> Asked:
    async def through() -> Asked:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_request(reader)

    return asyncio.run(through())


def test_request_is_read_with_its_body() -> None:
    data = b"POST /tok/x?y=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
    assert read(data) == Asked("POST", "/tok/x", {"host": "h", "content-length": "2"}, b"{}")


ODD = [
    (b"hello", 400),
    (b"GET /\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
    (b"GET / HTTP/1.1\r\nX: " + b"y" * 20000 + b"\r\n\r\n", 413),
]


@pytest.mark.parametrize(("data", "status"), ODD)
def test_odd_request_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(Wrong) as caught:
        read(data)
    assert caught.value.status == status


def test_answer_forbids_everything_the_page_does_not_need() -> None:
    head = response(200, "text/html", b"x").partition(b"\r\n\r\n")[0].decode()
    for line in (
        "Content-Length: 1",
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
    ):
        assert line in head
