"""Assignments: what variables hold, and which of them change how later commands run."""

from __future__ import annotations

from forge.core.shell.analysis.expand import text_of
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import Variable, most_telling
from forge.core.shell.analysis.tables import names, table
from forge.core.shell.analysis.variables import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

    from forge.core.shell.analysis.expand import Expander
    from forge.core.shell.analysis.state import Frame

_MOST_CHOICES = 12
_LIBRARIES = ("LD_LIBRARY_PATH", "PYTHONPATH", "NODE_PATH", "CLASSPATH", "GEM_PATH")
_ANYBODYS = ("/tmp", "/var/tmp", "/dev/shm")


def assign(node: Node, frame: Frame, expander: Expander) -> None:
    """Follows `name=value`, `name+=value`, `name=(…)`, `name[i]=value`."""
    if node.type != "variable_assignment":
        return
    target, value = node.children[0], node.children[-1]
    name = text_of(target, frame).split("[", 1)[0]
    append = any(c.type == "+=" for c in node.children)
    old = frame.state.variables.get(name)
    run = frame.run
    outer = run.choice, run.choices, run.tags
    run.choices, run.tags = 1, set()
    values: list[list[str]] = []
    for choice in range(_MOST_CHOICES):
        run.choice = choice
        found = _elements(value, frame, expander)
        if append and old is not None:
            found = _appended(old.values[choice % len(old.values)], found, value)
        elif append or target.type == "subscript":
            found = [UNKNOWN]
        if found not in values:
            values.append(found)
        if choice + 1 >= run.choices:
            break
    tags = frozenset(run.tags)
    run.choice, run.choices, run.tags = outer
    set_variable(name, Variable(most_telling(values), tags), frame)


class borrowed:
    """`NAME=value eval …`: what stands before a command holds while it runs, and is undone afterwards."""

    __slots__ = ("_before", "_lent", "_variables")

    def __init__(self, variables: dict[str, Variable], lent: dict[str, Variable]) -> None:
        self._variables = variables
        self._lent = {name: value for name, value in lent.items() if variables.get(name) is not value}
        self._before = {name: variables.get(name) for name in self._lent}

    def __enter__(self) -> None:
        self._variables.update(self._lent)

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                self._variables.pop(name, None)
            else:
                self._variables[name] = value


def _elements(value: Node, frame: Frame, expander: Expander) -> list[str]:
    if value.type in ("=", "+="):
        return [""]
    if value.type == "array":
        return [w.text for w in expander.words([value], frame)]
    return [expander.value(value, frame)]


def _appended(old: list[str], new: list[str], value: Node) -> list[str]:
    return old + new if value.type == "array" else ["".join(old) + "".join(new)]


def set_variable(name: str, variable: Variable, frame: Frame) -> None:
    """Stores a variable and judges those that other programs obey."""
    frame.state.variables[name] = variable
    for value in variable.values:
        judge_variable(name, " ".join(value), frame)
        hidden_subscript(value, frame)


def hidden_subscript(texts: list[str], frame: Frame) -> None:
    """`a[$(…)]` runs its command when it is read as arithmetic, even if it was quoted before."""
    if any("[$(" in text or "[`" in text for text in texts):
        frame.run.unclear(frame, "a subscript that runs a command when it is evaluated")


def judge_variable(name: str, value: str, frame: Frame) -> None:
    """Variables that load code or name a program to run."""
    if name in names("environment", "commands"):
        if value and not _harmless(value):
            frame.run.note(frame, "C6", f"{name} names a program that others will run", "persist")
            frame.run.script(value, frame)
        return
    if name in names("environment", "loaders") or name.startswith(tuple(table("environment")["prefixes"])):
        if value:
            frame.run.note(frame, "C7", f"{name} makes other programs load code", "persist")
        if name.startswith("GIT_CONFIG_VALUE_"):
            frame.run.script(value.removeprefix("!"), frame)
        return
    options = table("environment")["options"].get(name)
    if options and any(word.split("=")[0] in options for word in value.split()):
        frame.run.note(frame, "C7", f"{name} makes other programs load code", "persist")
    elif name == "PATH" and any(p in ("", ".") or p.startswith("/tmp") for p in value.split(":")):
        frame.run.note(frame, "C7", "PATH leads to a directory anybody may write to", "persist")
    elif name in _LIBRARIES and any(p.startswith(_ANYBODYS) for p in value.split(":")):
        frame.run.note(frame, "C6", f"{name} leads to a directory anybody may write to", "persist")
    elif name == "HISTFILE" and value in ("", "/dev/null"):
        frame.run.note(frame, "C5", "hides commands from the history", "persist")


def _harmless(value: str) -> bool:
    return value.split()[0] in names("environment", "harmless_values") if value.split() else True


def declare(node: Node, frame: Frame, expander: Expander) -> None:
    """export, declare, local, readonly, typeset."""
    flags = "".join(text_of(c, frame) for c in node.children if c.type == "word")
    for child in node.children:
        if child.type != "variable_assignment":
            continue
        assign(child, frame, expander)
        name = text_of(child.children[0], frame).split("[", 1)[0]
        variable = frame.state.variables.get(name)
        if variable is None or not flags.startswith("-"):
            continue
        if "n" in flags:
            target = "".join(variable.values[0])
            variable = Variable([lookup(target, frame)] if target.isidentifier() else [[UNKNOWN]])
        elif "l" in flags or "u" in flags:
            change = str.lower if "l" in flags else str.upper
            variable = Variable([[change(e) for e in value] for value in variable.values], variable.tags)
        frame.state.variables[name] = variable


def unset(node: Node, frame: Frame) -> None:
    """An unset variable expands to nothing."""
    for child in node.children:
        if child.type == "variable_name":
            if text_of(child, frame) == "HISTFILE":
                frame.run.note(frame, "C5", "hides commands from the history", "persist")
            frame.state.variables[text_of(child, frame)] = Variable([[]])
