"""The process entry: nothing but `sys` is imported until it is known what was asked for."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in typing, whose import would cost more than the rest of --version
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gatewright.agent.client.brought import Brought
    from gatewright.agent.commands.outcome import Switch
    from gatewright.agent.launch.options import LaunchOptions
    from gatewright.agent.session.session import Session
    from gatewright.tui.early.prompt import Early

VERSION_FLAGS = (["--version"], ["-V"], ["-v"])
# The first frame looks the same with these; what a word behind the last two is nobody asks yet.
CONTINUING = ("-c", "--continue")
NAMING = ("--model", "--permission-mode")


def main() -> int:
    try:
        code = begun(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        return unread()
    return code


def begun(arguments: list[str]) -> int:
    if arguments in VERSION_FLAGS:
        return show_version()
    from gatewright.agent.launch.own_modules import install  # noqa: PLC0415  lazy: 0.3 ms

    install(__file__)
    if arguments[:1] == ["ps"] and (code := in_background(arguments, None)) is not None:
        return code  # it needs nothing of what the rest loads, 60 ms
    return launch(arguments, begin_early(arguments))


def unread() -> int:
    """Whoever read what is printed has gone: as quiet as any filter."""
    import os  # noqa: PLC0415  loaded by the interpreter

    from gatewright.agent.launch.exits import Exit  # noqa: PLC0415  lazy: 1 ms

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what waits to go out is not tried again
    return Exit.SIGPIPE


def begin_early(arguments: Sequence[str]) -> Early | None:
    """Take keys at once where the command line says nothing but that a screen is wanted."""
    words = iter(() if is_attach(arguments) else arguments)
    for word in words:
        if word not in CONTINUING and (word not in NAMING or next(words, "-").startswith("-")):
            return None
    import os  # noqa: PLC0415  loaded by the interpreter

    from gatewright.tui.early.prompt import begin  # noqa: PLC0415  lazy: 5 ms, before all else

    return begin(os.environ)


def show_version() -> int:
    """The name first: clients of another agent take a leading number for one of theirs."""
    from gatewright.agent.version import NAME, VERSION  # noqa: PLC0415  lazy: 0.2 ms

    sys.stdout.write(f"{NAME} {VERSION}\n")
    return 0


def show_help() -> int:
    import shutil  # noqa: PLC0415  lazy: 6 ms

    from gatewright.agent.launch.help_text import usage  # noqa: PLC0415  lazy: 5 ms

    sys.stdout.write(usage(shutil.get_terminal_size().columns))
    return 0


def launch(arguments: Sequence[str], early: Early | None = None) -> int:
    """Read the command line and start what it asks for; returns the exit code."""
    from gatewright.agent.errors import GatewrightError  # noqa: PLC0415  lazy: 1 ms
    from gatewright.agent.launch.argv import Conflict, parse  # noqa: PLC0415  lazy: 20 ms, msgspec
    from gatewright.agent.launch.exits import Exit, code_for  # noqa: PLC0415  lazy: 1 ms

    if list(arguments) == ["help"]:
        return show_help()
    if arguments[:1] == ["__complete"]:  # what the scripts of agent/subcommands/completion.py ask
        from gatewright.agent.subcommands.completing import answer  # noqa: PLC0415  lazy: 20 ms

        sys.stdout.write(answer(arguments[1], arguments[2:]) if len(arguments) > 1 else "")
        return 0
    try:
        if arguments and (code := named(arguments, early)) is not None:
            return code
        options = parse(arguments, is_tool)
        if options.help:
            return show_help()
        return show_version() if options.version else started(options, early)
    except Conflict as conflict:
        return complain(f"{conflict}\nTry agent --help.", Exit.USAGE)
    except GatewrightError as error:
        return complain(str(error), code_for(error))
    except KeyboardInterrupt:
        return Exit.SIGINT


def named(arguments: Sequence[str], early: Early | None) -> int | None:
    """What the first word names, if it is no prompt. Raises Conflict for what it nearly names."""
    from gatewright.agent.launch.argv import Conflict  # noqa: PLC0415  loaded by now
    from gatewright.agent.subcommands.names import (  # noqa: PLC0415  lazy: 1 ms
        SUBCOMMANDS,
        elsewhere,
        mistyped,
    )

    word = arguments[0]
    if (code := in_background(arguments, early)) is not None:
        return code
    if word in SUBCOMMANDS:
        from gatewright.agent.launch.cli import (  # noqa: PLC0415  lazy: 44 ms, typer
            Starting,
            run_subcommand,
        )

        return run_subcommand(arguments, Starting(opener, leave, load))
    if told := elsewhere(word):
        raise Conflict(told)
    if near := mistyped(word):
        raise Conflict(f"Did you mean agent {near}? As a prompt it is: agent -- {word}")
    return None


def in_background(arguments: Sequence[str], early: Early | None) -> int | None:
    """What is about sessions in the background and must be quick, or is one; else None."""
    if arguments[0] in ("bg", "ps"):
        from gatewright.agent.subcommands.background.quick import quick  # noqa: PLC0415  lazy: 20 ms

        return quick(arguments)
    if is_attach(arguments):
        from gatewright.agent.launch.screens import attach  # noqa: PLC0415  lazy: 1 ms
        from gatewright.agent.subcommands.background.attach_target import visit  # noqa: PLC0415  lazy: 60 ms

        try:
            return leave(attach(*visit(arguments[1]), early))
        finally:
            if early is not None:
                early.close()
    if list(arguments) != ["__background"]:  # running/launch.py says it
        return None
    from gatewright.agent.autonomy.running.entry import entered  # noqa: PLC0415  lazy: 1 ms
    from gatewright.agent.launch.kept_log import keep_log  # noqa: PLC0415  lazy: 1 ms

    launch = entered()
    keep_log(launch.options)
    from gatewright.agent.autonomy.running.background import run  # noqa: PLC0415  lazy: 100 ms

    return leave(run(launch, opener, chosen_mode))


def is_attach(arguments: Sequence[str]) -> bool:
    return len(arguments) == 2 and arguments[0] == "attach" and arguments[1][:1] != "-"


def started(options: LaunchOptions, early: Early | None) -> int:
    """The terminal is as it was before anything is said of what failed."""
    try:
        return start(options, early)
    finally:
        if early is not None:
            early.close()


def start(options: LaunchOptions, early: Early | None = None) -> int:
    """Choose the front end."""
    from gatewright.agent.launch.starting import (  # noqa: PLC0415  lazy: 1 ms
        Manner,
        manner,
        require_known_tools,
        settled,
        warn_of_idle_flags,
    )

    how = manner(options)
    options = settled(options, chosen_mode)
    require_known_tools(options, unknown_tool, unknown_offer)
    warn_of_idle_flags(options)
    from gatewright.agent.launch.kept_log import keep_log  # noqa: PLC0415  lazy: 1 ms

    keep_log(options)
    match how:
        case Manner.DUMP:
            return dump(options)
        case Manner.PRINT:
            import gc  # noqa: PLC0415  lazy: 0.1 ms

            gc.disable()  # 6 ms of a start; print mode puts it on again once its session is open
            from gatewright.agent.frontends import headless  # noqa: PLC0415  lazy: 60 ms, asyncio
            from gatewright.agent.frontends.stdin import may_wait  # noqa: PLC0415

            if may_wait(0):
                from gatewright.agent.launch.preload import preload  # noqa: PLC0415

                preload(("gatewright.agent.build",))
            return leave(headless.run(options, opener(options, interactive=options.answers_asks)))
        case Manner.LINES:
            return leave(converse(options))
        case Manner.SCREEN:
            return leave(show(options, early))


def converse(options: LaunchOptions) -> int:
    """Line by line, with what the screen knows about text that nobody vouches for."""
    from gatewright.agent.frontends import line  # noqa: PLC0415  lazy: 60 ms, asyncio
    from gatewright.tui.sanitize import stripped  # noqa: PLC0415  lazy: 3 ms
    from gatewright.tui.session_calls import remembered  # noqa: PLC0415  lazy: 10 ms
    from gatewright.tui.shell import OwnShell  # noqa: PLC0415  lazy: 1 ms

    ports = line.Ports(stripped, remembered, OwnShell(), others(options))
    return line.run(options, opener(options, interactive=True), ports)


def show(options: LaunchOptions, early: Early | None = None) -> int:
    """The screen, as the person set it up."""
    from gatewright.agent.launch.screens import Screens, Ways  # noqa: PLC0415  lazy: 1 ms

    def own(options: LaunchOptions) -> Callable[[], Awaitable[Session]]:
        return opener(options, interactive=True)

    return Screens(options, Ways(own, others)).run(early)


def others(options: LaunchOptions) -> Callable[[Switch], Awaitable[Session]]:
    """How a front end gets another session than the one it began with."""

    async def open_(to: Switch) -> Session:
        from gatewright.agent.session.start.switching import begin, options_for  # noqa: PLC0415  loaded by now

        session = await opener(options_for(options, to), interactive=True)()
        begin(session, to)
        return session

    return open_


def opener(
    options: LaunchOptions, *, interactive: bool, client: Brought | None = None
) -> Callable[[], Awaitable[Session]]:
    """How a front end gets its session, once its own loop runs; what it brings to it."""

    async def open_() -> Session:
        import os  # noqa: PLC0415  lazy: keeps --version at bare interpreter speed

        if interactive:
            await load()
        from gatewright.agent.build import open_session  # noqa: PLC0415  lazy: the whole core

        brings = {} if client is None else {"client": client}
        session = await open_session(options, os.environ, interactive=interactive, **brings)
        if options.name:
            session.past.rename(options.name)
        return session

    return open_


async def load() -> None:
    """Bring the core in, in a thread: the first keys are on the screen 80 ms sooner."""
    from asyncio import to_thread  # noqa: PLC0415  loaded by the front end
    from importlib import import_module  # noqa: PLC0415  lazy: 1 ms

    await to_thread(import_module, "gatewright.agent.build")


def dump(options: LaunchOptions) -> int:
    """Print the system prompt that a session started so would have."""
    import os  # noqa: PLC0415

    from msgspec.structs import replace  # noqa: PLC0415  loaded with the options

    from gatewright.agent.context.file_judge import readable_by  # noqa: PLC0415  lazy: the gate
    from gatewright.agent.models.opener import system_blocks  # noqa: PLC0415  lazy: the whole core
    from gatewright.agent.settings.policy_settings import policy_config  # noqa: PLC0415
    from gatewright.agent.settings.workspace import survey  # noqa: PLC0415
    from gatewright.permissions.policy import Policy  # noqa: PLC0415
    from gatewright.permissions.sandbox.ourselves import Ourselves  # noqa: PLC0415  lazy: 1 ms

    around = survey(options, os.environ, interactive=False)
    around = replace(around, wrap=Ourselves())
    readable = readable_by(Policy(policy_config(around, "default")), lambda: around.where)
    sys.stdout.write("\n\n".join(system_blocks(around, readable)) + "\n")
    return 0


def chosen_mode(name: str) -> str:
    """The canonical mode for a flag. Raises ValueError listing the valid names."""
    from gatewright.permissions.modes import flag_mode  # noqa: PLC0415  lazy: 3 ms

    return flag_mode(name)


def unknown_tool(rule: str) -> str:
    """What is wrong with the tool that a rule names; empty where there is such a tool."""
    from gatewright.permissions.rulebook.known_tools import unknown  # noqa: PLC0415  lazy: 5 ms, only with a rule
    from gatewright.permissions.rulebook.rules import tool_of  # noqa: PLC0415

    return unknown(tool_of(rule))


def unknown_offer(name: str) -> str:
    """The same of what --tools names, which may be a preset."""
    from gatewright.tools.registry import PRESETS  # noqa: PLC0415  lazy: 5 ms, only with --tools

    return "" if name in PRESETS else unknown_tool(name)


def is_tool(name: str) -> bool:
    """Whether a word behind --allowedTools is one more rule; else it is the prompt."""
    from gatewright.permissions.rulebook.known_tools import is_known  # noqa: PLC0415  lazy: 5 ms

    return is_known(name)


def complain(text: str, code: int) -> int:
    from gatewright.agent.text.printable import visible  # noqa: PLC0415  lazy: 2 ms

    sys.stderr.write(visible(f"agent: {text}\n"))
    return code


def leave(code: int) -> int:
    """End the process now: threads that still import or wait must not hold it up."""
    import os  # noqa: PLC0415

    sys.stdout.flush()
    sys.stderr.flush()
    if "gatewright.tools.shell.bash" in sys.modules:  # else no command was started
        from gatewright.tools.system.sweep import sweep_own  # noqa: PLC0415  lazy: loaded already

        sweep_own()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
