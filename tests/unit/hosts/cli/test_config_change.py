from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.paths import Places, find_places, settings_file
from forge.foundation.settings import Layer
from forge.hosts.cli.config import leaves
from forge.hosts.cli.config_change import join_key, known_key, set_key, split_key, unset_key


@pytest.fixture
def places(tmp_path: Path, home: Path) -> Places:
    return find_places({"HOME": str(home)}, str(tmp_path))


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("model", ("model",)),
        ("permissions.allow", ("permissions", "allow")),
        ('enabledPlugins."a.b@local"', ("enabledPlugins", "a.b@local")),
    ],
)
def test_keys_are_taken_apart_and_put_together(key: str, parts: tuple[str, ...]) -> None:
    assert (split_key(key), join_key(parts)) == (parts, key)


@pytest.mark.parametrize("key", ["", ".", "a.", ".a", "a..b", 'a."b', '"'])
def test_keys_that_are_none_are_refused(key: str) -> None:
    with pytest.raises(UsageError, match="is not a settings key"):
        split_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "model",
        "permissions.allow",
        "env.ANY_NAME",
        "providers.mine.baseUrl",
        "modelPricing.x.input",
        "hooks.Stop",
    ],
)
def test_keys_somebody_reads_are_known(key: str) -> None:
    known_key(split_key(key))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("modell", "Did you mean model?"),
        ("permissions.defaultmode", "Did you mean permissions.defaultMode?"),
        ("permision.allow", "Did you mean permissions?"),
        ("nothing.like.it", "nothing.like.it is not a setting Forge knows."),
    ],
)
def test_unknown_keys_get_a_suggestion(key: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        known_key(split_key(key))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("key", "text", "written"),
    [
        ("model", "sonnet", {"model": "sonnet"}),
        ("model", "4.1", {"model": "4.1"}),
        ("model", '"quoted"', {"model": "quoted"}),
        ("env.PORT", "80", {"env": {"PORT": "80"}}),
        ("verbose", "true", {"verbose": True}),
        ("cleanupPeriodDays", "7", {"cleanupPeriodDays": 7}),
        ("permissions.allow", '["Read"]', {"permissions": {"allow": ["Read"]}}),
    ],
)
def test_values_are_written_as_their_key_wants_them(
    places: Places, key: str, text: str, written: dict[str, Any]
) -> None:
    file, changed = set_key(places, Scope.PROJECT, split_key(key), text)
    assert (changed, msgspec.json.decode(Path(file).read_bytes())) == (True, written)
    assert set_key(places, Scope.PROJECT, split_key(key), text) == (file, False)


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("permissions.allow", "Read", "permissions.allow: Expected array, but received string"),
        ("verbose", "yes", "verbose: Expected boolean, but received string"),
        ("cleanupPeriodDays", "0", "cleanupPeriodDays: Number must be greater than or equal to 1"),
        ("effortLevel", "huge", 'effortLevel: Invalid value. Expected one of: "low"'),
        ("permissions.deny", '["Bash(rm"]', "permissions.deny.0: 'Bash(rm'"),
        ("permissions.deny", "[3]", "permissions.deny.0: "),
        ("env", "[]", "env: Expected record, but received array"),
        ("hooks", '{"PreToolUse": 3}', "hooks"),
    ],
)
def test_values_that_do_not_fit_are_refused_and_nothing_is_written(
    places: Places, key: str, text: str, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        set_key(places, Scope.PROJECT, split_key(key), text)
    assert words in str(caught.value)
    assert not (Path(places.cwd) / ".forge").exists()


def test_parts_of_an_object_that_are_there_need_not_be_repeated(places: Places) -> None:
    file = settings_file(places, Scope.PROJECT)
    there = Layer(Scope.PROJECT, file, {"statusLine": {"type": "command", "command": "old"}})
    assert set_key(places, Scope.PROJECT, ("statusLine", "command"), "new", [there]) == (file, True)
    with pytest.raises(UsageError, match=r"statusLine\.type"):
        set_key(places, Scope.PROJECT, ("statusLine", "command"), "new")


def test_keys_can_be_removed_once(places: Places) -> None:
    file, _ = set_key(places, Scope.PROJECT, ("model",), "x")
    assert unset_key(places, Scope.PROJECT, ("model",)) == (file, True)
    assert unset_key(places, Scope.PROJECT, ("model",)) == (file, False)


def test_user_key_is_changed_in_the_toml_file_it_lives_in(places: Places, home: Path) -> None:
    toml = home / ".forge" / ".forge.toml"
    toml.parent.mkdir()
    toml.write_text('model = "old"\n')
    assert set_key(places, Scope.USER, ("model",), "new") == (str(toml), True)
    assert toml.read_text() == 'model = "new"\n'


def test_leaves_are_the_values_that_are_not_objects() -> None:
    assert leaves({"a": {"b": 1, "c": []}, "d": {}}) == [(("a", "b"), 1), (("a", "c"), []), (("d",), {})]
