from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import UsageError
from forge.hosts.configuration import load_configuration
from forge.hosts.model_choice import open_choice
from forge.hosts.options import RunOptions

FAR = {"protocol": "openai_chat", "baseUrl": "http://far.example/v1", "auth": "none"}


@pytest.mark.parametrize(
    ("name", "options", "reached"),
    [
        ("near/a", {}, True),
        ("near/b", {}, True),
        ("far/a", {}, False),
        ("near/a", {"fallback_model": "near/b"}, True),
        ("near/a", {"fallback_model": "near/b,far/a"}, False),
    ],
)
def test_behind_an_air_gap_only_the_provider_of_the_model_is_reached(
    name: str, options: dict[str, Any], tmp_path: Path, *, reached: bool
) -> None:
    settings = {"airGap": True, "providers": {"near": FAR, "far": FAR}}
    o = RunOptions(model="near/a", settings=json.dumps(settings), **options)
    c = load_configuration(o, {"HOME": str(tmp_path)}, str(tmp_path))
    if reached:
        assert open_choice(o, c, name).card.ref == name
        return
    with pytest.raises(
        UsageError, match="With the setting airGap only models of near can be used, not far/a"
    ):
        open_choice(o, c, name)
