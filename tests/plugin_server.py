"""A loopback server for plugin sources: git repositories, files, and a registry of npm packages."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


class PluginServer:
    """What is served: everything below `root`, packages by name and version, redirects by path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.packages: dict[str, dict[str, bytes]] = {}
        self.spoiled: set[str] = set()
        self.redirects: dict[str, str] = {}
        self.requests: list[str] = []
        self.url = ""

    def publish(self, name: str, version: str, files: dict[str, str]) -> None:
        """Adds a package to the registry."""
        self.packages.setdefault(name, {})[version] = tarball(files)


class Site(ThreadingHTTPServer):
    """The socket with what it serves."""

    served: PluginServer


class Answer(BaseHTTPRequestHandler):
    """One request."""

    server: Site

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _answer(self, body: bytes) -> None:
        served = self.server.served
        path, _, query = self.path.partition("?")
        file = served.root / path.lstrip("/")
        served.requests.append(path)
        if path in served.redirects:
            self._send(302, b"", location=served.redirects[path])
        elif path.startswith("/npm/"):
            self._send(*_registry(served, path.removeprefix("/npm/")))
        elif ".git/" in path:
            self._git(path, query, body)
        elif file.is_file():
            self._send(200, file.read_bytes())
        else:
            self._send(404, b"not here")

    def _git(self, path: str, query: str, body: bytes) -> None:
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.served.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
        }
        command = ["git", "http-backend"]
        done = subprocess.run(command, input=body, env=env, capture_output=True, check=False)
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self._send(int(fields.pop("Status", "200").split()[0]), data, **fields)

    def _send(self, status: int, data: bytes, **fields: str) -> None:
        self.send_response(status)
        for name, value in {**fields, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serve_plugins(root: Path) -> Iterator[PluginServer]:
    """Runs the server until the block is left."""
    site = Site(("127.0.0.1", 0), Answer)
    served = site.served = PluginServer(root)
    served.url = f"http://127.0.0.1:{site.server_address[1]}"
    thread = Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        site.shutdown()
        site.server_close()
        thread.join()


def tarball(files: dict[str, str]) -> bytes:
    """A package as npm packs it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return packed.getvalue()


def _registry(served: PluginServer, path: str) -> tuple[int, bytes]:
    name, _, version = path.replace("%2F", "/").partition("/-/")
    versions = served.packages.get(name)
    if versions is None:
        return 404, b"{}"
    if version:
        data = versions[version]
        return 200, data + b"x" if name in served.spoiled else data
    listing = {
        "name": name,
        "dist-tags": {"latest": max(versions)},
        "versions": {
            each: {
                "dist": {
                    "tarball": f"{served.url}/npm/{name}/-/{each}",
                    "integrity": f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}",
                }
            }
            for each, data in versions.items()
        },
    }
    return 200, json.dumps(listing).encode()
