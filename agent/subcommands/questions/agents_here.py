"""The types of agents that a session started here would have, without a session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.definitions.builtin import builtin_kinds
from gatewright.agent.agents.definitions.found import Standing
from gatewright.agent.agents.definitions.misnamed import misnamed
from gatewright.agent.agents.definitions.places import Place, files_of
from gatewright.agent.agents.definitions.reading import read_file
from gatewright.agent.agents.definitions.rows import KindRow, rows_of
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agent_types.session_kinds import book_of, unknown_tool
from gatewright.agent.foreign.program_found import lacks
from gatewright.agent.settings.paths import AGENTS, HOMES
from gatewright.agent.settings.workspace import roots
from gatewright.agent.subcommands.questions.started_here import started_here
from gatewright.agent.text.printable import escaped


class Checked(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class AgentsHere:
    def __init__(self) -> None:
        started = started_here()
        self._around = started.around
        self.book = book_of(lambda: started.around, tuple, started.denied, self._lacks)

    def rows(self) -> Sequence[KindRow]:
        return rows_of(self.book)

    def checked(self) -> Checked:
        now = self.book.now()
        withheld = (self.book.refusal(kind.name) for kind in now.by_name.values() if kind.withheld)
        names = tuple(kind.name for kind in self.book.offered())
        missing = (
            f"{kind.path}: {why}."
            for kind in now.by_name.values()
            if kind.acp is not None and (why := self._lacks(kind))
        )
        problems = (*now.problems, *map(escaped, missing))
        return Checked(names, problems, (*now.notes, *withheld))

    def _lacks(self, kind: AgentKind) -> str:
        """Of one whose turns run in another program: why that cannot be started."""
        around = self._around
        return lacks(kind.acp, around.env, roots(around.where)) if kind.acp is not None else ""


def checked(folder: Path) -> Checked:
    """Every definition in a directory, or in those of a project there, as if it were trusted.

    Raises GatewrightError.
    """
    if not folder.is_dir():
        raise GatewrightError(f"{folder} is no directory.")
    real = folder.resolve()
    around = started_here().around
    own = real == (around.places.home / AGENTS).resolve()  # where the person's own lie
    standing = Standing("user" if own else "project")
    folders = (real, *(real / home / AGENTS for home in HOMES))
    files = [seen for each in folders for seen in files_of(Place(each, standing))]
    found = [read_file(seen.path, standing) for seen in files]
    known = [each for each in found if each is not None]
    kinds = [each.kind for each in known if each.kind is not None]
    named = {kind.name.casefold(): kind for kind in (*builtin_kinds(), *kinds)}
    misspelt = (problem for kind in kinds for problem in misnamed(kind, unknown_tool, named))
    missing = (
        f"{kind.path}: {why}."
        for kind in kinds
        if kind.acp is not None and (why := lacks(kind.acp, around.env, roots(around.where)))
    )
    wrong = map(escaped, (*misspelt, *missing))
    return Checked(
        tuple(kind.name for kind in kinds),
        (*(problem for each in known for problem in each.problems), *wrong),
        tuple(note for each in known for note in each.notes),
    )
