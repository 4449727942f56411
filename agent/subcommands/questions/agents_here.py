"""The types of agents that a session started here would have, without a session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.definitions.builtin import builtin_kinds
from gatewright.agent.agents.definitions.misnamed import misnamed
from gatewright.agent.agents.definitions.places import Place, files_of
from gatewright.agent.agents.definitions.reading import Standing, read_file
from gatewright.agent.agents.definitions.rows import KindRow, rows_of
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agent_types.session_kinds import book_of, unknown_tool
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.paths import AGENTS, HOMES
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.agent.subcommands.place import Scope, here
from gatewright.agent.text.printable import escaped
from gatewright.permissions.policy import Policy
from gatewright.tools.system.project import FOLDER


class Checked(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class AgentsHere:
    def __init__(self) -> None:
        around: Surroundings = survey(LaunchOptions(), os.environ, interactive=False)
        policy = Policy(policy_config(around, "default"))
        self.book = book_of(lambda: around, tuple, lambda: policy.rules().deny)

    def rows(self) -> Sequence[KindRow]:
        return rows_of(self.book)

    def checked(self) -> Checked:
        now = self.book.now()
        withheld = (self.book.refusal(kind.name) for kind in now.by_name.values() if kind.withheld)
        names = tuple(kind.name for kind in self.book.offered())
        return Checked(names, now.problems, (*now.notes, *withheld))


def checked(folder: Path) -> Checked:
    """Every definition in a directory, or in those of a project there, as if it were trusted.

    Raises GatewrightError.
    """
    if not folder.is_dir():
        raise GatewrightError(f"{folder} is no directory.")
    standing, real = Standing("project"), folder.resolve()
    folders = (real, *(real / home / AGENTS for home in HOMES))
    files = [seen for each in folders for seen in files_of(Place(each, standing))]
    found = [read_file(seen.path, standing) for seen in files]
    known = [each for each in found if each is not None]
    kinds = [each.kind for each in known if each.kind is not None]
    named = {kind.name.casefold(): kind for kind in (*builtin_kinds(), *kinds)}
    misspelt = (problem for kind in kinds for problem in misnamed(kind, unknown_tool, named))
    return Checked(
        tuple(kind.name for kind in kinds),
        (*(problem for each in known for problem in each.problems), *map(escaped, misspelt)),
        tuple(note for each in known for note in each.notes),
    )


def own_folder(scope: Scope) -> Path:
    """Where a definition of the person's own is kept. Raises GatewrightError."""
    place = here().places
    if scope is Scope.USER:
        return place.home / AGENTS
    if scope is Scope.PROJECT:
        return place.root / FOLDER / AGENTS
    raise GatewrightError("A definition is kept with --scope user or --scope project.")
