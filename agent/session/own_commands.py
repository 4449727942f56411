"""The built-in commands of a session, made where their state is; what it lacks has no commands.

Loaded when somebody asks for the list: twenty modules that a printed answer does without.
"""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.autonomy.memory.learnt_book import LearntBook
from gatewright.agent.commands.bug import bug_commands
from gatewright.agent.commands.config import mode_commands, rule_commands
from gatewright.agent.commands.core import exit_commands, help_commands
from gatewright.agent.commands.diff import diff_commands
from gatewright.agent.commands.history import past_commands
from gatewright.agent.commands.importing import import_commands
from gatewright.agent.commands.memory import memory_commands
from gatewright.agent.commands.models import model_commands
from gatewright.agent.commands.plan import plan_commands
from gatewright.agent.commands.registry import Command, Commands
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.commands.session import session_commands
from gatewright.agent.commands.session_switch import Left, switch_commands
from gatewright.agent.commands.settings import setting_commands
from gatewright.agent.commands.setup import setup_commands
from gatewright.agent.commands.statusline import statusline_commands
from gatewright.agent.commands.tasks import task_commands
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.session.start.known_commands import State, opting_in
from gatewright.agent.session.status.status_rows import status_rows
from gatewright.agent.settings.overview import SettingsBook


def own_commands(state: State, known: Commands) -> Sequence[Command]:
    """What the session itself can do."""
    return (*help_commands(known), *_of_books(state), *_of_session(state), *exit_commands())


def _of_books(state: State) -> Sequence[Command]:
    """How the session works."""
    modes, in_use = state.frame.modes, state.in_use
    rules, models = state.part(PermissionBook), state.part(ModelBook)
    found = [*mode_commands(modes)]
    if rules is not None:
        found += rule_commands(state.frame.rules, rules)
    if models is not None:
        found += model_commands(models, in_use, lambda: opting_in(state) is not None)
    if (settings := state.part(SettingsBook)) is not None:
        if models is not None:
            found += setup_commands(models, settings, in_use)
        found += setting_commands(settings, modes)
        found += import_commands(settings)
        found += statusline_commands(settings)
    return found


def _of_session(state: State) -> Sequence[Command]:
    """What was said and done in it."""
    frame, past, in_use = state.frame, state.past, state.in_use
    rules, settings = state.part(PermissionBook), state.part(SettingsBook)
    left = Left(frame.modes, in_use, rules.restrictions if rules is not None else tuple)
    facts = status_rows(frame, state.brought, in_use)
    found = [
        *session_commands(past, left, lambda: frame.spending.table(frame.costs), facts),
        *past_commands(past, between=switch_commands(past, left)),
        *task_commands(state.jobs, state.resume),
    ]
    if past.review is not None:
        found += diff_commands(past.review)
    found += plan_commands(frame.modes)
    if settings is not None:
        found += bug_commands(settings, frame.modes, in_use)
    if (memory := state.part(MemoryBook)) is not None:
        found += memory_commands(memory, lambda: state.part(LearntBook))
    return found
