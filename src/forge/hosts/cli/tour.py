"""The bundled tour as data, and the scratch repository it is played on.

Everything the tour says and does is in `scenarios/demo/story.json`; the files of the repository lie beside
it, with `.txt` added to their names so that no tool takes them for code of this program.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.models.scripted import Turn
from forge.foundation.errors import ForgeError
from forge.hosts.options import RunOptions

_DEMO = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "scenarios", "demo")
_SUFFIX = ".txt"
_REVIEW = "review.py"

# The session gets none of the user's configuration, keys or git set-up.
_LEFT_OUT = ("ANTHROPIC", "BASH_", "CLAUDE", "FORGE", "GIT_", "OPENAI", "PYTHON")
# Keys are nobody's business, and the model of the tour is reached without a proxy.
_LEFT_OUT_ENDS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PROXY")

_GIT = {
    "GIT_AUTHOR_NAME": "Forge tour",
    "GIT_AUTHOR_EMAIL": "tour@example.invalid",
    "GIT_COMMITTER_NAME": "Forge tour",
    "GIT_COMMITTER_EMAIL": "tour@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
}

GIT_TIMEOUT = 30


class Step(msgspec.Struct, frozen=True):
    """One reply of the scripted model and what the screen says before it.

    `agent` are the replies of the sub-agent it starts. A reply that `waits` is left out when the news it
    would wait for is there already.
    """

    turn: Turn
    say: str = ""
    agent: list[Turn] = []
    waits: bool = False


class Act(msgspec.Struct, frozen=True):
    """A prompt and the replies to it; `rewind` says why the files go back to the first prompt before.

    `review` says what happens when its changes are reviewed, `comment` is what the reviewer tells the model.
    """

    prompt: str
    steps: list[Step]
    rewind: str = ""
    review: str = ""
    comment: str = ""


class Check(msgspec.Struct, frozen=True):
    """Something that must be true in the end; `kind` is a row of the table in tour_check."""

    kind: str
    says: str
    command: str = ""
    path: str = ""


class OwnModel(msgspec.Struct, frozen=True):
    """A way to go on with a real model."""

    say: str
    shell: str
    then: str


class Pointer(msgspec.Struct, frozen=True):
    command: str
    say: str


class Tour(msgspec.Struct, frozen=True):
    """The whole story."""

    title: str
    about: str
    project: str
    settings: dict[str, Any]
    acts: list[Act]
    checks: list[Check]
    real: list[str]
    scripted: list[str]
    own_model: list[OwnModel]
    more: list[Pointer]

    @property
    def steps(self) -> list[Step]:
        """All replies of the conversation with the user."""
        return [step for act in self.acts for step in act.steps]


class Stage(msgspec.Struct, frozen=True):
    """Where a tour is played: the scratch directory, the repository in it, and the environment."""

    directory: str
    repository: str
    env: dict[str, str]
    options: RunOptions


def load_tour() -> Tour:
    """Reads the bundled tour."""
    with open(os.path.join(_DEMO, "story.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=Tour)


def build_stage(tour: Tour, directory: str, env: Mapping[str, str], printer: float = 0.0) -> Stage:
    """Makes the scratch repository; `printer` is how many seconds its slow command takes."""
    if shutil.which("git", path=env.get("PATH")) is None:
        raise ForgeError(
            "The tour works on a real git repository, but git was not found.",
            "Install git, or add the directory it is in to PATH; then run forge demo again.",
        )
    # Rules and transcripts name real paths; a temporary directory may be a link.
    directory = os.path.realpath(directory)
    repository = os.path.join(directory, tour.project)
    clean = _environment(env, directory) | {"PRINTER_SECONDS": str(printer)}
    for place in (repository, clean["HOME"], clean["TMPDIR"]):
        os.makedirs(place)
    _copy_files(os.path.join(_DEMO, "files"), repository)
    shutil.copyfile(os.path.join(_DEMO, f"{_REVIEW}{_SUFFIX}"), os.path.join(directory, _REVIEW))
    for words in (
        ("-c", "init.defaultBranch=main", "init", "--quiet", "--template="),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "Print the catalogue"),
    ):
        _git(repository, clean, *words)
    settings = os.path.join(directory, "settings.json")
    options = RunOptions(print=True, model="tour/scripted", settings=settings)
    return Stage(directory, repository, clean, options)


def write_settings(tour: Tour, stage: Stage, url: str) -> None:
    """Writes down what the session is to load: the rules of the tour, and where its model is served."""
    model = {"label": "Scripted model", "contextWindow": 1_000_000, "price": {}}
    row = {"protocol": "anthropic", "baseUrl": url, "auth": "none", "models": {"scripted": model}}
    settings = {**tour.settings, "providers": {"tour": row}, "hooks": _hooks(tour, stage)}
    with open(str(stage.options.settings), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(settings), indent=2))


def _hooks(tour: Tour, stage: Stage) -> dict[str, Any]:
    """The review at the end of a turn, with the verdict written down in advance."""
    words = [sys.executable, os.path.join(stage.directory, _REVIEW)]
    words += ["".join(act.comment for act in tour.acts), os.path.join(stage.directory, "verdict.json")]
    return {"Stop": [{"hooks": [{"type": "command", "command": shlex.join(words), "timeout": GIT_TIMEOUT}]}]}


def changed_files(stage: Stage) -> list[str]:
    """The files of the repository in which git sees changes."""
    return _git(stage.repository, stage.env, "diff", "--name-only").split()


def _environment(env: Mapping[str, str], directory: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in env.items()
        if not name.startswith(_LEFT_OUT) and not name.upper().endswith(_LEFT_OUT_ENDS)
    }
    # Shims that look for their versions in the user's home would not find them: our own Python goes first.
    path = os.pathsep.join([os.path.dirname(sys.executable), env.get("PATH", os.defpath)])
    own = {name: os.path.join(directory, place) for name, place in (("HOME", "home"), ("TMPDIR", "tmp"))}
    return {**kept, **_GIT, **own, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _copy_files(source: str, target: str) -> None:
    for name in sorted(os.listdir(source)):
        with open(os.path.join(source, name), encoding="utf-8") as file:
            content = file.read()
        with open(os.path.join(target, name.removesuffix(_SUFFIX)), "w", encoding="utf-8") as file:
            file.write(content)


def _git(repository: str, env: dict[str, str], *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=repository,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace")
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", b"") or b"").decode("utf-8", "replace").strip()
        raise ForgeError(f"`git {' '.join(words)}` failed in {repository}: {said or error}") from None
