"""Settle what a command line leaves open before anything starts: front end, mode, prompt files."""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.ignored_flags import idle_flags
from gatewright.agent.launch.options import LaunchOptions

GONE = "The current directory is no longer there: change to another one."
NO_TEXT = (
    "The name of the current directory is not UTF-8, and a session is kept as text. "
    "Rename it, or start in another directory."
)
CLOSED = "Standard output is closed: nobody would see the answer."
PROMPT_FILE_BYTES = 1024 * 1024


class Manner(enum.Enum):
    """How the person and the program talk."""

    DUMP = "dump"
    PRINT = "print"
    LINES = "lines"
    SCREEN = "screen"


def manner(options: LaunchOptions) -> Manner:
    """A screen needs a terminal on both ends; without one, what is piped in is answered."""
    if options.dump_system_prompt:
        return Manner.DUMP
    if options.prints:
        return Manner.PRINT
    if options.plain:
        return Manner.LINES
    if not (is_terminal(0) and is_terminal(1)):
        return Manner.PRINT
    return Manner.LINES if os.environ.get("TERM", "") == "dumb" else Manner.SCREEN


def require_known_tools(
    options: LaunchOptions, unknown: Callable[[str], str], unknown_offer: Callable[[str], str]
) -> None:
    """Raises UsageError for what --disallowedTools would not forbid, and --tools not offer."""
    for rule in options.disallowed_tools:
        if told := unknown(rule):
            raise UsageError(f"--disallowedTools {rule} would forbid nothing. {told}")
    for name in options.tools or ():
        if told := unknown_offer(name):
            raise UsageError(f"--tools {name} would offer nothing. {told}")


def settled(options: LaunchOptions, chosen_mode: Callable[[str], str]) -> LaunchOptions:
    """The options with canonical mode and prompt texts. Raises UsageError."""
    keep_standard_streams()
    require_directory()
    changes: dict[str, object] = {}
    if options.mode:
        try:
            changes["mode"] = chosen_mode(options.mode)
        except ValueError as error:
            raise UsageError(f"--permission-mode: {error}") from error
    if options.cwd and not Path(options.cwd).is_dir():
        raise UsageError(f"--cwd: there is no directory {options.cwd}.")
    require_added(options)
    if options.system_prompt_file:
        changes["system_prompt"] = _text(options.system_prompt_file, "--system-prompt-file")
    if options.append_system_prompt_file:
        name = "--append-system-prompt-file"
        changes["append_system_prompt"] = _text(options.append_system_prompt_file, name)
    if options.worktree is not None:
        from gatewright.agent.worktrees.names import wanted  # noqa: PLC0415  only with --worktree

        if not wanted(options.worktree).pull:  # it raises; and one name holds for the whole run
            changes["worktree"] = wanted(options.worktree).slug.replace("+", "/")
    if options.tools == ("default",):
        changes["tools"] = None
    if options.json_schema:
        changes["json_schema"] = _schema(options.json_schema)
    return msgspec.structs.replace(options, **changes) if changes else options


def require_added(options: LaunchOptions) -> None:
    """Raises UsageError for a directory of --add-dir that is none."""
    for text in options.add_dirs:
        path = Path(options.cwd, os.path.expanduser(text))  # noqa: PTH111  a ~ that means nobody stays
        if not path.is_dir():
            what = "is no directory" if path.exists() else "does not exist"
            raise UsageError(f"--add-dir: {text} {what}.")


def require_directory() -> None:
    """Raises GatewrightError where the current directory is gone, or no text can name it."""
    try:
        str(Path.cwd()).encode()
    except FileNotFoundError as error:
        raise GatewrightError(GONE) from error
    except UnicodeEncodeError as error:
        raise GatewrightError(NO_TEXT) from error


def warn_of_idle_flags(options: LaunchOptions) -> None:
    """Say on standard error which of the given flags change nothing so far."""
    for text in idle_flags(options):
        sys.stderr.write(f"agent: {text}\n")


def is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False


def keep_standard_streams() -> None:
    """Fill closed descriptors 0 to 2: the next file opened would take their place.

    Raises GatewrightError when nobody could read the answer.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            if fd == 1:
                raise GatewrightError(CLOSED) from None
            if fd == 2:
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _schema(given: str) -> str:
    """The text of a valid schema, given itself or as a file."""
    from gatewright.agent.turn.structured_answer import Shape  # noqa: PLC0415  only when asked for

    text = given if given.lstrip().startswith("{") else _text(given, "--json-schema")
    Shape(text).check()
    return text


def _text(name: str, flag: str) -> str:
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(PROMPT_FILE_BYTES)
    except OSError as error:
        raise UsageError(f"{flag}: cannot read {name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{flag}: {name} is not UTF-8 text.") from error
