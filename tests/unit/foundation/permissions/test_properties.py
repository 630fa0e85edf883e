from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.permissions.situation import Situation

STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
SHELL_TEXT = st.text(alphabet="abc rm$(){}[]<>|&;`'\"\\/*?~#=!\n\t-.0", max_size=40)
ANY_TEXT = st.one_of(SHELL_TEXT, st.text(max_size=40))
MODES = st.sampled_from(["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"])

PREFIXES = [
    "FOO=1 {}",
    "NODE_ENV=a B=c {}",
    "timeout 5 {}",
    "time {}",
    "nice -n 3 {}",
    "nohup {}",
    "stdbuf -oL {}",
    "command {}",
    "env A=1 {}",
    "sudo {}",
    "sudo -u x {}",
    "exec {}",
    "xargs {}",
    "xargs -n1 {}",
    "watch {}",
    "eval {}",
    "find . -exec {}",
]
AROUND = [
    " {} ",
    "ls && {}",
    "ls || {}",
    "ls; {}",
    "ls | {}",
    "ls & {}",
    "ls\n{}",
    "{} &",
    "! {}",
    "({})",
    "{{ {}; }}",
    "if true; then {}; fi",
    "while {}; do ls; done",
    "for i in a; do {}; done",
    "case a in a) {};; esac",
    "f() {{ {}; }}",
    "echo $({})",
    'echo "$({})"',
    "cat <({})",
    "echo ${{X:-$({})}}",
    "cat <<EOF\n$({})\nEOF",
    "[[ $({}) ]]",
    "time ({})",
]


def rules(*texts: str, behavior: str = "deny") -> list[Rule]:
    found = [parse_rule(text, behavior, "userSettings", "/repo") for text in texts]
    return [rule for rule in found if isinstance(rule, Rule)]


def situation(mode: str, listed: list[Rule]) -> Situation:
    return Situation(cwd="/repo", home="/home/u", mode=mode, rules=listed)


@given(command=ANY_TEXT, mode=MODES)
@settings(max_examples=200, deadline=None)
def test_any_text_gets_a_verdict(command: str, mode: str) -> None:
    listed = rules("Bash(a *)", "Read(b/**)", "Edit(c)") + rules("Bash(rm *)", "Bash", behavior="allow")
    assert decide("Bash", {"command": command}, situation(mode, listed)).verdict in STRENGTH


@given(text=ANY_TEXT, behavior=st.sampled_from(["allow", "ask", "deny"]))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_rule_or_has_a_problem(text: str, behavior: str) -> None:
    rule = parse_rule(text, behavior, "userSettings", "/repo")
    if isinstance(rule, Rule):
        s = situation("default", [rule])
        for tool, input in (("Bash", {"command": "ls"}), ("Read", {"file_path": "/repo/x"}), ("X", {})):
            assert decide(tool, dict(input), s).verdict in STRENGTH
    else:
        assert rule


@given(
    prefixes=st.lists(st.sampled_from(PREFIXES), max_size=2),
    around=st.lists(st.sampled_from(AROUND), max_size=2),
    command=st.sampled_from(["rm x", "rm", "rm -rf build", "/bin/rm x", "\\rm x", "'rm' x"]),
)
@settings(max_examples=150, deadline=None)
def test_a_denied_command_is_never_allowed_in_disguise(
    prefixes: list[str], around: list[str], command: str
) -> None:
    for wrapper in [*prefixes, *around]:
        command = wrapper.format(command)
    listed = rules("Bash(rm *)") + rules("Bash", behavior="allow")
    assert decide("Bash", {"command": command}, situation("default", listed)).verdict != "allow"


@given(
    command=SHELL_TEXT,
    mode=MODES,
    added=st.sampled_from(
        ["Bash(rm *)", "Bash(a*)", "Bash(a b)", "Read(a/**)", "Edit(**)", "Bash(:*)", "Read"]
    ),
)
@settings(max_examples=200, deadline=None)
def test_one_more_deny_rule_never_weakens_the_verdict(command: str, mode: str, added: str) -> None:
    before = rules("Bash(c *)") + rules("Bash(a *)", "Bash(rm *)", "Edit(b/**)", behavior="allow")
    without = decide("Bash", {"command": command}, situation(mode, before)).verdict
    with_it = decide("Bash", {"command": command}, situation(mode, before + rules(added))).verdict
    assert STRENGTH[with_it] >= STRENGTH[without]


@given(
    path=st.text(alphabet="abA./ ~*[]?!\\", max_size=20),
    pattern=st.text(alphabet="ab./*?[]!\\~ ", max_size=12),
)
@settings(max_examples=200, deadline=None)
def test_any_pattern_meets_any_path_without_trouble(path: str, pattern: str) -> None:
    listed = rules(f"Read({pattern})", f"Edit({pattern})") + rules(f"Edit({pattern})", behavior="allow")
    for tool in ("Read", "Write"):
        assert decide(tool, {"file_path": path}, situation("acceptEdits", listed)).verdict in STRENGTH
