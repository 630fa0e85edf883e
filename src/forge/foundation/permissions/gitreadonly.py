"""Git commands that only look, and the options they may have."""

from __future__ import annotations

import re

from forge.foundation.permissions.options import Options
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Word

_TABLES = {
    "status": Options(
        """-b -s -u= -v -M= --ignore-submodules= --ahead-behind --branch --column --find-renames= --ignored
        --long --no-column --no-renames --porcelain --renames --short --untracked-files= --verbose""",
        counts=True,
    ),
    "diff": Options(
        """-l -p -s -u -B -C -D -G= -M -O= -R -S= --abbrev# --binary --break-rewrites --cached --check
        --color --color-words --diff-algorithm= --diff-filter= --dirstat --exit-code --find-copies
        --find-copies-harder --find-renames --full-index --function-context --histogram
        --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-space-change
        --inter-hunk-context# --irreversible-delete --minimal --name-only --name-status --no-color
        --no-ext-diff --no-index --no-renames --numstat --patch-with-stat --patience --pickaxe-all
        --pickaxe-regex --quiet --relative? --shortstat --staged --stat --summary --word-diff
        --word-diff-regex= --ws-error-highlight=""",
        counts=True,
    ),
    "log": Options(
        """-p -s --abbrev-commit --after= --all --ancestry-path --author= --before= --boundary --branches
        --cherry-pick --color --committer= --date= --date-order --decorate --dense --diff-filter=
        --first-parent --follow --full-history --graph --grep= --left-right --max-count# --merges
        --name-only --name-status --no-color --no-ext-diff --no-max-parents --no-merges --no-patch
        --no-walk --numstat --oneline --patch --pickaxe-all --pickaxe-regex --relative-date --remotes
        --reverse --shortstat --since= --skip# --source --sparse --stat --tags --topo-order --until=
        --walk-reflogs -n# -S= -G= --format= --pretty=""",
        counts=True,
    ),
    "show": Options(
        """-m -p -s --abbrev-commit --color --color-words --date= --decorate --diff-filter= --first-parent
        --graph --name-only --name-status --no-color --no-ext-diff --no-patch --numstat --oneline
        --patch --quiet --raw --relative-date --shortstat --stat --word-diff --format= --pretty=""",
        counts=True,
    ),
    "branch": Options(
        """-a -i -l -r -v --abbrev=# --all --color --column --ignore-case --list --merged?? --no-color
        --no-column --no-merged?? --remotes --show-current --sort= --verbose --contains= --no-contains=
        --points-at=""",
        counts=True,
    ),
    "remote": Options("-v --verbose"),
    "stash list": Options(
        """--all --branches --date= --decorate --graph --max-count# --oneline --relative-date --remotes
        --tags -n#""",
        counts=True,
    ),
    "stash show": Options(
        """-p -s --abbrev# --color --diff-filter= --name-only --name-status --no-color --no-ext-diff
        --no-patch --numstat --patch --shortstat --stat --word-diff""",
        counts=True,
    ),
    "tag": Options(
        """-i -l --column --ignore-case --merged= --no-merged= --list --no-column --sort= --contains=
        --no-contains= --points-at= -n#""",
        counts=True,
    ),
    "config --get": Options(
        """-z --bool --bool-or-int --default= --expiry-date --global --int --local --name-only --null
        --path --show-origin --show-scope --system --type= --worktree""",
        counts=True,
    ),
    "rev-parse": Options(
        """--abbrev-ref --absolute-git-dir --git-common-dir --git-dir --is-bare-repository
        --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --short? --show-cdup
        --show-prefix --show-toplevel --symbolic --symbolic-full-name --verify""",
        counts=True,
    ),
    "ls-files": Options(
        """-c -d -f -i -k -m -o -s -t -u -v -x= -z -X= --abbrev# --cached --debug --deleted --directory
        --eol --error-unmatch --exclude= --exclude-from= --exclude-standard --full-name --ignored
        --killed --modified --no-empty-directory --others --recurse-submodules --stage --unmerged""",
        counts=True,
    ),
    "ls-remote": Options(
        """-b -h -q -t --branches --exit-code --get-url --heads --quiet --refs --sort== --symref --tags""",
        counts=True,
    ),
    "blame": Options(
        """-e -f -l -n -p -s -t -w -C -L= -M --abbrev# --color --date= --incremental --line-porcelain
        --no-color --porcelain --root --score-debug --show-email --show-name --show-number --show-stats
        --ignore-rev= --ignore-revs-file=""",
        counts=True,
    ),
    "grep": Options(
        """-c -e= -h -i -l -n -o -q -v -w -E -F -G -H -L -P --after-context# --and --basic-regexp
        --before-context# --break --cached --color --context# --count --extended-regexp
        --files-with-matches --files-without-match --fixed-strings --full-name --heading --ignore-case
        --invert-match --line-number --max-depth# --no-color --no-index --not --only-matching --or
        --perl-regexp --quiet --recurse-submodules --threads# --untracked --word-regexp -A# -B# -C#""",
        counts=True,
    ),
    "reflog": Options(
        """--after= --all --author= --before= --branches --committer= --date= --decorate --graph --grep=
        --max-count# --oneline --relative-date --remotes --since= --tags --until= -n#""",
        counts=True,
    ),
    "worktree list": Options("-v --porcelain --verbose", counts=True),
    "describe": Options(
        """--abbrev# --always --broken --candidates# --contains --dirty --exact-match --exclude= --long
        --match= --tags""",
        counts=True,
    ),
    "cat-file": Options("-e -p -s -t --batch-check", counts=True),
    "shortlog": Options(
        """-c -e -n -s --after= --all --author= --before= --branches --committer --email --group=
        --no-merges --numbered --remotes --since= --summary --tags --until=""",
        counts=True,
    ),
    "merge-base": Options("--all --fork-point --independent --is-ancestor --octopus", counts=True),
    "rev-list": Options(
        """--abbrev# --abbrev-commit --after= --all --ancestry-path --author= --before= --branches
        --committer= --count --dense --first-parent --full-history --graph --grep= --max-count#
        --max-parents# --merges --min-parents# --no-max-parents --no-merges --oneline --remotes
        --reverse --since= --skip# --source --sparse --tags --until= --walk-reflogs -n#""",
        counts=True,
    ),
    "for-each-ref": Options(
        "--sort= --contains= --count# --merged= --no-contains= --no-merged= --points-at=", counts=True
    ),
}
_LISTING = frozenset({"-l", "--list"})
_NO_OPERANDS = frozenset({"remote", "ls-remote"})
_FORMAT = r"(?s)(?:--format|--pretty)(?:=(.*))?"
_FORMATS = word_set("oneline short medium full fuller reference email mboxrd raw")


def is_read_only_git(words: list[Word]) -> bool:
    """Whether a git command can only read."""
    values = [word.value for word in words[1:]]
    for length in (2, 1):
        name = " ".join(values[:length])
        options = _TABLES.get(name)
        if options is not None and len(values) >= length:
            operands = options.operands(words[1 + length :])
            return operands is not None and _lists(name, values[length:], operands) and _printed(values)
    return False


def _lists(name: str, arguments: list[str], operands: list[str]) -> bool:
    """Whether the operands select what is shown instead of naming something new."""
    if name in _NO_OPERANDS:
        return not operands
    if name in ("branch", "tag"):
        return not operands or bool(_LISTING.intersection(arguments))
    if name == "reflog":
        return not operands or arguments[0] == "show" or arguments[0].startswith("-")
    return True


def _printed(values: list[str]) -> bool:
    """Whether every output format is a built-in one or spelled out; a name could be an alias."""
    for value in values:
        found = re.fullmatch(_FORMAT, value)
        if found and (found.group(1) is None or not ("%" in found.group(1) or found.group(1) in _FORMATS)):
            return False
    return True
