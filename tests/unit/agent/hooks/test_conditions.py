import pytest

from forge.agent.hooks.conditions import meets
from forge.foundation.permissions.situation import Situation

HERE = Situation(cwd="/project", home="/home/user")

COMMANDS = [
    ("FOO=1 touch ran_1 && echo hi", "Bash", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(*)", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(touch *)", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(touch:*)", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(touch ran_1)", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(echo *)", True),
    ("FOO=1 touch ran_1 && echo hi", "Bash(git *)", False),
    ("FOO=1 touch ran_1 && echo hi", "Bash(FOO=1 touch *)", False),
    ("FOO=1 touch ran_1 && echo hi", "Write(*)", False),
    ("FOO=1 touch ran_1 && echo hi", "(((", False),
    ("echo $(true)", "Bash(echo *)", True),
    ("echo $(true)", "Bash(true)", True),
    ("echo $(true)", "Bash(true *)", True),
    ("echo $(true)", "Bash(touch ran *)", True),
    ("echo $(true)", "Bash(git push *)", True),
    ("echo $(true)", "Bash(touch *)", False),
    ("echo $(true)", "Bash(rm *)", False),
    ("echo $(date) > f", "Bash(rm *)", True),
    ("echo $(date) | wc -l", "Bash(rm *)", True),
]


@pytest.mark.parametrize(("command", "condition", "runs"), COMMANDS)
def test_a_condition_looks_at_every_part_of_a_command(command: str, condition: str, runs: bool) -> None:
    payload = {"tool_name": "Bash", "tool_input": {"command": command}}
    assert meets(condition, payload, HERE) is runs


FILES = [
    ("Write", True),
    ("Write(*.ts)", True),
    ("Write(**/src/**)", True),
    ("Write(x/**)", True),
    ("Write(src/**)", False),
    ("Edit(*.ts)", False),
    ("Write(*.js)", False),
]


@pytest.mark.parametrize(("condition", "runs"), FILES)
def test_a_condition_on_a_file_is_a_path_pattern_of_that_very_tool(condition: str, runs: bool) -> None:
    payload = {"tool_name": "Write", "tool_input": {"file_path": "/project/x/src/a.ts"}}
    assert meets(condition, payload, HERE) is runs


def test_a_condition_on_an_event_without_a_tool_is_never_met() -> None:
    assert meets("Bash", {"stop_hook_active": False}, HERE) is False


@pytest.mark.parametrize(
    ("condition", "runs"), [("mcp__srv__echo", True), ("mcp__srv", True), ("mcp__other", False)]
)
def test_a_condition_may_name_a_server(condition: str, runs: bool) -> None:
    assert meets(condition, {"tool_name": "mcp__srv__echo", "tool_input": {}}, HERE) is runs
