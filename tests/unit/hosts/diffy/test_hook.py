"""The hook: when it asks for a review, when it does not, and what it answers."""

from __future__ import annotations

import os
import select
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from forge.core.review.draft import Comment
from forge.core.review.model import ACCEPT, PENDING
from forge.core.review.repository import Repository, find
from forge.foundation.system.locks import locked
from forge.hosts.diffy.answer import Answer
from forge.hosts.diffy.hook import respond, run
from forge.hosts.diffy.mark import mark
from forge.hosts.diffy.payload import Payload
from forge.hosts.diffy.request import Request
from forge.hosts.diffy.sitting import Sitting
from forge.hosts.diffy.surfaces.runtime import tree_dir, watch_socket
from forge.hosts.diffy.surfaces.wire import Plug, listen
from forge.hosts.diffy.undelivered import collect
from forge.hosts.diffy.watch import asked_for

EVENT = Payload(session_id="s", hook_event_name="Stop")
Reviewer = Callable[[Sitting], object]


class World(NamedTuple):
    """A work tree and what a hook in it is given."""

    repo: Repository
    env: dict[str, str]

    def write(self, name: str, text: str) -> None:
        Path(self.repo.root, name).write_text(text)

    def read(self, name: str) -> str:
        return Path(self.repo.root, name).read_text()

    def stop(self, payload: Payload = EVENT, *, output: str = "exit2", surface: str = "watch") -> Answer:
        where = Request(self.repo.root, apply=True, hook_output=output, surface=surface)
        return respond(where, Payload(payload.session_id, self.repo.root), self.env)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with TemporaryDirectory(prefix="d", dir="/tmp") as runtime:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
        env["DIFFY_RUNTIME_DIR"] = runtime
        root = tmp_path / "tree"
        root.mkdir()
        (root / "a").write_text("one\n")
        git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], cwd=root, env=env, check=True)
        made = World(find(str(root), env), env)
        mark(made.repo, Payload("s", hook_event_name="SessionStart", source="startup"), 1.0)
        yield made


@contextmanager
def reviewers(world: World, *order: Reviewer) -> Iterator[list[int]]:
    """A companion who decides each review that is shown; the number of hunks each time."""
    seen: list[int] = []
    listener = listen(watch_socket(world.env["DIFFY_RUNTIME_DIR"], world.repo.root))

    def attend() -> None:
        for review in order:
            select.select([listener], [], [], 20)
            sitting = Sitting(asked_for(Plug(listener.accept()[0])), world.env)
            seen.append(sitting.listing.hunks)
            review(sitting)
            sitting.close()

    thread = threading.Thread(target=attend)
    thread.start()
    try:
        yield seen
        thread.join()
    finally:
        listener.close()


def ids(sitting: Sitting) -> list[str]:
    return [unit.id for file in sitting.listing.files for unit in file.hunks]


def reject_all(sitting: Sitting) -> None:
    sitting.draft.decide(ids(sitting), "reject")
    sitting.finish(PENDING)


def accept_all(sitting: Sitting) -> None:
    sitting.finish(ACCEPT)


def remark(sitting: Sitting) -> None:
    sitting.draft.comment(Comment("nice", sitting.listing.files[0].path, ids(sitting)[0]))
    sitting.finish(ACCEPT)


@pytest.mark.requirement("S3-11")
@pytest.mark.parametrize("active", [False, True])
def test_nothing_new_ends_the_turn_at_once(world: World, active: bool) -> None:
    assert world.stop(Payload("s", stop_hook_active=active)) == Answer()


@pytest.mark.requirement("S3-11")
def test_outside_of_git_nothing_happens(tmp_path: Path) -> None:
    assert (
        respond(Request(str(tmp_path)), Payload(cwd=str(tmp_path)), {"PATH": os.environ["PATH"]}) == Answer()
    )


@pytest.mark.requirement("S3-05", "S3-06")
def test_rounds_go_on_while_there_is_something_new(world: World) -> None:
    world.write("a", "two\n")
    with reviewers(world, reject_all, accept_all) as seen:
        first = world.stop()
        assert (first.code, first.out, world.read("a")) == (2, "", "one\n")
        assert first.err.startswith("[diffy review result]\nrejected 1 of 1 hunks.\n")
        assert world.stop(Payload("s", stop_hook_active=True)) == Answer()
        world.write("a", "three\n")
        world.write("b", "new\n")
        assert world.stop(Payload("s", stop_hook_active=True)) == Answer()
        assert world.stop() == Answer()
    assert seen == [1, 2]


@pytest.mark.requirement("S3-04")
def test_accepted_with_a_remark_goes_on_without_blame(world: World) -> None:
    world.write("a", "two\n")
    with reviewers(world, remark):
        answer = world.stop()
    assert (answer.code, answer.err, world.read("a")) == (0, "", "two\n")
    assert answer.out.startswith('{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"[diffy')


def test_other_agents_get_their_answer_as_json(world: World) -> None:
    world.write("a", "two\n")
    with reviewers(world, reject_all):
        answer = world.stop(output="json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith('{"decision":"block","reason":"[diffy review result]')


def test_pending_hunks_come_again(world: World) -> None:
    world.write("a", "two\n")
    with reviewers(world, lambda sitting: sitting.finish(PENDING), accept_all) as seen:
        assert [world.stop(), world.stop()] == [Answer(), Answer()]
    assert seen == [1, 1]


def test_file_that_changed_meanwhile_is_left_alone(world: World) -> None:
    def late(sitting: Sitting) -> None:
        sitting.draft.decide(ids(sitting), "reject")
        world.write("a", "mine\n")
        sitting.finish(PENDING)

    world.write("a", "two\n")
    with reviewers(world, late):
        answer = world.stop()
    assert (answer.code, answer.err, world.read("a")) == (
        3,
        "diffy: a has changed since it was listed\n",
        "mine\n",
    )


@pytest.mark.requirement("S3-09")
def test_without_any_screen_the_user_is_told(world: World) -> None:
    world.write("a", "two\n")
    for surface, reason in (("watch", " (watch cannot be used here)"), ("none", "")):
        answer = world.stop(surface=surface)
        assert answer.code == 0
        assert f"1 hunk not reviewed{reason} — run `diffy` in another terminal" in answer.out


@pytest.mark.parametrize(("policy", "out"), [("skip", ""), ("block", '{"continue":false,')])
def test_unattended_run_never_waits(world: World, policy: str, out: str) -> None:
    world.write("a", "two\n")
    world.env.update(CLAUDE_CODE_SESSION_ATTENDED="0", DIFFY_UNATTENDED=policy)
    answer = world.stop()
    assert (answer.code, answer.out[: len(out)], bool(answer.out)) == (0, out, bool(out))


def test_second_stop_waits_and_finds_everything_settled(world: World) -> None:
    world.write("a", "two\n")
    directory = tree_dir(world.env["DIFFY_RUNTIME_DIR"], world.repo.root)
    with ExitStack() as held:
        held.enter_context(locked(directory))

        def settle() -> None:
            world.write("a", "one\n")
            held.close()

        later = threading.Timer(0.5, settle)
        later.start()
        assert world.stop() == Answer()
        later.join()


def test_feedback_of_a_lost_agent_is_kept_for_its_session(world: World) -> None:
    def orphaned(sitting: Sitting) -> None:
        os.kill(os.getpid(), 15)
        while sitting.waiting:
            select.select([sitting], [], [], 5)
            sitting.news()
        reject_all(sitting)

    world.write("a", "two\n")
    with reviewers(world, orphaned):
        assert world.stop() == Answer(143)
    (text,) = collect(world.repo.state, "s")
    assert (text.startswith("[diffy review result]"), world.read("a")) == (True, "one\n")


def test_trouble_is_told_in_one_line(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    world.write("a", "two\n")
    world.env["DIFFY_RUNTIME_DIR"] = "/" + "x" * 200
    assert run(Request(world.repo.root), world.env, Payload("s", world.repo.root)) == 1
    out, err = capfd.readouterr()
    assert (out, err.count("\n"), err[:7]) == ("", 1, "diffy: ")
