"""A hook and screens over the socket: who waits, who is told, who gets the result."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from forge.foundation.errors import ForgeError
from forge.foundation.system.liveness import process_start
from forge.hosts.diffy.surfaces.link import Link, News, read_decisions
from forge.hosts.diffy.surfaces.post import Ending, Post
from forge.hosts.diffy.surfaces.runtime import (
    ReviewState,
    read_review,
    remove_review,
    reviews_of,
    runtime_dir,
    socket_of,
    tree_key,
    write_review,
)
from forge.hosts.diffy.surfaces.signals import Signals
from forge.hosts.diffy.surfaces.wire import Message, connect, listen

STATE = ReviewState(id="1", root="/tree", paths=("\udcff",), base="a", snapshot="a-b", guard_ms=400)


@pytest.fixture
def runtime() -> Iterator[str]:
    """Short, because the path of a socket may only have a hundred characters."""
    with TemporaryDirectory(prefix="d", dir="/tmp") as place:
        yield place


def at_once(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def never() -> bool:
    return False


def test_result_of_a_screen_reaches_the_hook(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        taken: list[bool] = []
        screen = at_once(lambda: taken.append(Link(folder).finish(b'{"version":1}')))
        assert post.appears(5, never)
        assert post.ending() is Ending.FINISHED
        screen.join()
        post.close()
    assert (taken, read_decisions(folder)) == ([True], b'{"version":1}')


def test_screen_that_closes_without_a_word_has_died(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        screen = connect(socket_of(folder))
        assert screen is not None
        assert post.appears(5, never)
        screen.close()
        assert post.ending() is Ending.DIED
        post.close()


def test_screen_that_is_left_ends_the_review_with_its_draft(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        Link(folder).leave()
        assert post.appears(5, never)
        assert post.ending() is Ending.LEFT
        post.close()


def test_signal_ends_the_wait_and_the_screen_is_told(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        link = Link(folder)
        assert post.appears(5, never)
        os.kill(os.getpid(), signal.SIGTERM)
        assert (post.ending(), signals.exit_code) == (Ending.SIGNAL, 143)
        post.close()
        assert link.news() == [News.GONE]
        assert (link.waiting, link.finish(b"{}")) == (False, False)


def test_screen_on_the_terminal_of_the_agent_closes_with_it(runtime: str) -> None:
    folder = write_review(runtime, ReviewState(id="2", root="/tree", stays=False))
    with Signals() as signals:
        post = Post(folder, signals)
        link = Link(folder)
        assert post.appears(5, never)
        post.close()
        assert link.news() == [News.CLOSE]


def test_screen_waits_for_an_agent_that_comes_back(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    link = Link(folder)
    assert (link.waiting, link.retry()) == (False, [])
    with Signals() as signals:
        post = Post(folder, signals)
        assert link.retry() == [News.BACK]
        assert post.appears(5, never)
        post.close()
    link.close()


def test_newest_screen_has_the_review_and_the_others_close(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        first = Link(folder)
        assert post.appears(5, never)
        second = Link(folder)
        done = at_once(lambda: second.finish(b"{}"))
        assert post.ending() is Ending.FINISHED
        done.join()
        assert first.news() == [News.CLOSE]
        first.close()
        post.close()


def test_wait_for_a_screen_ends_as_soon_as_it_is_known_to_fail(runtime: str) -> None:
    with Signals() as signals:
        post = Post(write_review(runtime, STATE), signals)
        assert not post.appears(3600, lambda: True)
        post.close()


def test_new_listener_takes_the_place_of_one_that_was_killed(runtime: str) -> None:
    path = socket_of(write_review(runtime, STATE))
    listen(path).close()
    assert connect(path) is None
    listener = listen(path)
    plug = connect(path)
    assert plug is not None
    plug.send(Message("hello", pid=1))
    plug.close()
    listener.close()


def test_rubbish_on_the_socket_changes_nothing(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals:
        post = Post(folder, signals)
        stranger = connect(socket_of(folder))
        assert stranger is not None
        os.write(stranger.fileno(), b'\xff\n[]\n{"type": 3}\n')
        done = at_once(lambda: Link(folder).finish(b"{}"))
        assert post.appears(5, never)
        assert post.ending() is Ending.FINISHED
        done.join()
        stranger.close()
        post.close()


def test_state_survives_the_file_and_reviews_are_found_by_tree(runtime: str) -> None:
    one = write_review(runtime, STATE)
    write_review(runtime, ReviewState(id="3", root="/other"))
    assert read_review(one) == STATE
    assert reviews_of(runtime, "/tree") == [one]
    remove_review(one)
    assert reviews_of(runtime, "/tree") == []
    with pytest.raises(ForgeError, match="no review review-1"):
        read_review(one)


def test_runtime_directory_is_private_and_its_files_too(tmp_path: Path) -> None:
    place = runtime_dir({"XDG_RUNTIME_DIR": str(tmp_path)})
    folder = Path(write_review(place, STATE))
    modes = [oct(path.stat().st_mode & 0o777) for path in (Path(place), folder, folder / "state.json")]
    assert (place, modes) == (str(tmp_path / "diffy"), ["0o700", "0o700", "0o600"])


def test_runtime_directory_must_be_short_enough_for_sockets(tmp_path: Path) -> None:
    with pytest.raises(ForgeError, match="too long for the names of sockets"):
        runtime_dir({"DIFFY_RUNTIME_DIR": str(tmp_path / ("x" * 80))})


@pytest.mark.parametrize("make", ["open", "link", "file"])
def test_runtime_directory_of_somebody_else_is_refused(tmp_path: Path, make: str) -> None:
    place = tmp_path / "diffy"
    if make == "open":
        place.mkdir(mode=0o700)
        place.chmod(0o755)
    elif make == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "real")
    else:
        place.touch()
    with pytest.raises(ForgeError):
        runtime_dir({"DIFFY_RUNTIME_DIR": str(place)})


def test_work_trees_have_different_keys_and_links_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert tree_key(str(tmp_path / "a")) == tree_key(str(tmp_path / "b")) != tree_key(str(tmp_path))


def test_death_of_the_agent_ends_the_wait(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    with Signals() as signals, subprocess.Popen(["cat"], stdin=subprocess.PIPE) as agent:
        post = Post(folder, signals)
        link = Link(folder)
        assert post.appears(5, never)
        known = agent.pid, process_start(agent.pid)
        agent.kill()
        agent.wait()
        assert post.ending(known) is Ending.ALONE
        post.close()
        assert link.news() == [News.GONE]
