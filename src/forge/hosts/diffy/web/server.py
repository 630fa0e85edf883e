"""`diffy web --review …`: serves one review as a page on loopback until it is finished or nobody cares."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

import msgspec

from forge.core.review.repository import find
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.system.facts import platform_name
from forge.hosts.diffy.preferences import read_preferences
from forge.hosts.diffy.sitting import Sitting, open_sitting
from forge.hosts.diffy.surfaces.link import News
from forge.hosts.diffy.surfaces.runtime import read_review, reviews_of, runtime_dir, write_review_at
from forge.hosts.diffy.web.answers import Answers
from forge.hosts.diffy.web.http import Asked, Wrong, admitted, read_request, response

# How long a page without an agent stays after the last time somebody looked at it.
_IDLE_SECONDS = 3600.0
_LAST_WORDS_SECONDS = 2.0
_LOOK_SECONDS = 0.5


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy web` prints the address of this work tree's page; with --review it is what a hook starts."""
    if not words:
        return _print_address(env)
    if len(words) != 2 or words[0] != "--review":
        raise UsageError(f"diffy web does not know {words[0]!r}.", "Write: diffy web")
    return run(words[1], env)


def _print_address(env: Mapping[str, str]) -> int:
    found = [read_review(path).url for path in reviews_of(runtime_dir(env), find(os.getcwd(), env).root)]
    url = next((url for url in found if url), "")
    sys.stdout.write(f"{url or 'diffy: no review of this work tree is shown as a page'}\n")
    return 0 if url else 1


def run(folder: str, env: Mapping[str, str]) -> int:
    """Serves the review until its end; the exit code."""
    return asyncio.run(_serve(folder, env))


async def _serve(folder: str, env: Mapping[str, str]) -> int:
    token = secrets.token_urlsafe(24)
    sitting = open_sitting(folder, env, report=False)
    answers = Answers(sitting)
    seat = _Seat(answers, token)
    seat.asked_at = asyncio.get_running_loop().time()
    port = read_preferences(env).web_port
    try:
        server = await asyncio.start_server(seat.attend, "127.0.0.1", port)
    except OSError as error:
        raise ForgeError(f"port {port} on loopback: {error.strerror}") from None
    seat.port = server.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{seat.port}/{token}/"
    write_review_at(folder, msgspec.structs.replace(sitting.state, url=url))
    # Only now: the hook looks for the address as soon as a screen reports.
    sitting.report()
    _open_browser(url, env)
    async with server:
        return await _last(sitting, answers, seat)


async def _last(sitting: Sitting, answers: Answers, seat: _Seat) -> int:
    """Watches the hook until the review ends."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    code = 0
    while not answers.closed:
        answers.closed = _why_over(sitting, idle=loop.time() - seat.asked_at)
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await ended.wait()
            answers.closed, code = "diffy was ended; the draft is kept", 143
        except TimeoutError:
            continue
    # The page asks once more and shows why it is over.
    await asyncio.sleep(_LAST_WORDS_SECONDS)
    sitting.close()
    return code


def _why_over(sitting: Sitting, idle: float) -> str:
    """Why the page is of no use any more; empty while it is."""
    if News.CLOSE in sitting.news():
        return "this review goes on elsewhere"
    if sitting.waiting:
        return ""
    if not os.path.isdir(sitting.folder):
        return "this review has ended"
    return "nobody was here for a long time; the draft is kept" if idle > _IDLE_SECONDS else ""


class _Seat:
    """Takes connections, one request each."""

    def __init__(self, answers: Answers, token: str) -> None:
        self.port = 0
        self.asked_at = 0.0
        self._answers = answers
        self._token = token

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await read_request(reader)
            name = admitted(asked, self.port, self._token)
            self.asked_at = asyncio.get_running_loop().time()
            writer.write(self._answer(asked, name))
        except Wrong as error:
            body = json.dumps({"error": str(error)}).encode()
            writer.write(response(error.status, "application/json", body))
        except (TimeoutError, ConnectionError):
            pass  # whoever it was has gone
        finally:
            writer.close()

    def _answer(self, asked: Asked, name: str) -> bytes:
        if asked.method == "POST":
            return response(200, "application/json", self._answers.post(name, asked.body))
        part = self._answers.page(name)
        if part is not None:
            return response(200, *part)
        return response(200, "application/json", self._answers.get(name))


def _open_browser(url: str, env: Mapping[str, str]) -> None:
    """Opens the page where there is a browser; without one the address is in the review's state."""
    given = [shlex.split(part) for part in env.get("BROWSER", "").split(os.pathsep) if part]
    desktop = ["open"] if platform_name() == "darwin" else ["wslview"] if env.get("WSL_DISTRO_NAME") else []
    if not desktop and (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
        desktop = ["xdg-open"]
    for words in [*given, *([desktop] if desktop else [])]:
        argv = [word.replace("%s", url) for word in words]
        null = subprocess.DEVNULL
        try:
            subprocess.Popen(
                argv if argv != words else [*argv, url],
                env=dict(env),
                stdin=null,
                stdout=null,
                stderr=null,
                start_new_session=True,
            )
        except OSError:
            continue
        return
