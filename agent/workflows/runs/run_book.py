"""The runs of a session: started, queued beyond three, looked at, and told of.

Front ends read it as a `RunBook`. What changes is told a few times a second, and nothing wakes
while nothing does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.events_of_workflows import CallNow
from gatewright.agent.workflows.runs import told
from gatewright.agent.workflows.runs.call import Call
from gatewright.agent.workflows.runs.job import RunJob
from gatewright.agent.workflows.runs.journal import Journal
from gatewright.agent.workflows.runs.launched import Launched, RunPorts
from gatewright.agent.workflows.runs.looked_up import earlier, past_view, script_of
from gatewright.agent.workflows.runs.run import Run
from gatewright.agent.workflows.runs.views import CallView, RunView

AT_ONCE = 3  # runs of a session
BETWEEN = 0.25  # seconds from one word about a run to the next
KEPT = 50  # ended runs that can still be looked at from memory
CUT = 20_000
UNKNOWN = "There is no run {id} in this session."
OVER = "The run {id} has ended."


class BookPorts(msgspec.Struct, frozen=True, kw_only=True):
    loop: asyncio.AbstractEventLoop
    publish: Callable[[AnyEvent], object]
    adopt: Callable[[RunJob], object]  # as a job of the session
    transcript: Callable[[Path, str], Path | None]  # of a run's folder and an agent
    projects: Callable[[], Sequence[Path]]  # folders of runs of other sessions here


class Runs:
    """Implements `RunBook`; ports for its runs come with each."""

    def __init__(self, ports: BookPorts) -> None:
        self._ports = ports
        self.runs: dict[str, Run] = {}
        self._waiting: deque[Run] = deque()
        self._changed: dict[str, set[int]] = {}  # calls, by run
        self._last: dict[str, float] = {}
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._followers: list[Callable[[str], object]] = []

    # starting and ending

    def launch(self, order: Launched, journal: Journal, ports: RunPorts) -> Run:
        """It begins now, or as soon as one of the others has ended."""
        run = Run(order, journal, ports)
        self.runs.pop(run.id, None)
        self._changed.pop(run.id, None)  # of the start before
        self.runs[run.id] = run
        self._ports.publish(told.started(run))
        self._ports.adopt(RunJob(run))
        if sum(each.stands in ("running", "paused") for each in self.runs.values()) < AT_ONCE:
            run.start()
        else:
            self._waiting.append(run)
        self.moved(run, 0)
        return run

    def ended(self, run: Run) -> None:
        """Called by the run, once."""
        if (due := self._due.pop(run.id, None)) is not None:
            due.cancel()
        changed = sorted(self._changed.pop(run.id, ()))
        for at in range(0, len(changed), told.CALLS):  # who follows it misses no call
            self._ports.publish(told.progressed(run, changed[at : at + told.CALLS]))
        self._ports.publish(told.ended(run))
        self._tell_followers(run.id)
        while self._waiting:
            following = self._waiting.popleft()
            if following.running:
                following.start()
                break
        self._forget_oldest()

    def moved(self, run: Run, index: int) -> None:
        """A call of it changed, or with zero the run itself."""
        changed = self._changed.setdefault(run.id, set())
        if index:
            changed.add(index)
        if run.id in self._due or not run.running:
            return
        since = self._ports.loop.time() - self._last.get(run.id, -1.0)
        if since >= BETWEEN:
            self._due[run.id] = self._ports.loop.call_later(0, self._now, run)
        else:
            self._due[run.id] = self._ports.loop.call_later(BETWEEN - since, self._now, run)

    def _now(self, run: Run) -> None:
        self._due.pop(run.id, None)
        if not run.running:
            return
        self._last[run.id] = self._ports.loop.time()
        changed = sorted(self._changed.pop(run.id, ()))
        self._ports.publish(told.progressed(run, changed))
        if rest := changed[told.CALLS :]:
            self._changed[run.id] = set(rest)
            self.moved(run, 0)
        self._tell_followers(run.id)

    def _tell_followers(self, id: str) -> None:
        for follower in list(self._followers):
            follower(id)

    def _forget_oldest(self) -> None:
        ended = [id for id, run in self.runs.items() if run.gone.is_set()]
        for id in ended[: max(0, len(ended) - KEPT)]:
            for kept in (self.runs, self._changed, self._last):
                kept.pop(id, None)

    async def close(self) -> None:
        """The session ends: what runs is interrupted, and can be resumed."""
        running = [run for run in self.runs.values() if not run.gone.is_set()]
        for run in running:
            run.stop_now("session")
        if running:
            gone = [asyncio.ensure_future(run.gone.wait()) for run in running]
            _, late = await asyncio.wait(gone, timeout=5.0)
            for each in late:
                each.cancel()

    # looking

    def views(self) -> Sequence[RunView]:
        return [told.view_of(run) for run in reversed(self.runs.values())]

    async def past(self) -> Sequence[RunView]:
        here = set(self.runs)
        return await asyncio.to_thread(earlier, self._ports.projects(), here)

    def view(self, run: str) -> RunView | None:
        if (known := self.runs.get(run)) is not None:
            return told.view_of(known)
        return past_view(self._ports.projects(), run)

    def calls(self, run: str, *, phase: str | None = None) -> Sequence[CallNow]:
        if (known := self.runs.get(run)) is None:
            return ()
        return [
            known.call_now(call)
            for call in known.calls
            if phase is None or call.called.phase == phase
        ]

    def call(self, run: str, index: int) -> CallView | None:
        known = self.runs.get(run)
        if known is None or not 0 < index <= len(known.calls):
            return None
        call = known.calls[index - 1]
        said = call.value if isinstance(call.value, str) else ""
        if call.value is not None and not said:
            said = msgspec.json.format(msgspec.json.encode(call.value), indent=2).decode()
        worker = call.worker
        return CallView(
            now=known.call_now(call),
            prompt=call.called.prompt,
            result=said[:CUT],
            last=worker.last() if worker is not None else (),
            agent_path=worker.path if worker is not None else "",
            transcript=self._ports.transcript(known.order.folder, call.agent),
            worktree=call.worktree,
        )

    def log(self, run: str) -> Sequence[str]:
        return list(known.log) if (known := self.runs.get(run)) is not None else ()

    def script(self, run: str) -> str:
        if (known := self.runs.get(run)) is not None:
            return known.order.checked.source
        return script_of(self._ports.projects(), run)

    def follow(self, changed: Callable[[str], object]) -> Callable[[], None]:
        self._followers.append(changed)

        def leave() -> None:
            if changed in self._followers:
                self._followers.remove(changed)

        return leave

    # doing

    def pause(self, run: str) -> str:
        return self._paused(run, on=True)

    def unpause(self, run: str) -> str:
        return self._paused(run, on=False)

    async def stop(self, run: str) -> str:
        try:
            known = self._living(run)
        except GatewrightError as error:
            return str(error)
        known.stop_now("person")
        await known.ended.wait()
        return f"{known.name} was stopped."

    async def stop_call(self, run: str, index: int) -> str:
        try:
            known, call = self._call(run, index)
        except GatewrightError as error:
            return str(error)
        if call.worker is not None:
            call.worker.stop("person")
        elif call.state == "queued":
            known.cancel(call)
        return f"{call.label} was stopped."

    async def restart_call(self, run: str, index: int) -> str:
        try:
            _, call = self._call(run, index)
        except GatewrightError as error:
            return str(error)
        if call.worker is None:
            return f"{call.label} has not begun."
        call.restart = True
        call.worker.stop("restart")
        return f"{call.label} begins anew."

    def message(self, run: str, index: int, text: str) -> str:
        try:
            _, call = self._call(run, index)
            if call.worker is None:
                return f"{call.label} does not work just now."
            call.worker.say(text)
        except GatewrightError as error:
            return str(error)
        call.touched = True
        return f"Told to {call.label}; its result is not replayed later."

    def _paused(self, run: str, *, on: bool) -> str:
        try:
            known = self._living(run)
        except GatewrightError as error:
            return str(error)
        known.pause(on=on)
        return (
            f"{known.name} {'is paused: what runs ends, and nothing begins' if on else 'goes on'}."
        )

    def _living(self, run: str) -> Run:
        if (known := self.runs.get(run)) is None:
            raise GatewrightError(UNKNOWN.format(id=run))
        if not known.running:
            raise GatewrightError(OVER.format(id=run))
        return known

    def _call(self, run: str, index: int) -> tuple[Run, Call]:
        known = self._living(run)
        if not 0 < index <= len(known.calls):
            raise GatewrightError(f"There is no call {index} in this run.")
        call = known.calls[index - 1]
        if call.over:
            raise GatewrightError(
                f"{call.label} has ended. To have it done again, resume the run with rerun."
            )
        return known, call
