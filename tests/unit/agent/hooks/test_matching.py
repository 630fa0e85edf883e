import pytest

from forge.agent.hooks.matching import matches

TABLE = [
    ("", "Bash", True),
    ("*", "Bash", True),
    ("Bash", "Bash", True),
    ("bash", "Bash", False),
    ("Bas", "Bash", False),
    ("Bash|Write", "Bash", True),
    ("Bash, Write", "Write", True),
    (" Bash ", "Bash", True),
    ("Ba.*", "Bash", True),
    ("^Bash$", "Bash", True),
    ("sh$", "Bash", True),
    ("^(?!Write).*$", "Bash", True),
    ("^(?!Write).*$", "Write", False),
    ("(?i)bash", "Bash", False),
    ("B[", "Bash", False),
    ("(?<n>Ba)sh", "Bash", True),
    ("mcp__srv__echo", "mcp__srv__echo", True),
    ("mcp__srv", "mcp__srv__echo", False),
    ("mcp__srv__.*", "mcp__srv__echo", True),
    ("Task", "Agent", True),
    ("^Task$", "Agent", True),
    ("general", "general-purpose", False),
    ("gen.*", "general-purpose", True),
    ("Bashx?", "Bash", True),
    ("Bashx*$", "Bash", True),
    ("Bash{1}", "Bash", True),
    ("^Other|sh", "Bash", True),
    ("Bash+", "Bashhh", True),
    ("^Other[0-9]+$", "Bash", False),
    ("^Ta", "Agent", True),
    ("Bash.", "Bash", False),
]


@pytest.mark.requirement("S0-31")
@pytest.mark.parametrize(("matcher", "value", "accepted"), TABLE)
def test_matcher_accepts_what_the_reference_accepts(matcher: str, value: str, accepted: bool) -> None:
    assert matches(matcher, value, "PreToolUse") is accepted


def test_file_names_are_patterns_unless_they_are_plain_words() -> None:
    assert matches("a-b.txt", "a-b.txt", "FileChanged")
    assert not matches("a, b", "b", "FileChanged")
