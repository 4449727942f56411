"""What a run that goes on would do: its script runs in its worker on recorded results alone.

No agent works, and nothing is written. It ends where the script waits for what nobody answered yet.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.engine import wire
from gatewright.agent.workflows.runs.call import Call
from gatewright.agent.workflows.runs.keys import Nths, key_of
from gatewright.agent.workflows.runs.past import Chosen, Fate
from gatewright.agent.workflows.runs.run_port import About, CallProblem, FindNested, OpenEngine
from gatewright.agent.workflows.runs.settling import Settling, inlined
from gatewright.agent.workflows.script.checked import Checked

LIMIT = 2.0  # seconds: a person waits for the question


class Foreseen(msgspec.Struct):
    """`fates` are of the calls that are made, by their numbers, each with its label."""

    fates: dict[int, tuple[str, Fate]] = {}
    over: bool = False  # the script ends without anybody's answer
    problem: str = ""  # a sentence about what goes wrong with it

    @property
    def live(self) -> list[tuple[str, Fate]]:
        return [each for each in self.fates.values() if each[1].settled is None]

    @property
    def words(self) -> str:
        """How many of each kind."""
        kinds = Counter(fate.kind for _, fate in self.fates.values())
        parts = [f"{kinds['replayed']} replayed", f"{kinds['goes on']} go on"]
        parts += [f"{kinds['runs again']} run again", f"{kinds['new']} new"]
        stale = sum(bool(fate.stale) for _, fate in self.fates.values())
        return ", ".join([*parts, *([f"{stale} stale"] if stale else [])])


class Props(msgspec.Struct, frozen=True, kw_only=True):
    """What the session has for it."""

    engine: OpenEngine
    nested: FindNested
    about: Callable[[wire.CallOptions], About]  # raises CallProblem
    budget: wire.BudgetNow


async def rehearsed(
    checked: Checked, args: object, chosen: Chosen, folder: Path, props: Props
) -> Foreseen:
    """Never raises for what the script does."""
    rehearsal = _Rehearsal(chosen, folder, props)
    found = rehearsal.found
    try:
        async with asyncio.timeout(LIMIT):
            await rehearsal.through(checked, args)
    except TimeoutError:
        found.problem = f"It computes for more than {LIMIT:.0f} s: what follows is not known."
    except GatewrightError as error:
        found.problem = f"It does not run: {error}"
    return found


class _Rehearsal:
    def __init__(self, chosen: Chosen, folder: Path, props: Props) -> None:
        self._chosen, self._props = chosen, props
        self._nths = Nths()
        self._hears = Settling(folder, lambda: props.budget, self._lost, lambda _call: None)
        self._calls = 0
        self.found = Foreseen()

    async def through(self, checked: Checked, args: object) -> None:
        engine = self._hears.engine = await self._props.engine(checked)
        try:
            await engine.begin(args, self._props.budget)
            async for batch in engine.batches():
                for message in batch:
                    await self._heard(message)
                self._hears.idle = True
                await self._hears.deliver()
                if self._hears.idle:  # it waits for somebody's work
                    return
        finally:
            await engine.close()

    async def _heard(self, message: wire.Message) -> None:
        match message:
            case wire.Called():
                self._called(message)
            case wire.Nested():
                self._hears.put(await inlined(message, self._props.nested))
            case wire.Ended():
                self.found.over = True
                self.found.problem = "" if message.ok else f"It fails then: {message.message}"
            case wire.Logged() | wire.PhaseBegan():
                pass

    def _called(self, called: wire.Called) -> None:
        self._calls += 1
        call = Call(index=self._calls, called=called, clock=lambda: 0.0)
        call.key = key_of(called.prompt, called.options)
        call.nth = self._nths.next(call.key)
        try:
            call.about = self._props.about(called.options)
        except CallProblem as problem:
            call.state, call.kind, call.why = "failed", problem.kind, str(problem)
            self._hears.put(call.settled(self._props.budget, throws=True))
            return
        fate = call.fate(self._chosen)
        self.found.fates[call.index] = call.label, fate
        if fate.settled is not None:
            self._hears.replay(fate.order, call, fate.settled)

    def _lost(self, call: Call, why: str) -> None:
        """What was recorded of it is not there."""
        self.found.fates[call.index] = call.label, Fate("runs again", why)
