"""Random shell snippets, what bash really runs of them in a closed namespace, and what the analysis saw.

A hidden command is one that bash ran although the analysis neither saw it nor said that it was unsure.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterable

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.surroundings import Surroundings

AROUND = Surroundings("/home/dev/proj", "/home/dev")
NAMESPACE = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--"]
# Every unknown name is logged; nothing else can run, because there is no PATH. Files go to a fresh tmpfs.
DRIVER = r"""
exec 8<&0 9>&1 </dev/null
mount -t tmpfs none /mnt 2>/dev/null && cd /mnt || exit 9
limit=$(type -P timeout) shell=$BASH
export PATH=/nonexistent
command_not_found_handle() { printf '%s\1' "$1" >&9; return 0; }
export -f command_not_found_handle
inner='s=$1; shift; x=value; y=; eval "$s"; wait'
while IFS= read -r -d '' snippet <&8; do
  "$limit" -s KILL 1 "$shell" --norc -c "$inner" _ "$snippet" >/dev/null 2>&1 8<&-
  printf '\0' >&9
done
"""

GENERAL = [
    "{m}", "{m} a", "{m} $x", '"$({m})"', "$({m})", "`{m}`", "echo `{m}`", 'echo "`{m}`"', "'$({m})'",
    "echo '`{m}`'",
    "${{y:-$({m})}}", '"${{y:-$({m})}}"', "\"${{y:-'$({m})'}}\"", "${{y:-'$({m})'}}", "${{x:+`{m}`}}",
    "$((1+1))", "$(( $({m}) 1 ))",
    "echo $'a\\'$({m})'", "echo \\$({m}\\)", "echo \\`{m}\\`", "`echo \\`{m}\\``", '"\\`{m}\\`"',
    "# {m}", "echo a#{m}", "{{ {m}; }}", "( {m} )",
    "if {m}; then {m}; else {m}; fi", "for i in a b; do {m} $i; done", "while {m}; false; do :; done",
    "case $x in v*) {m};; *) {m};; esac",
    "case a in a) {m} ;; esac", "[[ -n $({m}) ]]", "[ -n \"$({m})\" ]", "! {m}", "time {m}",
    "f() {{ {m}; }}; f", "function g {{ {m}; }}; g", "a=(1 $({m}))",
    "b=$({m}) {m}", "{m} >f1", "{m} 2>&1", ">f2 {m}", "cat_() {{ :; }}; cat_ <({m})", "echo <({m})",
    "{m} <<< $({m})", "echo \\\n{m}", "{m} \\\n a", "eval '{m}'",
    "eval \"{m} $x\"", "eval \"`echo {m}`\"", "x={m}; $x", "x='{m} a'; $x",
    "x='$({m})'; eval \"echo $x\"", "set -- {m}; \"$@\"", "c=({m} a); \"${{c[@]}}\"", "true && {m}",
    "false || {m}",
    "echo \"a $({m} \"b $({m})\")\"", "echo ${{x/$({m})/b}}", "echo ${{x#$({m})}}",
    "echo \"${{x%\"$({m})\"}}\"", "exec 3>f3; {m}", "{m} | {m}", "{m} |& {m}", "echo {{a,$({m})}}",
    "(( $({m}) + 1 ))",
    "let x=$({m})", "printf '%s' \"$({m})\"", "trap '{m}' EXIT", "trap \"{m}\" 0", "builtin eval {m}",
    "command {m}", "echo $(echo $({m}))", "echo $(case a in a) {m};; esac)", "echo $({m} # )\n)",
    "echo \"$({m} ')')\"",
    "until {m}; true; do :; done", "select q in; do {m}; done", "echo ${{!x}} {m}", "declare z=$({m})",
    "export z=`{m}`", "local_=1 {m}", "echo ~ {m}", "echo *{m}*", "echo $\"{m} $({m})\"", "{m}$y",
    "$y{m}", "\"\"{m}", "{m}''", "\\{m}", "'{m}'", "\"{m}\"",
    "exec 4<>f4; {m}", "case a in a) {m};& b) {m};; esac", "case a in a) {m};;& *) {m};; esac",
    "0>f6 {m}", "5<>f7 {m}", "{{fd}}>f8 {m}", "! {{ {m}; }}", "! ( {m} )", "X=1 >f9 {m}", "&>f1 {m}",
    "2>&1 {m}", "{m} > f2 <<< $({m})", "time {{ {m}; }}", "! time {m}", "{m} a=(b)", "a[$({m})]=1",
    "echo ${{x:0:$({m})}}", "echo ${{x^^$({m})}}", "echo ${{#x}} {m}", "[[ $x == $({m}) ]] && {m}",
    "(({m}=1)); {m}",
    "{m} >f1 a", "X=1 <f1 {m}", ">f1 >f2 {m}", "if true; then X=1 >f1 {m}; fi", "! X=1 {m}",
    "time X=1 {m}", "a=b c=d >f1 {m}", "{m} <<< a >f1", "{m} >f1 <<< a",
    "case $x in a|b) ;; *) >f1 {m};; esac", "((x=1)) >f1 && {m}", "[[ a ]] >f1; {m}", "f() ( {m} ); f",
    "f() if true; then {m}; fi; f", "while read l; do {m}; done <<< a", "{{ {m}; }} >f1 2>&1",
    "( {m} ) >f1 | {m}", "echo \"${{x:-\"$({m})\"}}\"", "echo ${{y:-`{m}`}}", "echo $[ $({m}) ]",
    "$(echo {m})", "$({m}) {m}", "\"$(echo {m})\" a", "a=$(echo {m}); $a", "eval \"$(echo {m})\"", "{m};:",
    "{m}&&{m}", "{m}||{m}", "({m})", "{m}#a", "a={m} eval '$a'", "for i in {m} a; do $i; done",
    "for i in {m}; do \"$i\" b; done", "set {m} b; $1 $2", "v={m}; ${{v}} a", "v=({m}); $v",
    "v={m}; w=v; ${{!w}}", "printf -v q %s {m}; $q", "read q <<< {m}; $q", "declare q={m}; $q",
    "export q={m}; $q", "f() {{ \"$@\"; }}; f {m} a", "f() {{ $1; }}; f {m}", "eval eval {m}",
    "command -- {m}", "builtin command {m}", "exec 5>&1; {m} >&5", "{m} >&2", "{m} 2>f1 >&2", "<f1 {m}",
    "x=1 y=2 {m} z=3", "if {m} | {m}; then :; fi", "until ! {m}; do :; done",
    "for ((i=0;i<1;i++)); do {m}; done", "for ((i=$({m})0;i<1;i++)); do :; done", "for i; do {m}; done",
    "case $({m}) in *) {m};; esac", "case a in $({m})) ;; a) {m};; esac", "[[ a && $({m}) ]] || {m}",
    "[[ a =~ $({m}) ]]", "echo $(( x[$({m})0] ))", "x[$({m})0]=1", "unset x[$({m})]",
    "echo ${{x[$({m})0]}}", "echo \"${{x@Q}}\" $({m})", "echo ${{x//a/$({m})}}",
    "echo \"${{x:$({m})0:1}}\"", "cat_ () {{ {m}; }} >f1; cat_", "function h {{ {m}; }} 2>f1; h",
    "{m} 2>&1 | {m} 2>&1", "true; {m} ;{m}", "{m} $'a\\nb' {m}", "echo \"a\\\nb\" $({m})",
    "echo a\\\n$({m})", "{m}\\\n a", "{m} \"a\nb\" $({m})", "\n\n{m}\n\n", "\t{m}\t", "{m} ;\n\n;",
    "# a\n{m} # b\n{m}", "{m} <(:) >(:)", "{m} < <({m})", "{m} > >({m})",
    "mapfile -t z < <(echo {m}); ${{z[0]}}", "x={m},a; IFS=,; $x", "trap {m} EXIT", "hash -p /x {m}; {m}",
    "enable -n echo; echo; {m}", "set -e; {m}", "set -u; {m}", "let \"x=$({m})0\"", "test -n $({m}) -a a",
    "printf \"$({m})\" | {m}", "time -p {m}", "time ! {m}", "! time {m}",
    "select i in a; do {m}; break; done <<< 1",
    "coproc {m}", "{{ {m}; }} 2>f5", "({m};{m})", "if [[ a == a ]]; then {m}; fi",
]  # fmt: skip
GLUE = ["; ", "\n", " && ", " || ", " | ", " ", "\n\n", ";\n", "\\\n", " ; # c\n"]

OPENERS = [
    "<<EOF",
    "<<'EOF'",
    '<<"EOF"',
    "<<\\EOF",
    "<<E'O'F",
    "<<-EOF",
    "<<-'EOF'",
    "<< EOF",
    "<<E\\OF",
    '<<EO"F"',
    "<<-\tEOF",
]
LINES = [
    "text", "$({m})", "`{m}`", "\\$({m})", "\\`{m}\\`", "\t$({m})", "\tEOF", "EOF ", " EOF", "EOFx",
    "a\\", "$((1+1))", "${{y:-$({m})}}", "'$({m})'", '"$({m})"', "#$({m})", "$x", "${{x}}", "\\\\$({m})",
    "${{y:-`{m}`}}", "`echo \\`{m}\\``", "$(echo \"$({m})\")", "it's", 'say "', "(", ")", "$(", "`",
    "\\", "\tplain", "<<EOF", "{m}", "$( {m} <<< a )", "${{x:-}}}}", "$'{m}'",
]  # fmt: skip
BEFORE = [
    "",
    "{m}; ",
    "{m} && ",
    "x=1 ",
    "{m} | ",
    "if true; then ",
    "( ",
    'echo "$(',
    "echo $(",
    "{{ ",
    "f() {{ ",
    "! ",
]
AFTER = [
    "",
    "; {m}",
    " && {m}",
    " | {m}",
    " >f1",
    " # {m}",
    " ; {m} a",
    " || {m}",
    " <<EOF",
    " \\\n {m}",
    " {m}",
    "$({m})",
    " `{m}`",
]
CLOSE = {
    "if true; then ": "\nfi",
    "( ": "\n)",
    'echo "$(': '\n)"',
    "echo $(": "\n)",
    "{ ": "\n}",
    "f() { ": "\n}; f",
}


def snippets(kind: str, count: int, seed: int) -> list[str]:
    """Texts of the kind `general` or `heredoc`."""
    chance = random.Random(seed)
    make = _general if kind == "general" else _heredoc
    return [make(chance) for _ in range(count)]


def hidden(texts: list[str]) -> list[tuple[str, list[str]]]:
    """The texts of which bash ran a command that the analysis did not see, with those commands."""
    found = []
    for text, ran in zip(texts, ran_by_bash(texts), strict=True):
        verdict = analyse(text, AROUND, 5.0)
        seen = {step.program.rpartition("/")[2] for step in verdict.steps} | {
            s.words[0] for s in verdict.steps
        }
        joined = text.replace("\\\n", "")
        # Names that do not stand in the text come late from the snippet before.
        own = [name for name in ran if all(m in joined for m in re.findall(r"Mk\d+", name)) and "Mk" in name]
        missed = [name for name in own if name not in seen]
        if missed and verdict.analysable and "$$" not in text:
            found.append((text, missed))
    return found


def unsure(texts: Iterable[str]) -> int:
    """How many texts the analysis is not sure about."""
    return sum(not analyse(text, AROUND, 5.0).analysable for text in texts)


def usable() -> bool:
    """Whether this machine can make the closed namespace."""
    try:
        return ran_by_bash(["Mk1"]) == [["Mk1"]]
    except (OSError, subprocess.SubprocessError):
        return False


def ran_by_bash(texts: list[str]) -> list[list[str]]:
    """For each text the names bash looked up in vain."""
    feed = "".join(text + "\0" for text in texts).encode()
    command = [*NAMESPACE, "bash", "--norc", "--noprofile", "-c", DRIVER]
    done = subprocess.run(command, input=feed, capture_output=True, timeout=300, check=True)
    rows = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    return [row.split("\1")[:-1] for row in rows]


def _marked(chance: random.Random, text: str) -> str:
    while "{m}" in text:
        text = text.replace("{m}", f"Mk{chance.randrange(10000)}", 1)
    return text.replace("{{", "{").replace("}}", "}")


def _general(chance: random.Random) -> str:
    parts = [_marked(chance, chance.choice(GENERAL)) for _ in range(chance.randint(1, 4))]
    text = parts[0]
    for part in parts[1:]:
        text += chance.choice(GLUE) + part
    if chance.random() < 0.25:
        at = chance.randrange(len(text) + 1)
        text = (
            text[:at]
            + chance.choice(["'", '"', "\\", "`", ")", "$(", " ", "\n", "#", "}", "{", "$", "\\\n"])
            + text[at:]
        )
    return text


def _heredoc(chance: random.Random) -> str:
    before = chance.choice(BEFORE)
    after = chance.choice(AFTER)
    head = f"{before}:{' ' if chance.random() < 0.8 else ''}{chance.choice(OPENERS)}{after}"
    lines = [chance.choice(LINES) for _ in range(chance.randint(0, 4))]
    body = (
        "".join(f"\n{line}" for line in lines)
        + "\n"
        + chance.choice(["EOF", "EOF", "EOF", "\tEOF", "EOF)", "E"])
    )
    if "<<EOF" in after:
        body += "\n" + chance.choice(LINES) + "\nEOF"
    text = _marked(chance, head + body)
    text += CLOSE.get(_marked(chance, before), "")
    return text + chance.choice(["", "\n", "\n{m}\n", "\n{m}", "\n\n"]).replace(
        "{m}", f"Mk{chance.randrange(10000)}"
    )
