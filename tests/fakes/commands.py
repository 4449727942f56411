"""The built-in commands over whatever a test has: made anew for every line, as live sources are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gatewright.agent.commands.bug import bug_commands
from gatewright.agent.commands.config import mode_commands, rule_commands
from gatewright.agent.commands.core import exit_commands, help_commands
from gatewright.agent.commands.diff import diff_commands
from gatewright.agent.commands.history import past_commands
from gatewright.agent.commands.importing import import_commands
from gatewright.agent.commands.memory import memory_commands
from gatewright.agent.commands.models import model_commands
from gatewright.agent.commands.outcome import Change, Outcome, Problem, Say, SetModel, said
from gatewright.agent.commands.plan import plan_commands
from gatewright.agent.commands.registry import (
    LINES,
    Command,
    CommandContext,
    Commands,
    Front,
    ListedJobs,
    Modes,
    RuleBook,
    always,
)
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.commands.session import session_commands
from gatewright.agent.commands.session_switch import Left, switch_commands
from gatewright.agent.commands.settings import setting_commands
from gatewright.agent.commands.setup import setup_commands
from gatewright.agent.commands.statusline import statusline_commands
from gatewright.agent.commands.tasks import task_commands
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.session.history_actions import Past
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.blocks import Block, plain
from tests.fakes.house import FakeModes, FakeRules

NOBODY: Any = cast("Any", None)  # asked by commands that the test does not run


@dataclass
class InUse:
    name: str = "demo"
    effort: str = ""


async def not_resumed(agent: str) -> Outcome:
    return Problem.of(f"{agent} cannot go on.")


@dataclass
class Desk:
    """What commands are about; what is missing is never asked."""

    modes: Modes = field(default_factory=FakeModes)
    rules: RuleBook = field(default_factory=FakeRules)
    in_use: InUse = field(default_factory=InUse)
    permissions: PermissionBook | None = None
    models: ModelBook | None = None
    settings: SettingsBook | None = None
    memory: MemoryBook | None = None
    past: Past | None = None
    jobs: ListedJobs | None = None
    spent: Sequence[Block] = ()

    def commands(self) -> Commands:
        known = Commands()
        known.add(lambda: self.listed(known))
        return known

    def listed(self, known: Commands) -> Sequence[Command]:
        modes, in_use, past = self.modes, self.in_use, self.past or NOBODY
        settings: SettingsBook = self.settings or NOBODY
        models: ModelBook = self.models or NOBODY
        book: PermissionBook = self.permissions or NOBODY
        left = Left(modes, in_use, book.restrictions if book else tuple)
        review = past.review if past else None
        return (
            *help_commands(known),
            *mode_commands(modes),
            *(rule_commands(self.rules, book) if self.permissions else self._rules()),
            *(model_commands(models, in_use) if self.models else self._model()),
            *_of(self.models, setup_commands(models, settings, in_use)),
            *_of(self.settings, setting_commands(settings, modes)),
            *_of(self.settings, import_commands(settings)),
            *_of(self.settings, statusline_commands(settings)),
            *session_commands(past, left, lambda: self.spent),
            *_of(self.past, past_commands(past, between=switch_commands(past, left))),
            *_of(self.jobs, task_commands(self.jobs or NOBODY, not_resumed)),
            *_of(review, diff_commands(review or NOBODY)),
            *plan_commands(modes),
            *_of(self.settings, bug_commands(settings, modes, in_use)),
            *_of(self.memory, memory_commands(self.memory or NOBODY)),
            *exit_commands(),
        )

    def _model(self) -> Sequence[Command]:
        """Without anybody who knows models."""
        first, *others = model_commands(NOBODY, self.in_use)
        others = list(_of(None, others))

        async def run(context: CommandContext) -> Outcome:
            if context.args:
                return Change(SetModel(context.args))
            return Say.text(f"Model: {self.in_use.name or 'none yet'}. /model NAME switches.")

        return (_running(first, run), *others)

    def _rules(self) -> Sequence[Command]:
        """Without settings files to keep them in."""
        (first, *others) = rule_commands(self.rules, NOBODY)

        async def run(context: CommandContext) -> Outcome:
            verb, _, rule = context.args.partition(" ")
            if not verb:
                return Say(tuple(self.rules.table()))
            if verb == "remove" and rule:
                return Say.text(self.rules.remove(rule))
            return await first.run(context)

        return (_running(first, run), *others)

    async def run(self, line: str, front: Front = LINES) -> Outcome:
        return await self.commands().run(line, front)


def _of(state: object, commands: Sequence[Command]) -> Sequence[Command]:
    """Where a test has nothing that they are about, they say so."""

    async def run(context: CommandContext) -> Outcome:
        return Problem.of(f"There is nothing here that /{context.name} is about.")

    return commands if state is not None else [_running(command, run) for command in commands]


def _running(command: Command, run: Any) -> Command:
    return Command(
        name=command.name,
        summary=command.summary,
        args=command.args,
        aliases=command.aliases,
        run=run,
    )


def add_command(known: Commands, name: str, run: Any) -> None:
    """A command of the test's own, before those of the same name."""
    known.add(always(Command(name=name, summary="", run=run)))


def built_in() -> Sequence[Command]:
    """What every session with all its books has, in the order of `/help`."""
    return tuple(Desk().commands())


def told(outcome: Outcome) -> str:
    """What a front end says that opens nothing."""
    return "\n".join(map(plain, said(outcome)))
