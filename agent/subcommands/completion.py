"""`agent completion`: print what a shell sources to complete flags and sub-commands.

Each script asks the program what fits, so that none goes out of date; where it has nothing to
offer the shell completes names of files.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

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

HELP = "Print completion for a shell: source <(agent completion bash), or put it in a file of fish."


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


SCRIPTS = {Shell.BASH: BASH, Shell.ZSH: ZSH, Shell.FISH: FISH}


def register(app: typer.Typer) -> None:
    app.command(name="completion", help=HELP)(completion)


def completion(shell: Annotated[Shell, typer.Argument()]) -> None:
    typer.echo(SCRIPTS[shell], nl=False)
