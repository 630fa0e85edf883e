from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools.websearch import ACTION
from unit.core.tools.context import RecordingContext, call, failure

FOUND = [
    {"title": "One", "url": "https://a.example/1", "snippet": "first"},
    {"title": "Two", "url": "https://docs.b.example/2", "snippet": ""},
    {"title": "Odd", "url": "https://notb.example/3"},
]


INSECURE = "webSearch.endpoint must be an https address, because a key is sent to it."


class Site:
    """A search service: what it answers and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, str | None]] = []
        self.reply = (200, json.dumps({"results": FOUND}).encode())


def serving(site: Site) -> type[BaseHTTPRequestHandler]:
    class Search(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, self.headers.get("authorization")))
            status, body = site.reply
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    return Search


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), serving(site))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}/find"
    yield site
    server.shutdown()
    thread.join(5)
    server.server_close()


def context(tmp_path: Path, **settings: str) -> RecordingContext:
    ctx = RecordingContext(tmp_path, {"SEARCH_KEY": "geheim"})
    ctx.settings["webSearch"] = settings
    return ctx


def test_the_endpoint_is_asked_with_the_key_of_the_variable(tmp_path: Path, site: Site) -> None:
    ctx = context(tmp_path, endpoint=f"{site.url}?lang=en", apiKeyEnv="SEARCH_KEY")
    output = call(ACTION, ctx, query="a b&c")
    assert site.asked == [("/find?lang=en&q=a%20b%26c", "Bearer geheim")]
    assert output.content == (
        'Web search results for query: "a b&c"\n\n'
        'Links: [{"title":"One","url":"https://a.example/1"},'
        '{"title":"Two","url":"https://docs.b.example/2"},{"title":"Odd","url":"https://notb.example/3"}]\n\n'
        "One\nhttps://a.example/1\nfirst\n\nTwo\nhttps://docs.b.example/2\n\nOdd\nhttps://notb.example/3"
    )


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        ({}, ["One", "Two", "Odd"]),
        ({"allowed_domains": ["b.example"]}, ["Two"]),
        ({"allowed_domains": ["*.b.example", "A.example"]}, ["One", "Two"]),
        ({"blocked_domains": ["b.example"]}, ["One", "Odd"]),
        ({"allowed_domains": ["c.example"]}, []),
    ],
)
def test_domains_can_be_chosen(
    tmp_path: Path, site: Site, filters: dict[str, list[str]], titles: list[str]
) -> None:
    output = call(ACTION, context(tmp_path, endpoint=site.url), query="q?", **filters)
    assert [found["title"] for found in output.data["results"]] == titles
    assert titles or output.content == 'No results for query: "q?"'


def test_contradicting_filters_are_refused(tmp_path: Path, site: Site) -> None:
    given = {"query": "qq", "allowed_domains": ["a.com"], "blocked_domains": ["b.com"]}
    assert failure(ACTION, context(tmp_path, endpoint=site.url), **given) == (
        "refused",
        "Error: Cannot specify both allowed_domains and blocked_domains in the same request",
    )


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (503, b"busy", "The search endpoint 127.0.0.1 answered with status 503."),
        (200, b"<html>", "The search endpoint 127.0.0.1 did not answer with "),
        (200, b'{"found": []}', "The search endpoint 127.0.0.1 did not answer with "),
    ],
)
def test_a_broken_endpoint_is_explained(
    tmp_path: Path, site: Site, status: int, body: bytes, words: str
) -> None:
    site.reply = (status, body)
    ctx = context(tmp_path, endpoint=site.url, apiKeyEnv="SEARCH_KEY")
    kind, said = failure(ACTION, ctx, query="qq")
    assert (kind, said[: len(words)], "geheim" in said) == ("failed", words, False)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "No search endpoint is configured: set webSearch.endpoint in the settings."),
        (
            {"endpoint": "http://127.0.0.1:9/", "apiKeyEnv": "NO_SEARCH_KEY"},
            "The variable NO_SEARCH_KEY (webSearch.apiKeyEnv in the settings) is not set.",
        ),
        (
            {"endpoint": "http://127.0.0.1:9/", "apiKeyEnv": "HOME"},
            "webSearch.apiKeyEnv must name a variable with SEARCH in its name, not HOME.",
        ),
        ({"endpoint": "http://s.example/", "apiKeyEnv": "SEARCH_KEY"}, INSECURE),
        ({"endpoint": "http://127.s.example/", "apiKeyEnv": "SEARCH_KEY"}, INSECURE),
    ],
)
def test_missing_configuration_is_named(tmp_path: Path, settings: dict[str, str], words: str) -> None:
    assert failure(ACTION, context(tmp_path, **settings), query="qq") == ("failed", words)
