"""The one registry of slash commands: every front end lists, completes and runs from here.

Commands come from sources that are asked what they have now. Who comes first has the short name; a
later one keeps its qualified name, such as `project:deploy`.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.agent.commands.outcome import Outcome, Problem
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import Job

BUILT_IN = "built-in"
LOOKS = 5.0  # seconds that sources have to look at their files
# What a command is, the first word on a name first; whatever else there is comes before these.
KINDS = ("skill", "workflow", "command file", "prompt")


class RuleBook(Protocol):
    """The permission rules in force, as rows for people, and changes to them."""

    def table(self) -> Sequence[Block]: ...
    def why(self, number: int) -> Sequence[Block]:
        """How the n-th last decision came about. Raises ValueError where there is none."""
        ...

    def add(self, behavior: str, rule: str) -> str:
        """Add a session rule; returns what to tell the person. Raises ValueError with a reason."""
        ...

    def remove(self, rule: str) -> str: ...


class Modes(Protocol):
    """The permission mode; names are resolved by whoever knows the mode table."""

    def current(self) -> str: ...
    def set(self, name: str) -> str:
        """Switch and return the canonical name. Raises ValueError naming the valid ones."""
        ...

    def after(self, mode: str) -> str:
        """The next mode of the Shift+Tab cycle."""
        ...

    def caution(self, name: str) -> str:
        """What a person agrees to who enters that mode here; empty where nothing is to be said."""
        ...

    def plan_file(self) -> Path | None:
        """Where the plan of this session is, or will be."""
        ...

    def rows(self) -> Sequence[tuple[str, str]]:
        """Every mode a person may choose, with what runs in it without asking."""
        ...


class InUse(Protocol):
    """The model that a person chose, and how much it thinks; empty: nothing was chosen."""

    @property
    def name(self) -> str: ...
    @property
    def effort(self) -> str: ...


class ListedJobs(Protocol):
    """The background work of a session."""

    def rows(self) -> Sequence[TaskRow]: ...
    def known(self, id: str) -> Job:
        """Raises GatewrightError where there is none."""
        ...

    async def stop(self, id: str) -> str: ...


class TaskRow(msgspec.Struct, frozen=True):
    """A job at one moment: how it stands, how long it runs or ran, the last line it printed.

    Of an agent also what it used, and its path.
    """

    id: str
    title: str
    status: str
    running: bool
    seconds: float
    last: str
    kind: str = "shell"
    tokens: int = 0
    cost: float = 0.0
    agent: str = ""


Resume: TypeAlias = Callable[[str], Awaitable[Outcome]]  # an agent, by its path


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """What a front end can do."""

    switches: bool = False  # go over to another session
    panels: bool = False  # open lists and forms: nothing has to be told in their place
    asks: bool = False  # send itself what a command asks the model
    typed: bool = True  # a person wrote the line just now
    agrees: bool = True  # a person may say here that nothing is to be asked


LINES = Front()  # what is said is all it shows


class CommandContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a line says, and what the front end it was typed into can do."""

    name: str = ""
    args: str = ""
    raw: str = ""
    front: Front = LINES
    busy: bool = False  # a turn is running


Handler: TypeAlias = Callable[[CommandContext], Awaitable[Outcome]]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """`args` is the hint shown behind the name; `source` says whose it is.

    `screen` marks what only a screen can do. One that is `hidden` is in no list: whoever types it
    is told why it is not run. One that `leaves` is done by a front end alone.
    """

    name: str
    summary: str
    run: Handler
    args: str = ""
    aliases: tuple[str, ...] = ()
    source: str = BUILT_IN
    kind: str = ""  # of KINDS
    screen: bool = False
    hidden: bool = False
    leaves: bool = False

    @property
    def qualified(self) -> str:
        return f"{self.source}:{self.name}"


CommandSource: TypeAlias = Callable[[], Sequence[Command]]


class Looking:
    """A source that can see whether it has others by now; then it says `changed` itself."""

    def __init__(self, now: CommandSource, look: Callable[[], Awaitable[None]]) -> None:
        self._now, self.look = now, look

    def __call__(self) -> Sequence[Command]:
        return self._now()


class Mention(msgspec.Struct, frozen=True, omit_defaults=True):
    """What can be named behind an @, besides files; where it is `open` the name goes on."""

    name: str
    about: str = ""
    open: bool = False


class Commands:
    """The commands of all sources by every name that leads to them.

    Sources are asked once and then only after `changed`, so that listing costs nothing per key.
    """

    def __init__(self, *sources: CommandSource) -> None:
        self._sources = list(sources)
        self._by_name: dict[str, Command] = {}
        self._known: tuple[Command, ...] = ()
        self._fresh = False
        self.revision = 0  # counts the changes, for whoever keeps a list

    def add(self, source: CommandSource) -> None:
        """A further source; what is built in still comes before all others."""
        self._sources.append(source)
        self.changed()

    def changed(self) -> None:
        """A source says that it has other commands now."""
        self._fresh = False
        self.revision += 1

    async def look(self) -> bool:
        """A menu opens: whether there are others than before. Sources look beside the loop."""
        before = self.revision
        for source in tuple(self._sources):
            if isinstance(source, Looking):
                await source.look()
        return self.revision != before

    def __iter__(self) -> Iterator[Command]:
        """Each under the name that leads to it, with the aliases that are its own."""
        self._refresh()
        return iter(self._known)

    def find(self, name: str) -> Command | None:
        self._refresh()
        return self._by_name.get(name.lower())

    def nearest(self, name: str) -> str:
        self._refresh()
        names = [each for each, known in self._by_name.items() if not known.hidden]
        begun = sorted(
            (each for each in names if len(name) > 1 and each.startswith(name.lower())), key=len
        )
        close = begun or difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.65)
        return close[0] if close else ""

    def missing(self, name: str) -> Problem:
        """What to say where there is no such command."""
        near = self.nearest(name)
        hint = f"Did you mean /{near}?" if near else "/help lists them."
        return Problem.of(f"There is no command /{name}. {hint}")

    async def run(self, line: str, front: Front = LINES, *, busy: bool = False) -> Outcome:
        """Run `/name args`; an unknown name is answered with the nearest one."""
        name, _, args = line.removeprefix("/").partition(" ")
        context = CommandContext(args=args.strip(), raw=line, front=front, busy=busy)
        return await self._call(name, context)

    async def call(self, name: str, args: str = "", *, front: Front = LINES) -> Outcome:
        """What a key does that does the same as a command."""
        raw = f"/{name} {args}" if args else ""
        return await self._call(name, CommandContext(args=args, raw=raw, front=front))

    async def _call(self, name: str, context: CommandContext) -> Outcome:
        """What a handler raises of what the world does is told, whichever it is."""
        command = self.find(name) or await self._written_now(name)
        if command is None:
            return self.missing(name)
        try:
            return await command.run(replace(context, name=command.name))
        except GatewrightError as error:
            return Problem.of(str(error))

    async def _written_now(self, name: str) -> Command | None:
        """Sources are looked at once more before anybody is told that there is no such command."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.look(), LOOKS)
        return self.find(name)

    def _refresh(self) -> None:
        if self._fresh:
            return
        self._fresh = True
        taken: dict[str, str] = {}  # a name, and whose it is
        found: dict[str, Command] = {}
        every = [command for source in self._sources for command in source()]
        every.sort(key=_rank)
        for command in every:
            if found.setdefault(qualified := command.qualified.lower(), command) is command:
                for name in (command.name, *command.aliases):
                    taken.setdefault(name.lower(), qualified)
        for qualified, command in found.items():  # whoever needs that one has it
            if taken[command.name.lower()] != qualified:
                taken[qualified] = qualified
        self._by_name = {}
        shown: list[Command] = []
        for qualified, command in found.items():
            own = [n for n in (command.name, *command.aliases) if taken[n.lower()] == qualified]
            name = command.name if command.name in own else command.qualified
            known = replace(command, name=name, aliases=tuple(n for n in own if n != name))
            shown.append(known)
            self._by_name.update((n.lower(), known) for n in own)
        for qualified, known in zip(found, shown, strict=True):
            self._by_name.setdefault(qualified, known)
        self._known = tuple(known for known in shown if not known.hidden)


def _rank(command: Command) -> tuple[bool, bool, int]:
    kind = KINDS.index(command.kind) if command.kind in KINDS else -1
    return command.hidden, command.source != BUILT_IN, kind


def always(*commands: Command) -> CommandSource:
    """A source that never changes."""
    return lambda: commands
