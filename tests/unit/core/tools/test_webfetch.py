from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from forge.core.tool import ToolError
from forge.core.tools.webfetch import Arguments, check, run
from forge.core.tools.webpage import to_text

PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/page": (
        200,
        {"content-type": "text/html"},
        b"<title>T</title><h2>A</h2><p>one <b>two</b></p><script>no</script>",
    ),
    "/json": (200, {"content-type": "application/json"}, b'{"a": 1}'),
    "/long": (200, {"content-type": "text/plain"}, b"x" * 150_000),
    "/moved": (302, {"location": "/json"}, b""),
    "/away": (301, {"location": "https://elsewhere.example/x"}, b""),
    "/loop": (302, {"location": "/loop"}, b""),
    "/image": (200, {"content-type": "image/png"}, b"\x89PNG"),
    "/gone": (404, {"content-type": "text/plain"}, b"no"),
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


class Context:
    def __init__(self) -> None:
        self.env: dict[str, str] = {}


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(5)
    server.server_close()


def fetch(url: str, offset: int = 0) -> str:
    context: Any = Context()
    output = asyncio.run(run(Arguments(url, "what?", offset), context))
    assert isinstance(output.content, str)
    return output.content


@pytest.mark.parametrize(
    ("path", "content"),
    [("/page", "# T\n\n## A\n\none two"), ("/json", '{"a": 1}'), ("/moved", '{"a": 1}')],
)
def test_pages_are_read_as_text(site: str, path: str, content: str) -> None:
    assert fetch(site + path) == f"Asked of this page: what?\n\n{content}"


def test_a_long_page_is_cut_and_continued(site: str) -> None:
    assert fetch(f"{site}/long").endswith("[Cut here: go on with offset 100000 of 150000.]")
    assert fetch(f"{site}/long", 100_000) == f"Asked of this page: what?\n\n{'x' * 50_000}"


def test_a_redirect_to_another_host_is_reported(site: str) -> None:
    assert "redirects to another host: https://elsewhere.example/x" in fetch(f"{site}/away")


@pytest.mark.parametrize(
    ("path", "words"),
    [("/loop", "redirects more than 5 times"), ("/image", "is image/png"), ("/gone", "status 404")],
)
def test_pages_that_cannot_be_read_say_why(site: str, path: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        fetch(site + path)


@pytest.mark.parametrize("url", ["nonsense", "ftp://a.b/c", "http://intranet/x", "file:///etc/passwd", ""])
def test_addresses_that_can_never_work_are_refused(url: str) -> None:
    context: Any = Context()
    with pytest.raises(ToolError, match="Invalid URL"):
        asyncio.run(check(Arguments(url, "p"), context))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ('<a href="https://x.y/">link</a> and <a href="#top">here</a>', "[link](https://x.y/) and here"),
        ("<pre>  a\n  b</pre>", "```\n  a\n  b\n```"),
        ("a &amp; b&nbsp;c", "a & b c"),
        ("<p>unclosed <p>next", "unclosed\n\nnext"),
        ("plain", "plain"),
    ],
)
def test_html_becomes_simple_markdown(html: str, text: str) -> None:
    assert to_text(html) == text
