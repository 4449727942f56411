"""Completion scripts for shells: each asks the program what fits, so that none goes out of date.

Where the program has nothing to offer the shell completes names of files.
"""

from __future__ import annotations

ASK = "__complete"  # agent __complete SHELL WORD...: the words so far, the last one is completed

BASH = f"""\
_agent() {{
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <("${{COMP_WORDS[0]}}" {ASK} bash "${{COMP_WORDS[@]:1:COMP_CWORD}}" 2>/dev/null)
}}
complete -o default -F _agent agent
"""

ZSH = f"""\
#compdef agent
_agent() {{
    local -a found
    local value help
    while IFS=$'\\t' read -r value help; do
        found+=("${{value//:/\\\\:}}${{help:+:$help}}")
    done < <("${{words[1]}}" {ASK} zsh "${{(@)words[2,CURRENT]}}" 2>/dev/null)
    if (( $#found )); then
        _describe agent found
    else
        _files
    fi
}}
compdef _agent agent
"""

FISH = f"""\
function __agent_complete
    set -l before (commandline -opc)
    set -l now (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    set -l found ($program {ASK} fish $before "$now" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$now"
    end
end
complete -c agent -f -a '(__agent_complete)'
"""


def script(shell: str) -> str:
    """The text to source. Raises KeyError for a shell nobody wrote one for."""
    return {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell]
