"""What a session has of its project once a command or a tool is about it: the list, and a run."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from gatewright.agent.autonomy.project.commits import Commits
from gatewright.agent.autonomy.project.course import Failed, Outcome, Passed
from gatewright.agent.autonomy.project.feature_prompts import verify_prompt
from gatewright.agent.autonomy.project.features import Feature, FeatureList, ProjectError
from gatewright.agent.autonomy.project.project_file import ProjectFile
from gatewright.agent.autonomy.project.project_run import (
    Ended,
    ProjectPorts,
    ProjectRun,
    RunOver,
    Wanted,
)
from gatewright.agent.autonomy.schedules.store import Store, store_of
from gatewright.agent.autonomy.unattended import Unattended
from gatewright.agent.extensions.autonomy.autonomy_extension import Autonomy
from gatewright.agent.extensions.autonomy.bounded import bounds_of
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.project.answer_shapes import VERDICT, Verdict, verdict_of
from gatewright.agent.extensions.project.mode_loan import AUTO, PLAN, PLANNING, ModeLoan
from gatewright.agent.extensions.project.project_job import ProjectJob
from gatewright.agent.extensions.project.project_turns import STOPPED, ProjectTurns, came_to
from gatewright.agent.extensions.project.typed_agents import NONE, TypedAgents
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Envelope,
    ModeChanged,
    Noticed,
    UsageChanged,
)
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.inbox import InputSource
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Text, Tone
from gatewright.tools.interact import Ask, Option
from gatewright.tools.system import private
from gatewright.tools.system.git import aside
from gatewright.tools.system.locks import waited

ELSEWHERE = (
    "Another session works by itself in this work tree: wait for its end, or begin this one with "
    "agent --worktree."
)
RUNNING = "The project is worked on already: /project status shows it, /project stop ends it."
UNTRUSTED = (
    "This project is not trusted, so its list is nobody's order: /trust first, or look at "
    ".gatewright/project/features.json yourself."
)
BUSY = "A turn is running: wait for its end, or stop it (Esc)."
MODE = "You chose the mode {mode}: it stays, and the run ends here. /project auto goes on."


class ProjectSession:
    def __init__(self, host: Host) -> None:
        self._host = host
        self.turns, self.agents = ProjectTurns(host), TypedAgents(host)
        self.loan = ModeLoan(host.policy, host.publish)
        autonomy = part_of(host.brought, Autonomy)
        self._own_bounds = autonomy is None or not autonomy.on
        self.bounds: Unattended = (
            bounds_of(host) if autonomy is None or not autonomy.on else autonomy.opened().unattended
        )
        self.run: ProjectRun | None = None
        self.limit = ""  # of the last run, where one ended it
        self._task: asyncio.Task[None] | None = None
        self._planning: asyncio.Task[None] | None = None
        self._budget_from = 0.0
        self._spent = 0.0
        self._fold = of_main(self._saw)

    # looking

    @property
    def root(self) -> Path:
        return self.turns.main.where.root

    @property
    def file(self) -> ProjectFile:
        """Raises ProjectError: nobody has said that this project may say anything."""
        if not self._host.around.trusted:
            raise ProjectError(UNTRUSTED)
        return ProjectFile(self.root)

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def saw(self, envelope: Envelope) -> None:
        if self._own_bounds:
            self.bounds.saw(envelope)
        self._fold(envelope)

    def _saw(self, event: AnyEvent) -> None:
        match event:
            case ModeChanged():
                self.loan.saw(event)
            case UsageChanged(cost=cost):
                self._spent = cost
                self._look_at_budget()
            case _:
                self.turns.saw(event)

    # running

    def begin(self, wanted: Wanted) -> ProjectRun:
        """A run that goes on by itself from here. Raises ProjectError: it is not begun."""
        if self.running:
            raise ProjectError(RUNNING)
        if self._host.session.busy:
            raise ProjectError(BUSY)
        if not self.agents.there:
            raise ProjectError(NONE)
        file, now = self.file, self._host.policy.current()
        listed = file.read()
        if now == PLAN:
            raise ProjectError(PLANNING)
        if wanted.auto and not self._host.around.settings.autonomy.enabled:
            raise ProjectError(
                "Autonomy is off (autonomy.enabled): /project next does one feature."
            )
        lock = self._lock() if wanted.auto else -1
        self.limit = ""
        self.bounds.was_typed()
        self._spent = self._host.session.spent.cost
        self._budget_from = self._spent
        commits = Commits(self._host.around.caller, self.root, listed.branch)
        run = self.run = ProjectRun(self._ports(file, commits, wanted), wanted)
        job = ProjectJob(run, time.monotonic, self.stop)
        self._task = asyncio.create_task(self._go(run, job, lock), name="project run")
        jobs = self._host.session.jobs_of(MAIN)
        jobs.told(jobs.adopt(job))  # the run tells its end itself
        return run

    async def _go(self, run: ProjectRun, job: ProjectJob, lock: int) -> None:
        ended = Ended("stopped", "It was stopped.")
        try:
            if run.wanted.auto:
                self.loan.begin()
            ended = await run.go()
        except ProjectError as error:
            ended = Ended("error", str(error))
        finally:
            try:
                self.loan.end()
                self._end(ended)
            finally:
                if lock >= 0:
                    os.close(lock)
                job.end()

    def _end(self, ended: Ended) -> None:
        self.limit = ended.text if ended.how == "limit" else ""
        tone: Tone = "good" if ended.how == "finished" else "warning"
        self._host.publish(Noticed(text=f"Project: {ended.text}", tone=tone))

    def stop(self) -> bool:
        """End the run as the person wants it; False: none is under way."""
        if not self.running or self._task is None:
            return False
        self._task.cancel()
        self._host.session.interrupt()
        return True

    async def over(self) -> None:
        """Until no run is under way: for who has nothing else to do."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def keep(self, planning: asyncio.Task[None]) -> None:
        """Work on a list that is to be: it ends with the session."""
        self._planning = planning

    async def close(self) -> None:
        for task in (self._task, self._planning):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task})
        if self._own_bounds:
            self.bounds.close()

    def _lock(self) -> int:
        """One session at a time works by itself in a work tree. Raises ProjectError."""
        around = self._host.around
        if around.options.no_session:
            return -1
        store = Store(store_of(around.places.home, around.where.root), around.where.root)
        private.folder(store.writer.parent)
        lock = waited(store.writer, wait=False)
        if lock < 0:
            raise ProjectError(ELSEWHERE)
        return lock

    # what a run asks for

    def _ports(self, file: ProjectFile, commits: Commits, wanted: Wanted) -> ProjectPorts:
        return ProjectPorts(
            file=file,
            begin=lambda listed: self._begins(commits, listed),
            work=lambda prompt: self._work(prompt, wanted),
            check=lambda command: self._between(wanted, lambda: self._check(command)),
            verify=lambda feature: self._between(
                wanted, lambda: self._verified(file, feature, commits)
            ),
            commit=lambda feature: aside(lambda _: commits.commit(feature)),
            clear=lambda: self._host.publish(Cleared()),
            confirm=self._confirm,
            may=self._may,
            tell=lambda text, tone: self._host.publish(Noticed(text=text, tone=tone)),
        )

    async def _begins(self, commits: Commits, listed: FeatureList) -> None:
        ready = await aside(lambda _: commits.begin(listed))
        if ready.left:
            self._tell(f"Committed what the run before had finished: {ready.left}", "normal")
        if ready.why:
            self._tell(f"Nothing is committed here: {ready.why}.", "warning")

    async def _work(self, prompt: str, wanted: Wanted) -> Outcome:
        self._still(wanted)
        source: InputSource = "project" if wanted.auto else "program"

        def begins(id: str) -> None:
            if wanted.auto:
                self.bounds.modes[id] = AUTO  # its person named it by beginning the run

        ended = await self.turns.turn(prompt, source, begins)
        if self.limit:
            raise RunOver("limit", self.limit)
        if wanted.auto and ended.stop in STOPPED and (why := self.bounds.may()):
            raise RunOver("limit", why)
        return came_to(ended)

    async def _between(self, wanted: Wanted, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        self._still(wanted)
        return await self.turns.alone(work)

    def _still(self, wanted: Wanted) -> None:
        """The run may go on as it began. Raises RunOver."""
        if wanted.auto and self.loan.taken:
            raise RunOver("stopped", MODE.format(mode=self.loan.taken))
        if self._host.policy.current() == PLAN and not wanted.auto:
            raise RunOver("stopped", PLANNING)
        if why := self._over_budget() or self._over_turns():
            raise RunOver("limit", why)

    async def _check(self, command: str) -> Outcome:
        outcome = await self.turns.check(command)
        passed = isinstance(outcome, Passed)
        self._tell(f"Check {'passed' if passed else 'failed'}: {command}", "dim")
        return outcome

    async def _verified(self, file: ProjectFile, feature: Feature, commits: Commits) -> Outcome:
        """What its check saw is what is committed: where files changed since, it runs once more."""
        before = await aside(lambda _: commits.state())
        outcome = await self._verify(file, feature)
        if not isinstance(outcome, Passed) or not feature.check:
            return outcome
        if await aside(lambda _: commits.state()) == before:
            return outcome
        self._tell(f"{feature.id}: files changed while it was verified.", "dim")
        return await self._check(feature.check)

    async def _verify(self, file: ProjectFile, feature: Feature) -> Outcome:
        prompt, about = verify_prompt(file.read(), feature), f"verifies {feature.id}"
        try:
            value = await self.agents.ask("verification", prompt, VERDICT, about)
            verdict = verdict_of(value)
        except ProjectError as error:
            return Failed(f"It could not be verified. {error}")
        if verdict.verdict == "pass":
            return Passed()
        return Failed(_said(verdict))

    async def _confirm(self, feature: Feature) -> bool:
        lines = [feature.acceptance, f"Check: {feature.check}" if feature.check else ""]
        ask = Ask(
            kind="question",
            title=f"Begin {feature.id}, {feature.title}?",
            body=(Text("\n".join(filter(None, lines))),),
            options=(Option("go", "Begin it", "y"), Option("stop", "Stop here", "n")),
        )
        return (await self._host.session.ask(ask)).choice == "go"

    def _may(self) -> str:
        self._still(Wanted(auto=True))
        return self.bounds.may()

    def _over_budget(self) -> str:
        budget = self.run.wanted.budget if self.run is not None else 0.0
        spent = self._spent - self._budget_from
        return f"${spent:.2f} of ${budget:g} are spent (--budget)." if 0 < budget <= spent else ""

    def _over_turns(self) -> str:
        left = self.turns.main.requests_left
        return "The requests of --max-turns are used up." if left == 0 else ""

    def _look_at_budget(self) -> None:
        """A turn of a run ends where its budget does."""
        if self.running and not self.limit and (why := self._over_budget()):
            self.limit = why
            self._host.session.interrupt()

    def _tell(self, text: str, tone: Tone) -> None:
        self._host.publish(Noticed(text=text, tone=tone))


def _said(verdict: Verdict) -> str:
    return f"The verification says {verdict.verdict}: {verdict.reason}"
