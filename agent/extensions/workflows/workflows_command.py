"""`/workflows`: the runs of this session and of others here; to look into, stop, resume and keep.

To resume one is a call of Workflow like that which began it, made in the turn of the line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Problem, Say, Scope, Submit
from gatewright.agent.commands.panels import WorkflowsPanel
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.commands.tasks import elapsed
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.workflows.typed_call import begun
from gatewright.agent.settings.paths import Places
from gatewright.agent.text.money import dollars
from gatewright.agent.workflows.engine.available import unavailable
from gatewright.agent.workflows.runs.views import RunBook, RunView
from gatewright.agent.workflows.saved.saving import place_of, save
from gatewright.agent.workflows.saved.script_places import WORKFLOWS
from gatewright.tools.blocks import Block, Markdown, Table, Text
from gatewright.tools.system import private
from gatewright.tools.system.project import FOLDER

NOTHING = "No workflow has run here yet. Ask for one, or type the / and the name of a saved one."
HINT = "/workflows ID shows one; /workflows stop ID, resume ID [--budget N], save ID [user]."
PROJECT, USER = "project", "user"
BUDGET, MOST = "--budget", 1e6


class WorkflowsCommand:
    def __init__(self, host: Host, book: Callable[[], RunBook | None]) -> None:
        self._host, self._book = host, book

    async def run(self, context: CommandContext) -> Outcome:
        book = self._book()
        if book is None:
            return Problem.of("There are no workflows in this session: its tools leave them out.")
        if missing := unavailable():
            return Problem.of(missing)
        verb, _, rest = context.args.partition(" ")
        rest = rest.strip()
        match verb:
            case "stop" if rest:
                return Say.text(await book.stop(rest))
            case "resume" if rest:
                return await self._resume(book, rest, context)
            case "save" if rest:
                return await self._save(book, rest)
            case "stop" | "resume" | "save":
                return Problem.of(
                    f"/workflows {verb} needs the ID of a run: /workflows lists them."
                )
            case _:
                return await self._panel(book, verb)

    async def _panel(self, book: RunBook, first: str) -> Outcome:
        past = await book.past()
        runs = [*book.views(), *past]
        if first:
            found = next((run for run in runs if run.id == first), None)
            if found is None:
                return Problem.of(f"There is no run {first}: /workflows lists them.")
            told = Say(tuple(_one(found)))
        else:
            told = Say((_listed(runs), Text(HINT, "dim"))) if runs else Say.text(NOTHING)
        keeping = RunKeeping(book, self._host.around.places, self._host.session.commands.look)
        return WorkflowsPanel(
            fallback=told, book=book, keeping=keeping, past=tuple(past), first=first
        )

    async def _resume(self, book: RunBook, rest: str, context: CommandContext) -> Outcome:
        run, _, rerun = rest.partition(" ")
        rerun, wrong, budget = _budget(rerun.strip())
        if wrong:
            return Problem.of(wrong)
        known = [*book.views(), *await book.past()]
        if all(view.id != run for view in known):
            return Problem.of(f"There is no run {run}: /workflows lists them.")
        input: dict[str, object] = {"resumeFromRunId": run}
        if rerun:
            input["rerun"] = rerun
        if budget is not None:
            input["budget"] = {"usd": budget}
        line = context.raw.strip() or f"/workflows resume {rest}"
        begin = partial(begun, self._host, input, f"/workflows resume {run}")
        return Submit(line, Scope(by="/workflows", trusted=True, begin=begin, line=True))

    async def _save(self, book: RunBook, rest: str) -> Outcome:
        run, _, where = rest.partition(" ")
        where = where.strip() or PROJECT
        if where not in (PROJECT, USER):
            return Problem.of(f"It is kept for this {PROJECT} or for the {USER}: not {where}.")
        try:
            keeping = RunKeeping(book, self._host.around.places, self._host.session.commands.look)
            return Say.text(await keeping.save(run, where, replace=False))
        except FileExistsError as error:
            return Problem.of(f"{error} is there already: remove it, or save in the panel.")


def _budget(said: str) -> tuple[str, str, float | None]:
    """The rest of the line without `--budget N`, what is wrong with that, and what it gives."""
    rerun, flag, given = said.partition(BUDGET)
    if not flag:
        return said, "", None
    number, _, more = given.strip().removeprefix("=").strip().partition(" ")
    try:
        usd = float(number.removeprefix("$"))
    except ValueError:
        usd = 0.0
    wrong = "" if 0 < usd < MOST else f"{BUDGET} takes dollars: {BUDGET} 5 goes on with $5.00."
    return f"{rerun.strip()} {more.strip()}".strip(), wrong, usd


class RunKeeping:
    """Implements `Keeping`."""

    def __init__(
        self, book: RunBook, places: Places, look: Callable[[], Awaitable[object]]
    ) -> None:
        self._book, self._places, self._look = book, places, look

    def _home(self, where: str) -> Path:
        return self._places.home if where == USER else self._places.root / FOLDER

    def place(self, run: str, where: str) -> str:
        view = self._book.view(run)
        return str(place_of(self._home(where), view.name)) if view is not None else ""

    async def save(self, run: str, where: str, *, replace: bool) -> str:
        script = self._book.script(run)
        if not script:
            raise GatewrightError(f"There is no script of a run {run}.")
        from gatewright.agent.workflows.script.check import check  # noqa: PLC0415  lazy: a parser

        checked = await asyncio.to_thread(check, script)
        home, name = self._home(where), checked.meta.name
        if where == USER:
            await asyncio.to_thread(private.folder, home / WORKFLOWS)
        path = await asyncio.to_thread(save, script, home, name, replace=replace)
        await self._look()
        return f"Saved: /{name} runs it. It is {path}."


def _listed(runs: Sequence[RunView]) -> Block:
    rows = tuple(
        (run.id, run.status, f"{run.done}/{run.total}", dollars(run.cost), elapsed(run.seconds),
         run.title or run.name)
        for run in runs[:30]
    )  # fmt: skip
    return Table(("Run", "State", "Agents", "Cost", "For", "Workflow"), rows)


def _one(run: RunView) -> Sequence[Block]:
    state = f"{run.name} {run.id}: {run.status}, {run.done} of {run.total} agents"
    found: list[Block] = [Text(f"{state}, {dollars(run.cost)}, {elapsed(run.seconds)}")]
    if run.why:
        found.append(Text(run.why, "warning"))
    if run.phases:
        rows = tuple(
            (phase.title, f"{phase.ok + phase.replayed}/{phase.total}", str(phase.failed or ""))
            for phase in run.phases
        )
        found.append(Table(("Phase", "Agents", "Failed"), rows))
    if run.result:
        found.append(Markdown(run.result))
    found.append(Text(f"Script: {run.script_path}", "dim"))
    return found
