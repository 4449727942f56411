"""Sub-commands through typer: run, with their mistakes explained, and looked at for completion."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import EnumType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.exceptions import TyperException

from gatewright.agent.launch.exits import Exit
from gatewright.agent.subcommands.names import module_of

if TYPE_CHECKING:  # most sub-commands begin no session
    from gatewright.agent.client.brought import Brought
    from gatewright.agent.launch.options import LaunchOptions
    from gatewright.agent.session.session import Session

Command = TyperCommand | TyperGroup


class Starting(NamedTuple):
    """What a sub-command is lent that begins sessions: opening one, leaving the process."""

    opener: Opener
    leave: Callable[[int], int]
    load: Callable[[], Awaitable[None]]  # what opening a session needs, before one is wanted


class Opener(Protocol):
    def __call__(
        self, options: LaunchOptions, *, interactive: bool, client: Brought | None = None
    ) -> Callable[[], Awaitable[Session]]: ...


def run_subcommand(arguments: Sequence[str], starting: Starting | None = None) -> int:
    """Run the sub-command that the first argument names; only its module is imported."""
    command = application(arguments[0])
    try:
        code: Any = command.main(
            list(arguments), prog_name="agent", standalone_mode=False, obj=starting
        )
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return Exit.SIGINT
    except TyperException as error:
        meant, path = named_by(command, arguments)
        if below(meant) and list(arguments) == path:  # its help, and no mistake
            sys.stderr.write(f"{error.format_message()}\n")
            return Exit.USAGE
        sys.stderr.write(f"agent: {_sentence(error.format_message(), arguments, meant)}\n")
        sys.stderr.write(f"Try {' '.join(('agent', *path))} --help.\n")
        return Exit.USAGE
    return code if isinstance(code, int) else Exit.OK


def application(name: str) -> Command:
    """The program with this sub-command alone."""
    module = vars(importlib.import_module(module_of(name)))
    app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    app.callback()(_nothing)
    if "register" in module:  # what is no group
        module["register"](app)
    else:
        app.add_typer(module["group"], name=name)
    command = typer.main.get_command(app)
    assert isinstance(command, Command)
    _summarise(command)
    return command


def _nothing() -> None:
    """Makes the application a group also where it has a single command."""


def below(command: Command) -> dict[str, Command]:
    if not isinstance(command, TyperGroup):
        return {}
    found = command.commands
    return {name: each for name, each in found.items() if isinstance(each, Command)}


def named_by(command: Command, words: Sequence[str]) -> tuple[Command, list[str]]:
    """The command that the words lead to, and its path."""
    path: list[str] = []
    for word in words:
        if word in (inside := below(command)):
            command = inside[word]
            path.append(word)
        elif not word.startswith("-"):
            break
    return command, path


def flags_of(command: Command) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Each flag with its help, and the values it takes where they are few."""
    yield ("--help", "Show what it does.", ())
    for param in command.params:
        if isinstance(param, TyperOption):
            names = (*param.opts, *param.secondary_opts)
            yield from ((name, param.help or "", _choices(param)) for name in names)


def choices_of(command: Command, number: int) -> tuple[str, ...]:
    """The values that an argument takes, where they are few; the first is number 0."""
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    return _choices(arguments[number]) if number < len(arguments) else ()


def _choices(param: TyperOption | TyperArgument) -> tuple[str, ...]:
    kind = param.type_descriptor.annotation
    return tuple(map(str, kind)) if isinstance(kind, EnumType) else ()


def _summarise(command: Command) -> None:
    """Lists of commands show the first sentence whole: typer cuts what it shortens itself."""
    for each in below(command).values():
        each.short_help = inspect.cleandoc(each.help or "").partition("\n\n")[0]
        _summarise(each)


def _sentence(message: str, arguments: Sequence[str], command: Command) -> str:
    """typer's message, with the nearest flag of the command where one was mistyped."""
    known = [name for name, _, _ in flags_of(command)]
    for word in arguments:
        name = word.partition("=")[0]
        if name.startswith("-") and name in message and name not in known:
            near = difflib.get_close_matches(name, known, n=2, cutoff=0.7)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            return f"There is no flag {name}.{hint}"
    return message
