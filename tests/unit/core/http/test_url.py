"""Addresses and proxies."""

from __future__ import annotations

import pytest

from forge.core.http.url import Url, proxy_for, proxy_login, split_url, unquote
from forge.foundation.errors import ModelError
from forge.foundation.permissions.web import host_of


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.example.com", Url("https", "api.example.com", 443)),
        ("HTTP://Host:8080/v1/x?y=1#z", Url("http", "host", 8080, "/v1/x?y=1")),
        ("http://[::1]:11434/v1", Url("http", "::1", 11434, "/v1")),
        ("http://host?beta=true", Url("http", "host", 80, "/?beta=true")),
        ("http://a%40b:p%3Aq@proxy:3128", Url("http", "proxy", 3128, "/", "a@b", "p:q")),
    ],
)
def test_addresses_are_taken_apart(text: str, url: Url) -> None:
    assert split_url(text) == url


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://docs.example#@evil.example/x", "docs.example"),
        ("https://docs.example:443#@evil.example", "docs.example"),
        ("https://docs.example@evil.example/", "evil.example"),
        ("https://a@docs.example@evil.example/", "evil.example"),
        ("https://evil.example?@docs.example", "evil.example"),
    ],
)
def test_the_host_that_is_asked_is_the_host_that_is_judged(text: str, host: str) -> None:
    assert (split_url(text).host, host_of(text)) == (host, host)


@pytest.mark.parametrize(
    "text", ["", "host:80", "ftp://x", "http://", "http://h:0", "http://h:x", "http://a b"]
)
def test_what_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="is not a usable address"):
        split_url(text)


def test_refused_addresses_do_not_show_the_login() -> None:
    with pytest.raises(ModelError) as caught:
        split_url("http://me:secret@host:bad")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "origin", "local"),
    [
        ("https://a.b:443/x", "https://a.b", False),
        ("http://a.b:8080", "http://a.b:8080", False),
        ("http://user:pw@[::1]:80", "http://[::1]", True),
        ("http://localhost:1", "http://localhost:1", True),
        ("http://127.9.9.9", "http://127.9.9.9", True),
    ],
)
def test_an_origin_is_the_address_without_path_and_login(url: str, origin: str, local: bool) -> None:
    assert (split_url(url).origin, split_url(url).local) == (origin, local)


@pytest.mark.parametrize(
    ("url", "env", "proxy"),
    [
        ("https://x.com", {}, None),
        ("https://x.com", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://x.com", {"https_proxy": "p:1", "HTTPS_PROXY": "http://q:2"}, "http://p:1"),
        ("https://x.com", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://x.com", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("http://x.com", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("http://localhost:80", {"ALL_PROXY": "http://p:1"}, None),
        ("http://127.0.0.1:80", {"ALL_PROXY": "http://p:1"}, None),
        ("https://x.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://x.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": "y.com, x.com"}, None),
        ("https://a.x.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": ".x.com"}, None),
        ("https://a.x.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": "*.x.com"}, None),
        ("https://ax.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": "x.com"}, "http://p:1"),
        ("https://x.com", {"ALL_PROXY": "http://p:1", "NO_PROXY": "x.com:8443"}, "http://p:1"),
        ("https://x.com:8443", {"ALL_PROXY": "http://p:1", "no_proxy": "x.com:8443"}, None),
    ],
)
def test_the_environment_chooses_the_proxy(url: str, env: dict[str, str], proxy: str | None) -> None:
    found = proxy_for(split_url(url), env)
    assert (found.origin if found else None) == proxy


def test_socks_proxies_are_named_as_unsupported() -> None:
    with pytest.raises(ModelError, match="SOCKS"):
        proxy_for(split_url("https://x.com"), {"ALL_PROXY": "socks5://p:1080"})


def test_proxy_logins_are_decoded_before_they_are_sent() -> None:
    assert proxy_login(split_url("http://a%40b:p@h")) == "Basic YUBiOnA="
    assert proxy_login(split_url("http://h")) == ""


@pytest.mark.parametrize(
    ("text", "plain"), [("a%20b", "a b"), ("%C3%BC", "ü"), ("100%", "100%"), ("%zz", "%zz")]
)
def test_escapes_are_replaced_and_broken_ones_kept(text: str, plain: str) -> None:
    assert unquote(text) == plain
