"""The saved workflows that a session started here would have, without a session."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.extensions.plugins.plugin_session import ground_of as plugins_of
from gatewright.agent.extensions.workflows.off import workflows_off
from gatewright.agent.extensions.workflows.saved_here import ground_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.plugins.gathering import gathered
from gatewright.agent.settings.workspace import survey
from gatewright.agent.workflows.engine.available import unavailable
from gatewright.agent.workflows.saved.saved_book import Saved, SavedBook, text_of
from gatewright.agent.workflows.saved.script_places import SUFFIX
from gatewright.agent.workflows.script.check import check

MOST = 500  # scripts that are validated at once


class ListedWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    source: str
    trusted: bool
    path: Path
    description: str
    when_to_use: str = ""
    phases: tuple[str, ...] = ()
    args: object = None

    def facts(self) -> Iterator[tuple[str, str]]:
        yield "source", f"{self.source} {self.path}"
        if not self.trusted:
            yield "trust", "the project is not trusted: it is not run"
        if self.when_to_use:
            yield "when to use", self.when_to_use
        if self.phases:
            yield "phases", " · ".join(self.phases)
        if self.args is not None:
            yield "args", msgspec.json.encode(self.args).decode()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: Path
    problem: str = ""
    warnings: tuple[str, ...] = ()


OFF = (
    "Workflows are turned off here: by disableWorkflows or workflows.enabled in settings, or by "
    "GATEWRIGHT_DISABLE_WORKFLOWS."
)


class WorkflowsHere:
    def __init__(self) -> None:
        around = survey(LaunchOptions(), os.environ, interactive=False)
        plugins = gathered(plugins_of(around)).plugins if wanted(around) else ()
        self.book = SavedBook(lambda: ground_of(around, plugins), off=lambda: workflows_off(around))
        self.off = OFF if workflows_off(around) else ""

    def rows(self) -> Sequence[ListedWorkflow]:
        return [_listed(saved) for saved in self.book.now()]

    def problems(self) -> Sequence[str]:
        return self.book.last().problems()

    def find(self, name: str) -> tuple[ListedWorkflow, str]:
        """One, and its script; an untrusted one can be read too. Raises GatewrightError."""
        saved = self.book.find(name)
        if saved is None:
            raise GatewrightError(self.book.refusal(name))
        return _listed(saved), text_of(saved.path)


def standing() -> tuple[str, Sequence[str]]:
    """Why no workflow could run, if none could, and which scripts cannot; nothing where all is
    switched off."""
    here = WorkflowsHere()
    shelf = here.book.shelf()
    return (unavailable() if shelf.every else ""), shelf.problems()


def _listed(saved: Saved) -> ListedWorkflow:
    meta = saved.meta
    return ListedWorkflow(
        name=saved.called,
        source=saved.plugin or saved.source,
        trusted=saved.trusted,
        path=saved.path,
        description=saved.description,
        when_to_use=meta.when_to_use if meta is not None else "",
        phases=tuple(phase.title for phase in meta.phases) if meta is not None else (),
        args=meta.args if meta is not None else None,
    )


def validated(files: Sequence[Path]) -> Sequence[Verdict]:
    """Of each file and of those in each directory; without any of all that are found here."""
    if not files:
        shelf = WorkflowsHere().book.shelf()
        return [_judged(each.path) for each in (*shelf.every, *shelf.broken)]
    found: list[Path] = []
    for file in files:
        found += sorted(file.rglob(f"*{SUFFIX}")) if file.is_dir() else (file,)
    return [_judged(file) for file in found[:MOST]]


def _judged(path: Path) -> Verdict:
    try:
        checked = check(text_of(path))
    except GatewrightError as error:
        return Verdict(name=path.stem, path=path, problem=str(error))
    return Verdict(name=checked.meta.name, path=path, warnings=checked.warnings)
