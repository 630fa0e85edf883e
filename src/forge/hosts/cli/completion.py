"""`forge completion`: scripts for bash, zsh and fish, which ask `forge completion --words` for the words."""

from __future__ import annotations

import os
import sys

from forge.foundation.errors import ForgeError
from forge.hosts.cli.command import Command, read_arguments, take_words, unknown_word
from forge.hosts.cli.completion_words import complete
from forge.hosts.cli.parse import CommandLine

SHELLS = ("bash", "zsh", "fish")

COMMAND = Command(
    name="completion",
    usage=("completion bash|zsh|fish",),
    about=(
        "Prints a script that completes sub-commands, options and names of plugins, marketplaces and "
        "sessions. "
        "Put the line of your shell into its start file."
    ),
    flags=(),
    examples=(
        ("forge completion fish | source", "in ~/.config/fish/config.fish"),
        ('eval "$(forge completion bash)"', "in ~/.bashrc"),
        ('eval "$(forge completion zsh)"', "in ~/.zshrc, behind compinit"),
    ),
)

# Every script hands over the words of the line up to the cursor, and gets one candidate per line.
_BASH = """\
_forge_complete() {
    local line=${COMP_LINE:0:COMP_POINT} current kept
    local -a words
    read -ra words <<< "$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    current=${words[${#words[@]} - 1]}
    local IFS=$'\\n'
    COMPREPLY=($(forge completion --words "${words[@]:1}" 2>/dev/null))
    # Bash takes an id like name@market for two words and replaces only the last one.
    kept=${current%"${current##*["$COMP_WORDBREAKS"]}"}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -o default -F _forge_complete forge
"""
_ZSH = """\
_forge() {
    local -a found
    found=("${(@f)$(forge completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        compadd -Q -- "${found[@]}"
    else
        _files
    fi
}
compdef _forge forge
# The same commands with a colon, at any prompt.
function :plugin { forge plugin "$@" }
function :pl { forge plugin "$@" }
"""
_FISH = """\
function __forge_complete
    set -l words (commandline -opc) (commandline -ct)
    forge completion --words $words[2..-1] 2>/dev/null
end
complete -c forge -a '(__forge_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints a script, or with `--words` what could stand at the end of the given words."""
    if line.rest[:1] == ["--words"]:
        try:
            found = complete(line.rest[1:] or [""], env, os.getcwd())
        except (ForgeError, OSError):
            found = []  # a broken settings file must not write into somebody's prompt
        sys.stdout.write("".join(f"{word}\n" for word in found))
        return 0
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    (shell,) = take_words(COMMAND, given.words, ("SHELL",))
    if shell not in SHELLS:
        raise unknown_word(COMMAND, shell, SHELLS)
    sys.stdout.write(_SCRIPTS[shell])
    return 0
