"""Commands that only look: allowed without a rule in every mode."""

from __future__ import annotations

import re

from forge.foundation.permissions.gitreadonly import is_read_only_git
from forge.foundation.permissions.options import Options
from forge.foundation.permissions.sed import files_of, prints_lines, substitutes
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.foundation.permissions.syntax import Word

FREE = word_set(
    """ls cat head tail find wc diff cmp comm paste du df echo id uname cut tr nl column od hexdump strings
    seq basename dirname realpath readlink type true false sleep uptime free groups locale cal expr tac
    rev fold fmt pr expand unexpand tsort numfmt nproc [["""
)
_EXACT = frozenset(
    {"pwd", "whoami", "node -v", "node --version", "python --version", "python3 --version", "history"}
)
_GREP = Options(
    """-a -b -c -d= -e= -f= -h -i -l -m# -n -o -q -r -s -u -v -w -x -z -A# -B# -C# -D= -E -F -G -H -I -L -P
    -R -T -U -V -Z --after-context# --basic-regexp --before-context# --binary --binary-files=
    --byte-offset --color= --colour= --context# --count --dereference-recursive --devices=
    --directories= --exclude= --exclude-dir= --exclude-from= --extended-regexp --file=
    --files-with-matches --files-without-match --fixed-strings --group-separator= --help --ignore-case
    --include= --initial-tab --invert-match --label= --line-buffered --line-number --line-regexp
    --max-count# --no-filename --no-group-separator --no-ignore-case --no-messages --null --null-data
    --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --version
    --with-filename --word-regexp""",
    attached=True,
    globs=True,
)
_SUMS = Options(
    """-b -c -t -w -z --binary --check --help --ignore-missing --quiet --status --strict --tag --text
    --version --warn --zero""",
    globs=True,
)
_FD = Options(
    """-a -c= -d# -e= -g -h -i -j# -o= -p -q -s -t= -E= -F -H -I -L -S= -V -0 -1 --absolute-path --and=
    --base-directory= --batch-size# --case-sensitive --changed-before= --changed-within= --color=
    --exact-depth# --exclude= --extension= --fixed-strings --follow --format= --full-path --glob --help
    --hidden --hyperlink= --ignore-case --ignore-file= --max-depth# --max-results# --min-depth#
    --no-ignore --no-ignore-parent --no-ignore-vcs --one-file-system --owner= --path-separator= --print0
    --prune --quiet --regex --search-path= --show-errors --size= --strip-cwd-prefix --threads# --type=
    --version"""
)
_TABLES = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "fd": _FD,
    "fdfind": _FD,
    "rg": Options(
        """-a -c -d# -e= -f= -g= -h -i -l -m# -n -o -q -t= -u -v -w -A# -B# -C# -F -H -L -S -T=
        --after-context# --before-context# --color= --column --context# --count --debug
        --files-with-matches --files-without-match --fixed-strings --follow --glob= --heading --help
        --hidden --ignore-case --invert-match --json --line-number --max-count# --max-depth#
        --no-heading --no-ignore --only-matching --quiet --regexp= --smart-case --stats --text --type=
        --type-list --type-not= --version --word-regexp""",
        attached=True,
    ),
    "sort": Options(
        """-b -c -d -f -g -h -i -k= -m -n -r -s -t= -u -z -C -M -R -S= -V --batch-size# --buffer-size=
        --check --dictionary-order --field-separator= --general-numeric-sort --help --human-numeric-sort
        --ignore-case --ignore-leading-blanks --ignore-nonprinting --key= --merge --month-sort
        --numeric-sort --parallel# --random-sort --reverse --sort= --stable --unique --version
        --version-sort --zero-terminated"""
    ),
    "man": Options("-a -d -f -h -k -s= -w -S= --all --apropos --whatis"),
    "tree": Options(
        """-a -c -d -f -g -h -i -l -n -p -q -r -s -t -u -v -x -A -C -D -F -H= -I= -J -L# -N -P= -Q -S -T=
        -U -X --charset= --device --dirsfirst --du --filelimit# --filesfirst --fromfile --fromtabfile
        --gitfile= --gitignore --help --hintro= --houtro= --hyperlink --ignore-case --info --infofile=
        --inodes --matchdirs --metafirst --nolinks --noreport --prune --si --sort= --timefmt= --version"""
    ),
    "netstat": Options("-a -f= -g -i -l -m -n -r -s -v -I= -L"),
    "lsof": Options(
        """-a -b -c= -d= -e= -g -h -i -k= -l -n -o -p= -r -s -t -u= -v -x -A= -C -E -F -H -K -L -N -O -P -Q
        -R -S -T -U -V -X"""
    ),
    "file": Options(
        """-b -c -h -i -k -l -n -p -r -s -v -F= -L -0 --apple --brief --dereference --exclude=
        --exclude-quiet= --help --keep-going --list --mime --mime-encoding --mime-type --no-buffer
        --no-dereference --preserve-date --print0 --raw --separator= --special-files --version"""
    ),
    "base64": Options("-b# -d -h -i= -w# -D --decode --help --ignore-garbage --version --wrap#"),
    "which": Options(
        "-a -p -s -v -w -V --all --help --show-dot --show-tilde --skip-alias --skip-functions --version"
    ),
    "help": Options("-d"),
    "pgrep": Options(
        """-a -c -d= -f -g= -i -l -n -o -r= -s= -t= -u= -v -w -x -F= -G= -L -O= -P= -U= -V --count
        --delimiter= --euid= --exact --full --group= --help --ignore-case --inverse --lightweight
        --list-full --list-name --newest --ns= --nslist= --older= --oldest --parent= --pgroup=
        --pidfile= --runstates= --session= --terminal= --uid= --version"""
    ),
}
_DATE = Options(
    """-d= -r= -u -I -R --date= --debug --help --iso-8601== --reference= --rfc-3339= --rfc-email
    --universal --utc --version"""
)
_HOSTNAME = Options(
    """-a -d -f -h -i -s -v -A -I -V --alias --all-fqdns --all-ip-addresses --domain --fqdn --help
    --ip-address --long --short --version""",
    bundles=False,
)
_PS = Options(
    """-a -c -d -e -f -g= -j -l -m -n= -p= -q= -s= -t= -u= -w -y -A -C= -F -G= -H -L -N -T -U= -V
    --deselect --forest --headers --help --info --no-headers --pid= --quick-pid= --sid= --sort= --tty=
    --user= --version --width#"""
)
_SS = Options(
    """-a -b -d -e -f= -h -i -l -m -n -o -p -s -t -u -w -x -z -A= -E -H -M -O -S -V -Z -0 -4 -6 --all --bpf
    --cgroup --context --contexts --dccp --events --extended --family= --help --inet-sockopt --info
    --ipv4 --ipv6 --listening --memory --mptcp --no-header --numeric --oneline --options --packet
    --processes --query= --raw --sctp --socket= --summary --tcp --tipc --tipcinfo --tos --udp --unix
    --version --vsock"""
)
_TEST = Options("-b= -c= -d= -e= -f= -g= -h= -k= -n= -p= -r= -s= -t# -u= -w= -x= -z= -G= -L= -N= -O= -S=")
_TEST_OPERATORS = word_set("-eq -ne -lt -le -gt -ge -nt -ot -ef")
_BRACKET_OPERATOR = r"-[a-zA-Z]+|[=!]?=|=~|[<>+*/-]"
_PS_NOT_WITH_E = frozenset("yNV")
_TPUT = Options("-x -T= -V")
_DOCKER = {
    "logs": Options(
        "-f -n= -t --details --follow --since= --tail= --timestamps --until=",
    ),
    "inspect": Options("-f= -s --format= --size --type="),
}
_XARGS_PROGRAMS = frozenset({"echo", "printf", "wc", "grep", "egrep", "fgrep", "head", "tail"})
_XARGS = {"-n": "#", "-P": "#", "-L": "#", "-s": "#", "-d": "c", "-I": "="}
_TERMINAL_CHANGES = frozenset({"reset", "init", "clear"})
_JQ_FLAG = r"-[a-zA-Z]+|--[a-zA-Z-]+(?:=\S+)?"
_JQ_ENVIRONMENT = r"\benv\b|\$ENV\b"
_UNIQ_FLAG = r"-[a-zA-Z]+|--[a-zA-Z-]+(?:=\S+)?"


def is_read_only(words: list[Word]) -> bool:
    """Whether a command can only read, judged by its name and options."""
    if not words or any(word.masked for word in words):
        return False
    name = words[0].value
    if name in FREE:
        return True
    if name in _TABLES:
        return _TABLES[name].operands(words[1:]) is not None
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    return " ".join(word.value for word in words) in _EXACT


def _cd(words: list[Word]) -> bool:
    return len(words) < 3 and not any(
        len(word.value) > 1 and word.value.startswith("-") for word in words[1:]
    )


def _date(words: list[Word]) -> bool:
    operands = _DATE.operands(words[1:])
    return operands is not None and all(value.startswith("+") or value == "-" for value in operands)


def _hostname(words: list[Word]) -> bool:
    return _HOSTNAME.operands(words[1:]) == []


def _ps(words: list[Word]) -> bool:
    values = [word.value for word in words[1:]]
    operands = _PS.operands(words[1:])
    if operands is None or any(v.startswith("--sort=-") for v in values):
        return False
    letters = {letter for value in values if re.fullmatch(r"-\w+", value) for letter in value[1:]}
    if "e" in letters and (letters & _PS_NOT_WITH_E or "--deselect" in values):
        return False
    if "-e" in values and operands:
        return False
    return not any(value.isalpha() and "e" in value for value in operands)


def _ss(words: list[Word]) -> bool:
    operands = _SS.operands(words[1:])
    return operands is not None and (operands[:1] == ["state"] or all(value.isdigit() for value in operands))


def _tput(words: list[Word]) -> bool:
    operands = _TPUT.operands(words[1:])
    return operands is not None and not _TERMINAL_CHANGES.intersection(operands)


def _docker(words: list[Word]) -> bool:
    if len(words) < 2 or any(word.glob for word in words):
        return False
    if words[1].value in ("ps", "images"):
        return True
    options = _DOCKER.get(words[1].value)
    return options is not None and options.operands(words[2:]) is not None


def _xargs(words: list[Word]) -> bool:
    if any(word.glob for word in words):
        return False
    values = [word.value for word in words[1:]]
    while values and values[0].startswith("-"):
        flag = values.pop(0)
        if flag == "--":
            break
        if re.fullmatch("-[rtx0]+", flag):
            continue
        kind = _XARGS.get(flag)
        if kind is None or not values or not _xargs_value(kind, values.pop(0)):
            return False
    return not values or values[0] in _XARGS_PROGRAMS


def _xargs_value(kind: str, value: str) -> bool:
    if kind == "#":
        return value.isdigit()
    return len(value) == 1 if kind == "c" else value == "{}"


def _jq(words: list[Word]) -> bool:
    if any(word.glob for word in words):
        return False
    at = 1
    while at < len(words) and re.fullmatch(_JQ_FLAG, words[at].value):
        at += 1
    rest = [word.value for word in words[at:]]
    return bool(rest) and not any(v.startswith("-") or re.search(_JQ_ENVIRONMENT, v) for v in rest)


def _uniq(words: list[Word]) -> bool:
    values = [word.value for word in words[1:]]
    while values:
        flag = values.pop(0)
        if flag in ("-f", "-s", "-w") and values and values[0].isdigit():
            values.pop(0)
        elif not re.fullmatch(_UNIQ_FLAG, flag):
            return False
    return True


def _printf(words: list[Word]) -> bool:
    rest = words[1:]
    if any(word.glob for word in rest):
        return False
    return not rest or rest[0].value == "--" or not rest[0].value.startswith("-")


def _test(words: list[Word]) -> bool:
    return _TEST.operands([word for word in words[1:] if word.value not in _TEST_OPERATORS]) is not None


def _bracket(words: list[Word]) -> bool:
    """A test of one to three words, not counting `!`, whose operator is not quoted."""
    inside = [word for word in words[1:-1] if word.raw != "!"]
    if words[-1].value != "]" or len(inside) > 3 or any(word.glob for word in inside):
        return False
    operator = inside[len(inside) - 2] if len(inside) > 1 else None
    return operator is None or bool(re.fullmatch(_BRACKET_OPERATOR, operator.raw))


def _sed(words: list[Word]) -> bool:
    if any(word.glob for word in words[2:]):
        return False
    if prints_lines(words):
        return True
    if not substitutes(words, in_place=False) or files_of(words):
        return False
    return not any("$" in word.value or "`" in word.value for word in words)


def _stat(words: list[Word]) -> bool:
    return not any(word.value in ("-A", "-H") for word in words[1:])


def _ifconfig(words: list[Word]) -> bool:
    return len(words) == 1 or (len(words) == 2 and words[1].value.isalnum() and words[1].value[0].isalpha())


def _arch(words: list[Word]) -> bool:
    return len(words) == 1 or (len(words) == 2 and words[1].value in ("-h", "--help"))


def _history(words: list[Word]) -> bool:
    return len(words) == 1 or (len(words) == 2 and words[1].value.isdigit())


_SPECIAL: dict[str, Callable[[list[Word]], bool]] = {
    "git": is_read_only_git,
    "cd": _cd,
    "date": _date,
    "hostname": _hostname,
    "ps": _ps,
    "ss": _ss,
    "tput": _tput,
    "docker": _docker,
    "xargs": _xargs,
    "jq": _jq,
    "uniq": _uniq,
    "printf": _printf,
    "test": _test,
    "[": _bracket,
    "sed": _sed,
    "stat": _stat,
    "ifconfig": _ifconfig,
    "arch": _arch,
    "history": _history,
}
