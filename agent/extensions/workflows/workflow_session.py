"""What a session has of workflows once one is wanted: launches, runs, and agents for them."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.workflows.call_agents import CallKinds
from gatewright.agent.extensions.workflows.launching import Asked, Plan, Planning, run_file, shown
from gatewright.agent.extensions.workflows.run_agents import RunAgents, RunGround
from gatewright.agent.extensions.workflows.workers import Workers
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.events import Envelope, Noticed
from gatewright.agent.session.start.base import CLOCK
from gatewright.agent.workflows.engine.engine import Engine
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import Nested
from gatewright.agent.workflows.runs.job import RunJob
from gatewright.agent.workflows.runs.journal import Journal
from gatewright.agent.workflows.runs.launched import Launched, RunPorts
from gatewright.agent.workflows.runs.money import Allowed, Limit, allowed
from gatewright.agent.workflows.runs.past import SCRIPT, read_past, write_run
from gatewright.agent.workflows.runs.rehearsal import Props, rehearsed
from gatewright.agent.workflows.runs.run import Run
from gatewright.agent.workflows.runs.run_book import BookPorts, Runs
from gatewright.agent.workflows.runs.run_port import CallProblem
from gatewright.agent.workflows.runs.scheduler import Scheduler
from gatewright.agent.workflows.saved.saved_book import SavedBook
from gatewright.agent.workflows.script.checked import Checked
from gatewright.agent.workflows.tool_spec import WORKFLOW, agents_section
from gatewright.permissions import modes
from gatewright.permissions.calls.ruling import restricting
from gatewright.tools.access import MAIN, Where
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.processes import spawn

FOLDER = "workflows"
MOST_AGENTS = 1000
MOVED = "The run went on meanwhile, and is not as it was shown. Call it again."
# Where a limit comes from, and how a run goes on with another.
META = "by meta.budget of its script. Change it there, then resume the run"
STARTED = "as it was started with. /workflows resume {run} --budget N goes on with another"
SETTING = "by workflows.maxBudgetUsd in the settings. Change it there, then resume the run"
PRINTED = "by workflows.printBudgetUsd in the settings. --max-budget-usd says another"
SESSION = "what was left of maxBudgetUsd, which the session may cost"
GONE = 5.0  # seconds for what is left to do behind an end


class WorkflowSession:
    """Implements `Launching` for the tool."""

    def __init__(
        self, host: Host, loop: asyncio.AbstractEventLoop, guide: Callable[[], str]
    ) -> None:
        self._host, self._loop, self._guide = host, loop, guide
        agents = part_of(host.brought, Agents)
        if agents is None:
            raise GatewrightError("There are no agents in this session.")
        self._agents = agents.opened()
        self.workers = Workers(host, self._agents, self._most)
        self.workers.counts = self._counts
        agents.of_plans = self.workers
        self._scheduler = Scheduler(self._most, loop)
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        self.runs = Runs(
            BookPorts(
                loop=loop,
                publish=host.publish,
                adopt=self._adopt,
                transcript=_transcript,
                projects=self.places,
            )
        )

    def models(self, opening: Callable[[str, str], OpenModel]) -> None:
        """Agents are opened with these from now on: for who measures."""
        self._host.open_model = opening

    # launching

    def plan(self, asked: Asked, where: Where) -> Plan:
        if asked == Asked():  # from who was told the short form, and asks for the rest
            raise ToolFailure(self._guide())
        return self._planning().plan(asked, where)

    def shown(self, plan: Plan) -> Sequence[Block]:
        """For a person; asked in a thread."""
        mode, model, allowed = self._mode(), self._host.session.model, self._allowed(plan)
        foreseen = None
        if plan.chosen is not None and plan.folder is not None:
            props = Props(
                engine=self._engine,
                nested=self._nested,
                about=lambda options: kinds.meant(options).about,
                budget=allowed.with_used(),
            )
            kinds = CallKinds(self._host, self._agents, plan.allows)
            going = rehearsed(plan.checked, plan.args, plan.chosen, plan.folder, props)
            foreseen = asyncio.run_coroutine_threadsafe(going, self._loop).result()
        return shown(plan, foreseen, mode=mode, model=model, budget=allowed.words)

    def own_path(self, path: str, where: Where) -> bool:
        real = Path(os.path.realpath(where.resolve(path)))
        if real.is_relative_to(os.path.realpath(self._folder())):
            return True
        saved = part_of(self._host.brought, SavedBook)
        if saved is None:
            return False
        here = (each.path for each in saved.last().every if each.trusted)
        return any(Path(os.path.realpath(each)) == real for each in here)

    async def launch(self, plan: Plan, call_id: str) -> Run:
        folder = plan.folder or self._folder() / plan.id
        before = self.runs.runs.get(plan.id)
        if before is not None and not before.running:  # its end was told, and cleaning up goes on
            await asyncio.wait({asyncio.ensure_future(before.gone.wait())}, timeout=GONE)
        try:
            journal = await asyncio.to_thread(Journal, folder)
        except (GatewrightError, OSError) as error:
            raise ToolFailure(f"The run cannot be kept: {error}") from None
        if plan.past is not None and await asyncio.to_thread(read_past, folder) != plan.past:
            journal.close()
            raise ToolFailure(MOVED)  # by another process, while a person was asked
        allowed = self._allowed(plan)
        file = run_file(
            plan,
            mode=self._mode(),
            model=self._host.session.model,
            session=self._host.session.id,
        )
        try:
            await asyncio.to_thread(write_run, folder, file, plan.checked.source)
        except OSError as error:
            journal.close()
            raise ToolFailure(f"The run cannot be kept: {error}") from None
        agents = RunAgents(
            self.workers,
            CallKinds(self._host, self._agents, plan.allows),
            RunGround(
                run=plan.id,
                name=file.name,
                folder=folder,
                where=self._where,
                leads=self._leads,
                said=agents_section(),
                joins=self._host.base.costs.join,
            ),
        )
        order = Launched(
            file=file,
            checked=plan.checked,
            folder=folder,
            script=folder / SCRIPT,
            allowed=allowed,
            args=plan.args,
            chosen=plan.chosen,
            call_id=call_id,
            began=file.began,
        )
        run = self.runs.launch(order, journal, self._ports(agents))
        agents.budget = run.money
        return run

    def _ports(self, agents: RunAgents) -> RunPorts:
        return RunPorts(
            agents=agents,
            engine=self._engine,
            nested=self._nested,
            scheduler=self._scheduler,
            clock=CLOCK.monotonic,
            time=time.time,
            tell=lambda text: self._host.publish(Noticed(text=text, tone="warning")),
            moved=self.runs.moved,
            ended=self.runs.ended,
            leaving=lambda: self._host.session.jobs_of(MAIN).all.closing,
        )

    async def _engine(self, checked: Checked) -> Engine:
        memory = self._host.around.settings.workflows.memory_mb
        return await Engine.start(checked, Limits(heap_mb=memory), spawn)

    async def _nested(self, message: Nested) -> Checked:
        read = partial(self._planning().nested, message.name, message.script_path, self._where())
        try:
            return await asyncio.to_thread(read)
        except GatewrightError as error:
            raise CallProblem("workflow", str(error)) from None

    def _planning(self) -> Planning:
        saved = part_of(self._host.brought, SavedBook)
        over = [id for id, run in self.runs.runs.items() if not run.running]
        return Planning(
            saved, self._host.briefing.readable, self.places(), over, self._held, self._restricts
        )

    def _restricts(self, names: Collection[str], behaviors: Collection[str]) -> str:
        context = self._host.policy.context(self._where())
        return restricting(WORKFLOW, names, context, behaviors)

    def _held(self, judging: Callable[[], str]) -> str:
        """A schema may judge for ever, and only the main thread can be stopped in that."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:

            async def there() -> str:
                return judging()

            return asyncio.run_coroutine_threadsafe(there(), self._loop).result()
        return judging()

    def called(self, name: str) -> str:
        """By which name rules know a saved one, however it is asked for."""
        book = part_of(self._host.brought, SavedBook)
        saved = book.find(name) if book is not None and name else None
        return saved.called if saved is not None else name

    def _adopt(self, job: RunJob) -> None:
        self._host.session.jobs_of(MAIN).all.adopt(job, MAIN)

    # what holds here

    def _mode(self) -> str:
        return self._leads(self._host.policy.current())[0]

    def _leads(self, above: str) -> tuple[str, bool]:
        said = self._host.around.settings.permissions.subagent_permission_mode
        return modes.for_workflow(above, (modes.canonical(said) or "") if said else "")

    def _most(self) -> int:
        said = self._host.around.settings.workflows.max_concurrent
        return said or min(16, max(4, 2 * (os.cpu_count() or 1)))

    def _allowed(self, plan: Plan) -> Allowed:
        settings, meta = self._host.around.settings, plan.checked.meta
        said, asked = settings.workflows, plan.budget
        limits = [
            Limit(META, meta.budget_usd, meta.budget_tokens),
            Limit(STARTED.format(run=plan.id), asked.usd, asked.tokens),
            Limit(SETTING, said.max_budget_usd),
        ]
        if all(limit.usd is None for limit in limits) and not self._host.policy.interactive:
            limits.append(Limit(PRINTED, said.print_budget_usd))
        if settings.max_budget_usd is not None:
            left = settings.max_budget_usd - self._host.session.spent.cost
            limits.append(Limit(SESSION, max(0.0, left)))
        return allowed(limits, min(MOST_AGENTS, said.max_agents or MOST_AGENTS))

    def _where(self) -> Where:
        main = self._host.session.agent(MAIN)
        assert main is not None
        return main.where

    def _folder(self) -> Path:
        """Where runs of this session are kept; nothing is left of a session that keeps nothing."""
        if self._host.around.options.no_session:
            if self._aside is None:
                self._aside = tempfile.TemporaryDirectory(prefix="gatewright-workflows-")
            return Path(self._aside.name)
        return self._host.base.start.path.with_suffix("") / FOLDER

    def places(self) -> Sequence[Path]:
        """The folders of runs of all sessions here, this one's first."""
        mine = self._folder()
        if self._host.around.options.no_session:
            return (mine,)
        others = mine.parent.parent.glob(f"*/{FOLDER}")
        return (mine, *(each for each in others if each != mine))

    # what happens

    def saw(self, envelope: Envelope) -> None:
        self.workers.saw(envelope)

    def _counts(self, path: str) -> None:
        """An agent of a run starts one, which counts in the run. Raises ToolFailure."""
        for run in self.runs.runs.values():
            if any(call.worker is not None and call.worker.path == path for call in run.calls):
                if not run.money.another_below(len(run.calls)):
                    most = run.money.allowed.agents
                    raise ToolFailure(f"A run has {most:,} agents at most. Do the rest yourself.")
                return

    async def close(self) -> None:
        await self.runs.close()
        await self.workers.close()
        self._scheduler.close()
        if self._aside is not None:
            self._aside.cleanup()


def _transcript(folder: Path, agent: str) -> Path | None:
    if not agent:
        return None
    path = folder / "agents" / f"{agent}.jsonl"
    return path if path.exists() else None
