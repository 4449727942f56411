"""The command line through typer: help, explained mistakes, sub-commands, completion.

Built from the table in `agent/flags.py`; the fast parser has already answered what was plain.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.exceptions import TyperException

from gatewright.agent.argv import Conflict, Given, convert, finish
from gatewright.agent.exits import Exit
from gatewright.agent.flags import BY_NAME, FLAGS, Flag
from gatewright.agent.options import LaunchOptions
from gatewright.agent.subcommands.names import module_of


def explain(arguments: Sequence[str]) -> LaunchOptions | int:
    """Parse once more, with clear mistakes: options, or the exit code after a message."""
    found: list[LaunchOptions] = []
    app = typer.Typer(add_completion=False)
    app.command(add_help_option=False)(_launcher(found.append))
    code = _run(app, normalised(arguments))
    return found[0] if found else code


def run_subcommand(arguments: Sequence[str]) -> int:
    """Run the sub-command that the first argument names; only its module is imported."""
    module = importlib.import_module(module_of(arguments[0]))
    app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    app.callback()(_nothing)
    module.register(app)
    return _run(app, list(arguments))


def _nothing() -> None:
    """Makes the application a group also where it has a single command."""


def normalised(arguments: Sequence[str]) -> list[str]:
    """Give flags with an optional value theirs by `=`, so that typer reads them as we do."""
    words: list[str] = []
    rest = list(reversed(arguments))
    while rest:
        word = rest.pop()
        if word == "--":
            return [*words, word, *reversed(rest)]
        flag = BY_NAME.get(word)
        if flag is not None and flag.kind == "optional":
            value = rest.pop() if rest and not rest[-1].startswith("-") else ""
            word = f"{flag.names[0]}={value}"
        words.append(word)
    return words


def _run(app: typer.Typer, arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        code: Any = command.main(arguments, prog_name="agent", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return Exit.SIGINT
    except TyperException as error:
        sys.stderr.write(f"agent: {_sentence(error.format_message(), arguments)}\n")
        sys.stderr.write("Try agent --help.\n")
        return Exit.USAGE
    return code if isinstance(code, int) else Exit.OK


def _launcher(found: Callable[[LaunchOptions], None]) -> Callable[..., None]:
    """A function with one parameter for each flag: what typer builds a command from."""

    def launch(prompt: list[str], **values: Any) -> None:
        if len(prompt) > 1:
            raise Conflict(
                f'More than one prompt: "{prompt[0]}" and "{prompt[1]}". '
                'Quote it: agent "fix the bug". A flag takes one value: repeat it for more.'
            )
        given = Given()
        for flag in FLAGS:
            for value in _occurrences(flag, values[_parameter(flag)]):
                given.put(flag, value, flag.names[0])
        found(finish(given, "".join(prompt)))

    parameters = [
        inspect.Parameter(
            "prompt",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=list[str],
            default=typer.Argument([], metavar="[PROMPT]", help="What to do.", show_default=False),
        ),
        *(_typer_parameter(flag) for flag in FLAGS),
    ]
    launch.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    launch.__annotations__ = {each.name: each.annotation for each in parameters}
    return launch


def _occurrences(flag: Flag, value: Any) -> list[Any]:
    if flag.kind == "switch":
        return [flag.value] if value else []
    found: list[Any] = []
    for text in value:
        read = convert(flag, str(text))
        if read is None:
            choices = f" Choose one of {', '.join(flag.choices)}." if flag.choices else ""
            wanted = {"integer": " It takes a whole number.", "number": " It takes a number."}
            hint = choices or wanted.get(flag.kind, "")
            raise Conflict(f'{flag.names[0]} cannot be "{text}".{hint}')
        found.append(read)
    return found


def _typer_parameter(flag: Flag) -> inspect.Parameter:
    switch = flag.kind == "switch"
    help = f"{flag.help} ({', '.join(flag.choices)})" if flag.choices else flag.help
    option = typer.Option(
        False if switch else [],
        *flag.spellings,
        help=help,
        metavar=None if switch else flag.metavar or "NAME",
        rich_help_panel=flag.group,
        hidden=flag.hidden,
        show_default=False,
    )
    return inspect.Parameter(
        _parameter(flag),
        inspect.Parameter.KEYWORD_ONLY,
        annotation=bool if switch else list[str],
        default=option,
    )


def _parameter(flag: Flag) -> str:
    return "flag_" + flag.names[0].strip("-").replace("-", "_").lower()


def _sentence(message: str, arguments: Sequence[str]) -> str:
    """Click's message, with the nearest flag where one was mistyped."""
    for word in arguments:
        name = word.partition("=")[0]
        if name.startswith("-") and name in message and name not in BY_NAME:
            near = difflib.get_close_matches(name, BY_NAME, n=2, cutoff=0.7)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            return f"There is no flag {name}.{hint}"
    return message
