"""The one registry of slash commands: every front end lists, completes and runs from here."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.tools.blocks import Block

if TYPE_CHECKING:
    from gatewright.agent.commands.rule_editor import PermissionBook
    from gatewright.agent.context.instruction_files import MemoryBook
    from gatewright.agent.models.choices import ModelBook
    from gatewright.agent.session.history_actions import Past
    from gatewright.agent.session.jobs import SessionJobs
    from gatewright.agent.settings.overview import SettingsBook


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


class CommandContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a command may look at. `switches`: the front end can go over to another session."""

    modes: Modes
    rules: RuleBook
    model: str
    commands: Commands
    spending: Sequence[Block] = ()
    past: Past | None = None
    memory: MemoryBook | None = None
    models: ModelBook | None = None
    settings: SettingsBook | None = None
    permissions: PermissionBook | None = None
    effort: str = ""
    switches: bool = False
    panels: bool = False  # the front end opens panels: nothing has to be told in their place
    busy: bool = False
    jobs: SessionJobs | None = None


Handler: TypeAlias = Callable[[str, CommandContext], Awaitable[Outcome]]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """`args` is the hint shown behind the name; `screen` marks what only a TUI can do."""

    name: str
    summary: str
    run: Handler
    args: str = ""
    aliases: tuple[str, ...] = ()
    source: str = "built-in"
    screen: bool = False


class Commands:
    """Commands by name and alias, in the order they were added."""

    def __init__(self, commands: Sequence[Command] = ()) -> None:
        self._by_name: dict[str, Command] = {}
        for command in commands:
            self.add(command)

    def add(self, command: Command) -> None:
        for name in (command.name, *command.aliases):
            if name in self._by_name:
                raise ValueError(f"two commands are called /{name}")
            self._by_name[name] = command

    def __iter__(self) -> Iterator[Command]:
        seen: Mapping[str, Command] = {c.name: c for c in self._by_name.values()}
        return iter(seen.values())

    def find(self, name: str) -> Command | None:
        return self._by_name.get(name.lower())

    def nearest(self, name: str) -> str:
        close = difflib.get_close_matches(name.lower(), self._by_name, n=1, cutoff=0.5)
        return close[0] if close else ""

    async def run(self, line: str, context: CommandContext) -> Outcome:
        """Run `/name args`; an unknown name is answered with the nearest one."""
        name, _, args = line.removeprefix("/").partition(" ")
        command = self.find(name)
        if command is None:
            near = self.nearest(name)
            hint = f" Did you mean /{near}?" if near else " /help lists them."
            return Say.text(f"There is no command /{name}.{hint}", "warning")
        return await command.run(args.strip(), context)
