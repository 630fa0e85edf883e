from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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
    "/deep/moved": (302, {"location": "json?a=1"}, b""),
    "/deep/json?a=1": (200, {"content-type": "application/ld+json"}, b"{}"),
    "/french": (200, {"content-type": "text/plain; charset=ISO-8859-1"}, b"\xe9t\xe9"),
    "/odd": (200, {"content-type": "text/plain; charset=klingon"}, b"ok"),
    "/untyped": (200, {}, b"\x89PNG\0\0"),
    "/sideways": (302, {"location": "//elsewhere.example/x"}, b""),
    "/strange": (302, {"location": "javascript:alert(1)"}, b""),
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
    def __init__(self, place: Path = Path("/nowhere")) -> None:
        self.env: dict[str, str] = {}
        self.results_dir = str(place)


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(5)
    server.server_close()


def fetch(url: str, offset: int = 0, place: Path = Path("/nowhere")) -> str:
    context: Any = Context(place)
    output = asyncio.run(run(Arguments(url, "what?", offset), context))
    assert isinstance(output.content, str)
    return output.content


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/page", "# T\n\n## A\n\none **two**"),
        ("/json", '{"a": 1}'),
        ("/moved", '{"a": 1}'),
        ("/deep/moved", "{}"),
        ("/french", "été"),
        ("/odd", "ok"),
    ],
)
def test_pages_are_read_as_text(site: str, path: str, content: str) -> None:
    assert fetch(site + path) == f"Asked of this page: what?\n\n{content}"


def test_a_long_page_is_cut_and_continued(site: str) -> None:
    assert fetch(f"{site}/long").endswith("[Cut here: go on with offset 100000 of 150000.]")
    assert fetch(f"{site}/long", 100_000) == f"Asked of this page: what?\n\n{'x' * 50_000}"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/away", "https://elsewhere.example/x"),
        ("/sideways", "http://elsewhere.example/x"),
        ("/strange", "javascript:alert(1)"),
    ],
)
def test_a_redirect_to_another_host_is_reported(site: str, path: str, target: str) -> None:
    assert f"server-supplied, not verified): {target}\n    Status: 30" in fetch(site + path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/loop", "Too many redirects \\(exceeded 10\\)"),
    ],
)
def test_pages_that_cannot_be_read_say_why(site: str, path: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        fetch(site + path)


@pytest.mark.parametrize(
    ("path", "kind", "ending"),
    [("/image", "image/png, 4 bytes", "png"), ("/untyped", "application/octet", "bin")],
)
def test_what_is_no_text_is_saved(site: str, tmp_path: Path, path: str, kind: str, ending: str) -> None:
    told = fetch(site + path, place=tmp_path)
    (saved,) = tmp_path.iterdir()
    assert (f"[Binary content ({kind}" in told, told.endswith(f"saved to {saved}]")) == (True, True)
    assert (saved.suffix, saved.read_bytes()) == (f".{ending}", PAGES[path][2])


def test_an_error_of_the_server_is_an_answer_with_its_code(site: str) -> None:
    context: Any = Context()
    output = asyncio.run(run(Arguments(f"{site}/gone", "what?"), context))
    assert isinstance(output.content, str) and output.is_error is None
    assert output.content.startswith("The server returned HTTP 404 Not Found.\n\nThe response body was not")
    facts = {k: v for k, v in output.data.items() if k not in ("durationMs", "result")}
    assert facts == {"bytes": 0, "code": 404, "codeText": "Not Found", "url": f"{site}/gone"}


@pytest.mark.parametrize("url", ["nonsense", ""])
def test_what_is_no_address_is_wrong_input(url: str) -> None:
    context: Any = Context()
    with pytest.raises(ToolError, match=r"InputValidationError: (.|\n)*Invalid URL"):
        asyncio.run(check(Arguments(url, "p"), context))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://a.b/c", "Unsupported protocol ftp:"),
        ("https://me:pw@a.b/c", "Invalid URL"),
        (f"https://{'a' * 2000}.com/", "Invalid URL"),
        (f"https://{'a' * 70}.com/", "Invalid URL"),
        ("http://intranet/x", "WebFetch cannot fetch hostnames without a dot"),
    ],
)
def test_addresses_that_are_never_fetched_are_refused(url: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        fetch(url)


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


@pytest.mark.parametrize("piece", ['<a href="', "<!--", "<a ", "<", '<a href="/x">', "<script>"])
def test_a_page_made_to_keep_the_reader_busy_is_read_in_time(piece: str) -> None:
    assert isinstance(to_text(piece * 20_000), str)


def test_what_follows_a_broken_tag_is_still_read() -> None:
    assert to_text("<p>before</p><a " + "x" * 300_000 + " <b>after</b>").endswith("after")


def test_a_page_beyond_all_measure_says_that_it_is_cut() -> None:
    assert to_text("word " * 900_000).endswith("[The page is longer; the rest is left out.]")
