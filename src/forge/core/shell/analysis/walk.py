"""Follows the statements of a command in order, with the state they change."""

from __future__ import annotations

import re

from forge.core.shell.analysis import marks
from forge.core.shell.analysis.coverage import running
from forge.core.shell.analysis.expand import Expander, adjacent, text_of
from forge.core.shell.analysis.leftover import follow_left_over
from forge.core.shell.analysis.parse import parse, parse_alone
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.redirect import redirect_input, redirect_output
from forge.core.shell.analysis.run import DEPTH_LIMIT
from forge.core.shell.analysis.settings import assign, borrowed, declare, unset
from forge.core.shell.analysis.simple import execute, shadowed_name
from forge.core.shell.analysis.state import Frame, Function, Stream, Variable, joined, most_telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from forge.core.shell.analysis.parse import Parsed
    from forge.core.shell.analysis.state import State

_MOST_CHOICES = 12
_REDIRECTS = ("file_redirect", "herestring_redirect")
_NO_WORDS = (*_REDIRECTS, "variable_assignment", "subshell", "compound_statement")


def follow(parsed: Parsed, frame: Frame) -> Stream:
    """Evaluates a parsed text in a frame whose source it is."""
    for trouble in parsed.troubles:
        frame.run.unclear(frame, trouble)
    stream = statements(parsed.root.children, frame)
    if parsed.root.has_error:
        _pieces(parsed, frame)
    for node in running(parsed.root):
        if (id(frame.source), node.start_byte, node.type) not in frame.run.visited:
            evaluate(node, frame.child(frame.state.fork()))
    return stream


def _pieces(parsed: Parsed, frame: Frame) -> None:
    """What cannot be read as a whole may still show a part that must never run."""
    for piece in re.split(r"&&|\|\||[;|&\n]", parsed.source.prepared.text):
        # `{rm,-rf,/}` is one word to the grammar and three to the shell.
        braces = re.fullmatch(r"(?:.*[({!]|.*\b(?:then|do|else))?\s*\{([^{}\s]+,[^{}\s]*)\}(.*)", piece)
        piece = " ".join([*braces[1].split(","), braces[2]]) if braces else piece
        text = piece.strip(" \t(){}!")
        for keyword in ("then ", "do ", "else "):
            text = text.removeprefix(keyword)
        part = parse_alone(text, frame.source.span or (0, 0)) if text else None
        if part is not None and not part.root.has_error:
            frame.run.keep(part)
            statements(part.root.children, frame.child(frame.state.fork(), part.source))


def script(text: str, frame: Frame, args: list[str] | None = None) -> Stream:
    """Evaluates a text that a command runs as a shell script."""
    inner = frame.child()
    inner.depth += 1
    if inner.depth > DEPTH_LIMIT:
        frame.run.note(frame, "D8", "commands are nested too deeply", "unanalysable")
        return Stream()
    if UNKNOWN in text:
        frame.run.unclear(frame, "runs code that is not known before")
    span = frame.step.span if frame.step else frame.source.span
    parsed = parse(text, span or (0, 0))
    inner.source = parsed.source
    if args is not None:
        inner.state = frame.state.fork()
        inner.state.args = args
    frame.run.keep(parsed)
    return follow(parsed, inner)


def substitute(node: Node, frame: Frame) -> Stream:
    """Evaluates the commands of a substitution in a copy of the state."""
    frame.run.visited.add((id(frame.source), node.start_byte, node.type))
    inner = frame.child(frame.state.fork())
    inner.piped = True
    if text_of(node, frame).lstrip().startswith(">("):
        inner.stdin = Stream(None)
    files = [c for c in node.children if c.type in _REDIRECTS]
    return _with_redirects(None, inner, files) if files else statements(node.children, inner)


def statements(nodes: Sequence[Node], frame: Frame) -> Stream:
    """Evaluates statements in order; what they print is joined."""
    found = []
    for at, node in enumerate(nodes):
        if not node.is_named or node.type == "comment":
            continue
        inner = frame
        if at + 1 < len(nodes) and nodes[at + 1].type == "&":
            inner = frame.child()
            inner.forks += 1
        found.append(evaluate(node, inner))
    return joined(found)


def evaluate(node: Node, frame: Frame, redirects: Sequence[Node] = ()) -> Stream:
    """Evaluates one statement; redirections belong to its last command."""
    frame.run.check_time()
    kind = _STATEMENTS.get(node.type)
    if kind is None:
        return Stream("")
    if redirects and node.type not in _PASS_ON:
        return _with_redirects(node, frame, redirects)
    return kind(node, frame, redirects)


def _with_redirects(node: Node | None, frame: Frame, redirects: Sequence[Node]) -> Stream:
    inner = frame.child()
    before = len(frame.run.steps)
    for redirect in redirects:
        found = redirect_input(redirect, inner, EXPANDER)
        inner.stdin = found if found is not None else inner.stdin
    inner.piped = frame.piped or any(c.type.startswith(">") for r in redirects for c in r.children)
    stream = evaluate(node, inner) if node is not None else inner.stdin or Stream("")
    inner.step = frame.run.steps[before] if len(frame.run.steps) > before else frame.step
    for redirect in redirects:
        if redirect_output(redirect, inner, stream, EXPANDER):
            stream = Stream("")
    return stream


def _redirected(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    bodies = [c for c in node.children if c.is_named and c.type not in _REDIRECTS]
    own = [c for c in node.children if c.type in _REDIRECTS]
    every = [*own, *redirects]
    stream = evaluate(bodies[0], frame, every) if bodies else _with_redirects(None, frame, every)
    follow_left_over(node, own, frame, EXPANDER)
    return stream


def _list(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    before = dict(frame.state.variables)
    stream = _chain(node, frame, redirects)
    # A part of the chain may not have run: what was known before still counts.
    for name, old in before.items():
        new = frame.state.variables.get(name)
        if new is not None and new is not old:
            values = [*new.values, *(v for v in old.values if v not in new.values)]
            frame.state.variables[name] = Variable(most_telling(values), new.tags | old.tags)
    return stream


def _chain(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    left, sign, right = node.children[0], node.children[1].type, node.children[-1]
    first = _chain(left, frame, ()) if left.type == "list" else evaluate(left, frame)
    if sign == "&&":
        return joined([first, evaluate(right, frame, redirects)])
    other = frame.child(frame.state.fork())
    second = evaluate(right, other, redirects)
    frame.state.merge(other.state, frame.run.around.workspace)
    return joined([first, second])


def _pipeline(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    stages = [c for c in node.children if c.is_named]
    run = frame.run
    run.pipelines += 1
    number, stream = run.pipelines, frame.stdin
    for at, stage in enumerate(stages):
        inner = frame.child(frame.state.fork())
        inner.forks += 1
        inner.pipeline = number
        inner.piped = frame.piped or at < len(stages) - 1
        inner.stdin = stream
        stream = evaluate(stage, inner, redirects if at == len(stages) - 1 else ())
    return stream or Stream()


def _negated(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    return evaluate(node.children[-1], frame, redirects)


def _command(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    frame.run.visited.add((id(frame.source), node.start_byte, node.type))
    own = [c for c in node.children if c.type in _REDIRECTS]
    for child in node.children:
        # `time (…)`: the grammar takes the subshell for a word.
        if child.type in ("subshell", "compound_statement"):
            evaluate(child, frame)
    return _with_choices(node, frame, own)


def _with_choices(node: Node, frame: Frame, own: Sequence[Node]) -> Stream:
    """A command is judged once for each value its variables may have."""
    run = frame.run
    outer = run.choice, run.choices
    run.choices = 1
    streams = []
    for choice in range(_MOST_CHOICES):
        run.choice = choice
        streams.append(_once(node, frame, own))
        if choice + 1 >= run.choices:
            break
    run.choice, run.choices = outer
    return streams[0]


def _once(node: Node, frame: Frame, own: Sequence[Node]) -> Stream:
    inner = frame.child()
    for redirect in own:
        found = redirect_input(redirect, inner, EXPANDER)
        inner.stdin = found if found is not None else inner.stdin
    settings = [c for c in node.children if c.type == "variable_assignment"]
    words = [c for c in node.children if c.is_named and c.type not in _NO_WORDS]
    argv = [word for group in adjacent(words) for word in EXPANDER.words(group, inner)]
    lent = frame.state.variables
    if settings:
        inner.state = frame.state.fork() if argv else frame.state
        for child in settings:
            assign(child, inner, EXPANDER)
        lent, inner.state = inner.state.variables, frame.state
    span = frame.source.span or (frame.source.origin(node.start_byte), frame.source.origin(node.end_byte))
    if inner.forks and "$0" in text_of(node, frame).split(" ")[0]:
        frame.run.note(inner, "F10", "a script that starts itself again and again", "fork_bomb")
    with borrowed(frame.state.variables, lent):
        stream = execute(argv, inner, span)
    for redirect in own:
        if redirect_output(redirect, inner, stream, EXPANDER):
            stream = Stream("")
    return stream


def _group(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    return statements(node.children, frame)


def _subshell(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    return statements(node.children, frame.child(frame.state.fork()))


def _if(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    parts: list[list[Node]] = [[]]
    otherwise = False
    for child in node.children:
        if child.type in ("elif_clause", "else_clause"):
            parts.append(list(child.children))
            otherwise = otherwise or child.type == "else_clause"
        else:
            parts[0].append(child)
    return _branches(parts, frame, otherwise)


def _branches(parts: list[list[Node]], frame: Frame, complete: bool) -> Stream:
    start = frame.state.fork()
    states: list[State] = [] if complete else [start]
    streams = []
    for part in parts:
        inner = frame.child(start.fork())
        streams.append(statements(part, inner))
        states.append(inner.state)
    first = states[0]
    for other in states[1:]:
        first.merge(other, frame.run.around.workspace)
    frame.state.variables, frame.state.cwd = first.variables, first.cwd
    return streams[0] if len(streams) == 1 and complete else Stream(None, joined(streams).tags)


def _case(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    items = [c for c in node.children if c.type == "case_item"]
    parts = []
    for item in items:
        closing = next((at for at, c in enumerate(item.children) if c.type == ")"), 0)
        parts.append(list(item.children[closing + 1 :]))
    return _branches(parts, frame, False) if parts else Stream("")


def _for(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    name = next((text_of(c, frame) for c in node.children if c.type == "variable_name"), "")
    if node.children[0].type == "select" and frame.stdin is None:
        frame.run.is_interactive("asks for a choice")
    words = []
    values_begin = False
    for child in node.children:
        if values_begin and child.is_named and child.type != "do_group":
            words += EXPANDER.words([child], frame)
        values_begin = values_begin or child.type == "in"
    values = [[marks.unquoted_value(w.text, "") if w.glob else w.text] for w in words]
    tags = frozenset().union(*(w.tags for w in words))
    frame.state.variables[name] = Variable(most_telling(values) or [[UNKNOWN]], tags)
    return _loop(node, frame)


def _while(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    head = [c for c in node.children if c.type != "do_group"]
    statements(head, frame)
    text = text_of(node, frame)
    endless = text.split("do", 1)[0].split()[1:2] in (["true;"], ["true"], [":;"], [":"], ["(("], ["1"])
    body = next((c for c in node.children if c.type == "do_group"), None)
    if endless and body is not None and any(c.type == "&" for c in body.children):
        names = {text_of(c, frame).split(" ")[0] for c in body.children if c.is_named}
        if not names & {"wait", "break"}:
            frame.run.note(frame, "D8", "an endless loop that starts background processes", "fork_bomb")
    return _loop(node, frame)


def _loop(node: Node, frame: Frame) -> Stream:
    stream = Stream("")
    bodies = [c for c in node.children if c.type in ("do_group", "compound_statement")]
    for _ in range(2):
        before = frame.state.fork()
        for body in bodies:
            stream = statements(body.children, frame)
        changed = frame.state.variables != before.variables or frame.state.cwd != before.cwd
        frame.state.merge(before, frame.run.around.workspace)
        if not changed:
            break
    return Stream(None, stream.tags)


def _function(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    name = next((text_of(c, frame) for c in node.children if c.type == "word"), "")
    body = node.children[-1]
    if body.type in _REDIRECTS:
        body = next(c for c in reversed(node.children) if c.type not in _REDIRECTS)
    shadowed_name(name, frame)
    frame.state.functions[name] = Function(name, body, frame.source)
    return Stream("")


def call(function: Function, args: list[str] | None, frame: Frame) -> Stream:
    """Evaluates a function's body with its arguments; calling itself in a pipe or behind `&` is a bomb."""
    function.called = True
    # The place of the body, not the name: a function may define another one of its name.
    place = (id(function.source), function.body.start_byte)
    for active, forks in frame.calls:
        if active == place:
            if frame.forks > forks:
                frame.run.note(frame, "F10", "a function that multiplies itself: a fork bomb", "fork_bomb")
            return Stream()
    inner = frame.child(frame.state.fork(), function.source)
    inner.calls = (*frame.calls, (place, frame.forks))
    inner.state.args = args
    stream = evaluate(function.body, inner)
    frame.state.variables, frame.state.cwd = inner.state.variables, inner.state.cwd
    return stream


def _assignments(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    nodes = node.children if node.type == "variable_assignments" else [node]
    for child in nodes:
        assign(child, frame, EXPANDER)
    return Stream("")


def _declaration(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    declare(node, frame, EXPANDER)
    return Stream("")


def _unset(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    unset(node, frame)
    return Stream("")


def _substitution(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    return substitute(node, frame)


def _nothing(node: Node, frame: Frame, redirects: Sequence[Node]) -> Stream:
    return Stream("")


EXPANDER = Expander(substitute, script)

_PASS_ON = frozenset({"list", "pipeline", "negated_command", "redirected_statement"})
_STATEMENTS = {
    "list": _list,
    "pipeline": _pipeline,
    "command": _command,
    "redirected_statement": _redirected,
    "subshell": _subshell,
    "compound_statement": _group,
    "do_group": _group,
    "program": _group,
    "command_substitution": _substitution,
    "process_substitution": _substitution,
    "ERROR": _group,
    "if_statement": _if,
    "for_statement": _for,
    "c_style_for_statement": _while,
    "while_statement": _while,
    "case_statement": _case,
    "function_definition": _function,
    "variable_assignment": _assignments,
    "variable_assignments": _assignments,
    "declaration_command": _declaration,
    "unset_command": _unset,
    "negated_command": _negated,
    "test_command": _nothing,
}
