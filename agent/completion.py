"""Completion scripts for shells, from the tables of flags and sub-commands."""

from __future__ import annotations

from gatewright.agent.flags import FLAGS, Flag
from gatewright.agent.subcommands.names import SUBCOMMANDS

BASH = """\
_agent() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    case $before in
{cases}
    esac
    if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then
        COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "{flags}" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _agent agent
"""


def script(shell: str) -> str:
    """The text to source. Raises KeyError for a shell nobody wrote one for."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _bash() -> str:
    cases = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$word")); return ;;'
        for flag in FLAGS
        if flag.choices
        for name in flag.names
    )
    return BASH.format(
        cases=cases, commands=" ".join(SUBCOMMANDS), flags=" ".join(name for name, _ in _names())
    )


def _zsh() -> str:
    commands = "\n".join(f"        {_quoted(f'{n}:{h}')}" for n, h in SUBCOMMANDS.items())
    flags = "\n".join(f"        {_quoted(_zsh_flag(name, flag))}" for name, flag in _names())
    return f"""\
#compdef agent
_agent() {{
    local -a commands flags
    commands=(
{commands}
    )
    flags=(
{flags}
    )
    (( CURRENT == 2 )) && _describe command commands
    _arguments -s $flags '*:file:_files'
}}
compdef _agent agent
"""


def _zsh_flag(name: str, flag: Flag) -> str:
    help = flag.help.replace("[", "(").replace("]", ")").replace(":", ",")
    if flag.kind == "switch":
        return f"{name}[{help}]"
    what = f"({' '.join(flag.choices)})" if flag.choices else "_files"
    return f"{name}[{help}]:{flag.field}:{what}"


def _fish() -> str:
    lines = [
        f"complete -c agent -n __fish_use_subcommand -f -a {name} -d {_quoted(help)}"
        for name, help in SUBCOMMANDS.items()
    ]
    for name, flag in _names():
        kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        value = "" if flag.kind == "switch" else " -r"
        choices = f" -f -a {_quoted(' '.join(flag.choices))}" if flag.choices else ""
        lines.append(f"complete -c agent {kind}{value}{choices} -d {_quoted(flag.help)}")
    return "\n".join(lines) + "\n"


def _names() -> list[tuple[str, Flag]]:
    return [(name, flag) for flag in FLAGS if not flag.hidden for name in flag.names]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
