"""URLs and proxies, without `urllib` (its import costs more than the rest of the client)."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping

import msgspec

from forge.foundation.errors import ModelError

_PORTS = {"http": 80, "https": 443}


class Url(msgspec.Struct, frozen=True):
    """The parts of an http(s) address; `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str = "/"
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        # Without the login.
        return f"Url({self.origin}{self.path})"

    @property
    def authority(self) -> str:
        """Host and port as the Host header wants them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS.get(self.scheme) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The address without path and without secrets, for messages."""
        return f"{self.scheme}://{self.authority}"

    @property
    def local(self) -> bool:
        """Whether the address is on this machine."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def split_url(text: str) -> Url:
    """Takes an address apart; raises `ModelError` when it is not an http(s) address."""
    scheme, mark, rest = text.strip().partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in _PORTS or any(c in rest for c in " \r\n\t"):
        raise _bad_url(text)
    # The fragment goes first: an "@" in it must not make what stands before it a login.
    rest = rest.partition("#")[0]
    end = min(i for i in (rest.find("/"), rest.find("?"), len(rest)) if i >= 0)
    place, path = rest[:end], rest[end:]
    login, _, place = place.rpartition("@")
    user, _, password = login.partition(":")
    host, port = _host_and_port(place, _PORTS[scheme])
    if not host or not 0 < port < 65536:
        raise _bad_url(text)
    if not path.startswith("/"):
        path = "/" + path
    return Url(scheme, host.lower(), port, path, unquote(user), unquote(password))


def _host_and_port(place: str, default: int) -> tuple[str, int]:
    if place.startswith("["):
        host, _, tail = place[1:].partition("]")
        port = tail.removeprefix(":")
    else:
        host, _, port = place.partition(":")
    if not port:
        return host, default
    return host, int(port) if port.isascii() and port.isdecimal() else 0


def _bad_url(text: str) -> ModelError:
    return ModelError(
        f"API Error: {_without_login(text)!r} is not a usable address.",
        kind="connection",
        hint="Expected something like https://api.example.com or http://127.0.0.1:11434/v1.",
    )


def _without_login(text: str) -> str:
    head, mark, rest = text.partition("://")
    return f"{head}{mark}{rest.rpartition('@')[2]}" if mark else text.rpartition("@")[2]


def unquote(text: str) -> str:
    """Replaces %XX escapes; broken escapes stay as they are."""
    if "%" not in text:
        return text
    first, *parts = text.split("%")
    out = bytearray(first.encode())
    for part in parts:
        try:
            out.append(int(part[:2], 16) if len(part[:2].strip()) == 2 else -1)
            out += part[2:].encode()
        except ValueError:
            out += b"%" + part.encode()
    return out.decode("utf-8", "replace")


def proxy_for(url: Url, env: Mapping[str, str]) -> Url | None:
    """The proxy the environment asks for; never one for this machine's own addresses."""
    if url.local:
        return None
    text = _variable(env, f"{url.scheme}_proxy") or _variable(env, "all_proxy")
    if not text or _excluded(url, _variable(env, "no_proxy")):
        return None
    if text.startswith("socks"):
        raise ModelError(
            "API Error: SOCKS proxies are not supported.",
            kind="connection",
            hint="Set HTTPS_PROXY to an http:// proxy, or list the model server in NO_PROXY.",
        )
    return split_url(text if "://" in text else f"http://{text}")


def proxy_login(proxy: Url) -> str:
    """The value of Proxy-Authorization, or "" without a login."""
    if not proxy.user:
        return ""
    pair = f"{proxy.user}:{proxy.password}".encode()
    return "Basic " + b2a_base64(pair, newline=False).decode()


def _variable(env: Mapping[str, str], name: str) -> str:
    return env.get(name) or env.get(name.upper()) or ""


def _excluded(url: Url, patterns: str) -> bool:
    for pattern in patterns.replace(",", " ").lower().split():
        host, port = _host_and_port(pattern, url.port)
        name = host.removeprefix("*").removeprefix(".")
        if pattern == "*" or (port == url.port and (url.host == name or url.host.endswith("." + name))):
            return True
    return False
