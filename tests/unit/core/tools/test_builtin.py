from __future__ import annotations

import pytest

from forge.core.schema_check import check_schema
from forge.core.shell.builtin import shell_tools
from forge.core.tool import Tool
from forge.core.tools.builtin import builtin_tools

# name: (properties with types, required)
OBSERVED = {
    "Bash": (
        "command:string timeout:number description:string run_in_background:boolean "
        "dangerouslyDisableSandbox:boolean",
        ["command"],
    ),
    "Edit": (
        "file_path:string old_string:string new_string:string replace_all:boolean",
        ["file_path", "old_string", "new_string"],
    ),
    "Glob": ("pattern:string path:string", ["pattern"]),
    "Grep": (
        "pattern:string path:string glob:string output_mode:string -B:number -A:number -C:number "
        "context:number -n:boolean -i:boolean -o:boolean type:string head_limit:number offset:number "
        "multiline:boolean",
        ["pattern"],
    ),
    "Read": (
        "file_path:string offset:integer limit:integer pages:string allow_large:boolean",
        ["file_path"],
    ),
    "Write": ("file_path:string content:string", ["file_path", "content"]),
}


def tools() -> dict[str, Tool]:
    return {tool.name: tool for tool in builtin_tools() + shell_tools()}


@pytest.mark.parametrize("name", OBSERVED)
def test_schemas_equal_the_observed_ones(name: str) -> None:
    properties, required = OBSERVED[name]
    schema = tools()[name].schema
    seen = " ".join(f"{key}:{rule['type']}" for key, rule in schema["properties"].items())
    assert (seen, schema["required"], schema["additionalProperties"]) == (properties, required, False)


@pytest.mark.parametrize("name", OBSERVED)
def test_schemas_are_usable_and_every_parameter_is_described(name: str) -> None:
    schema = tools()[name].schema
    assert check_schema(schema) is None
    assert [key for key, rule in schema["properties"].items() if not rule.get("description")] == []


def test_limits_and_options_stand_in_the_schema() -> None:
    read, grep, edit = (tools()[name].schema["properties"] for name in ("Read", "Grep", "Edit"))
    assert (read["offset"]["minimum"], read["limit"]["exclusiveMinimum"]) == (0, 0)
    assert grep["output_mode"]["enum"] == ["content", "files_with_matches", "count"]
    assert edit["replace_all"]["default"] is False


@pytest.mark.parametrize("name", OBSERVED)
def test_code_is_loaded_on_demand(name: str) -> None:
    tool = tools()[name]
    assert tool.load() is tool.load()
    assert tool.description and tool.description == tool.description.strip()


def test_tools_that_write_files_run_alone() -> None:
    flags = {tool.name: (tool.read_only, tool.alone) for tool in builtin_tools() if tool.name in OBSERVED}
    assert flags == {
        "Edit": (False, True),
        "Glob": (True, False),
        "Grep": (True, False),
        "Read": (True, False),
        "Write": (False, True),
    }
