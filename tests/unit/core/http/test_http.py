"""The HTTP client against a real socket: connections, proxies, certificates."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fakemodel import Server, serve
from forge.core.http.client import Client, Timeouts
from forge.foundation.errors import ModelError

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[int]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def saying(answer: bytes, *, keep: bool = False) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(answer)
            await writer.drain()
            if not keep:
                writer.write_eof()
                return

    return talk


async def get(client: Client, url: str, hint: str = "") -> tuple[int, bytes]:
    async with await client.send("GET", url, {}, hint=hint) as response:
        return response.status, await response.read_all()


def fetch(url: str, env: dict[str, str] | None = None, times: int = 1) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        client = Client(env or {}, Timeouts(connect=5, idle=5))
        try:
            for _ in range(times - 1):
                await get(client, url)
            return await get(client, url)
        finally:
            await client.close()

    return asyncio.run(run())


def hear(talk: Talk, *, idle: float = 5) -> tuple[int, bytes]:
    """What a client hears from a server that talks like this."""

    async def run() -> tuple[int, bytes]:
        async with listening(talk) as port:
            client = Client({}, Timeouts(connect=5, idle=idle))
            try:
                return await get(client, f"http://127.0.0.1:{port}/", hint="Do this.")
            finally:
                await client.close()

    return asyncio.run(run())


def test_a_connection_the_server_closed_while_idle_is_replaced() -> None:
    with serve([], drop_reused=True) as server:
        assert fetch(f"{server.url}/v1/models", times=3)[0] == 200
        assert (server.connections, len(server.requests)) == (3, 3)


def test_provisional_answers_are_skipped() -> None:
    preface = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    with serve([], preface=preface) as server:
        assert fetch(f"{server.url}/v1/models")[0] == 200


def test_a_body_may_end_with_the_connection() -> None:
    assert hear(saying(b"HTTP/1.1 200 OK\r\n\r\nall of it")) == (200, b"all of it")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", "closed the connection without an answer"),
        (b"SSH-2.0-x\r\n\r\n", "did not answer in HTTP/1.1"),
        (b"\x15\x03\x01", "did not answer in HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", "4 bytes missing"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab", "in the middle of the answer"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "chunk size is not a number"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", "Content-Length is not a number"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", "headers are larger than 64 KB"),
    ],
)
def test_broken_answers_are_retryable_and_say_what_is_wrong(answer: bytes, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        hear(saying(answer))
    error = caught.value
    assert (error.kind, error.retryable, error.hint) == ("connection", True, "Do this.")
    assert text in error.message


def test_a_refused_connection_names_the_address_and_the_remedy() -> None:
    async def run(port: int) -> None:
        await get(Client({}), f"http://localhost:{port}/secret-path", hint="Start it.")

    with serve([]) as server:
        free = server.port
    with pytest.raises(ModelError) as caught:
        asyncio.run(run(free))
    error = caught.value
    assert str(error) == (
        f"API Error: Connection refused by http://localhost:{free}: no server is listening there "
        "(ECONNREFUSED).\nStart it."
    )
    assert (error.kind, error.retryable) == ("connection", True)


def test_a_silent_server_is_given_up() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    with pytest.raises(ModelError, match=r"did not answer within 0\.05 seconds"):
        hear(silent, idle=0.05)


def test_a_server_that_stops_talking_is_given_up() -> None:
    async def stuck(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
        await reader.read()

    with pytest.raises(ModelError, match=r"sent nothing within 0\.05 seconds"):
        hear(stuck, idle=0.05)


def test_an_early_refusal_is_heard_although_the_body_is_not_read() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")
        await writer.drain()
        await reader.read(1)

    async def run() -> int:
        async with listening(refuse) as port:
            client = Client({})
            async with await client.send(
                "POST", f"http://127.0.0.1:{port}/", {}, b"x" * 8_000_000
            ) as response:
                assert await response.read_all() == b"no"
                return response.status

    assert asyncio.run(run()) == 413


@pytest.mark.parametrize("name", ["x-key", "bad name", ""])
def test_headers_cannot_smuggle_lines_and_the_value_stays_secret(name: str) -> None:
    async def run() -> None:
        await Client({}).send("GET", "http://127.0.0.1:1/", {name: "se\r\ncret: x"})

    with pytest.raises(ModelError) as caught:
        asyncio.run(run())
    assert "cret" not in str(caught.value)


def test_the_request_asks_for_an_unpacked_answer() -> None:
    with serve([]) as server:
        fetch(f"{server.url}/v1/models")
        headers = server.requests[0].headers
    assert headers == {"host": f"127.0.0.1:{server.port}", "accept-encoding": "identity"}


class Proxy:
    """A proxy for one upstream server; remembers the first lines and logins it saw."""

    def __init__(self, upstream: Server, login: str = "") -> None:
        self.seen: list[tuple[str, str]] = []
        self._upstream = upstream
        self._login = login

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        login = next((line.split(": ", 1)[1] for line in lines if line.lower().startswith("proxy-auth")), "")
        self.seen.append((lines[0], fields["host"]))
        if login != self._login:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
            return await writer.drain()
        there, out = await asyncio.open_connection("127.0.0.1", self._upstream.port)
        if lines[0].startswith("CONNECT"):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            out.write(head.encode())
        async with asyncio.TaskGroup() as group:
            group.create_task(pump(reader, out))
            group.create_task(pump(there, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def through(proxy: Proxy, url: str, env: dict[str, str], login: str = "") -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        async with listening(proxy) as port:
            address = f"http://{login}127.0.0.1:{port}"
            client = Client({"HTTPS_PROXY": address, "HTTP_PROXY": address, **env}, Timeouts(5, 5))
            try:
                return await get(client, url)
            finally:
                await client.close()

    return asyncio.run(run())


def test_plain_requests_go_through_a_proxy_in_absolute_form() -> None:
    with serve([]) as server:
        proxy = Proxy(server, login="Basic bWU6cHc=")
        assert through(proxy, "http://model.test/v1/models", {}, login="me:pw@")[0] == 200
    assert proxy.seen == [("GET http://model.test/v1/models HTTP/1.1", "model.test")]


def test_a_proxy_that_wants_a_login_is_a_clear_error() -> None:
    with serve([]) as server:
        proxy = Proxy(server, login="Basic bWU6cHc=")
        with pytest.raises(ModelError) as caught:
            through(proxy, "https://model.test/v1/models", {}, login="me:wrong@")
    assert caught.value.retryable is False
    assert "407" in caught.value.message
    assert "wrong" not in str(caught.value)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl program to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    )
    names = "subjectAltName=IP:127.0.0.1,DNS:model.test"
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), "-addext", names, *files], cwd=folder, check=True, capture_output=True)
    return folder


def server_context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


@pytest.mark.parametrize("variable", ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_an_own_authority_is_trusted_when_named(certificate: Path, variable: str) -> None:
    with serve([], tls=server_context(certificate)) as server:
        env = {variable: str(certificate / "cert.pem")}
        assert fetch(f"{server.url}/v1/models", env, times=2)[0] == 200
        assert server.connections == 1


def test_an_unknown_authority_is_refused_with_the_remedy(certificate: Path) -> None:
    with serve([], tls=server_context(certificate)) as server, pytest.raises(ModelError) as caught:
        fetch(f"{server.url}/v1/models")
    assert "is not trusted" in caught.value.message
    assert "NODE_EXTRA_CA_CERTS" in caught.value.hint
    assert caught.value.retryable is False


def test_a_missing_certificate_file_is_named() -> None:
    missing = os.path.join(os.sep, "no", "such.pem")
    with pytest.raises(ModelError, match=r"such\.pem cannot be used") as caught:
        fetch("https://127.0.0.1:1/", {"NODE_EXTRA_CA_CERTS": missing})
    assert "NODE_EXTRA_CA_CERTS" in caught.value.hint


def test_secure_requests_go_through_a_proxy_in_a_tunnel(certificate: Path) -> None:
    with serve([], tls=server_context(certificate)) as server:
        proxy = Proxy(server, login="Basic bWU6cHc=")
        env = {"NODE_EXTRA_CA_CERTS": str(certificate / "cert.pem")}
        assert through(proxy, "https://model.test/v1/models", env, login="me:pw@")[0] == 200
        assert server.requests[0].headers["host"] == "model.test"
    assert proxy.seen == [("CONNECT model.test:443 HTTP/1.1", "model.test:443")]


def test_plain_http_to_a_secure_server_is_a_clear_error(certificate: Path) -> None:
    with serve([], tls=server_context(certificate)) as server, pytest.raises(ModelError) as caught:
        fetch(f"http://127.0.0.1:{server.port}/v1/models")
    assert caught.value.kind == "connection"
