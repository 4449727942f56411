"""A workflow without a conversation: launched as in print mode, waited for, its result printed.

Nobody is asked: what an agent would have to ask about is refused. Interrupted, it can be resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.workflows.runs_part import RunsPart
from gatewright.agent.extensions.workflows.typed_call import called, run_of, why_not
from gatewright.agent.frontends.interruption import Interruption
from gatewright.agent.launch.cli import Starting
from gatewright.agent.launch.exits import Exit
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import settled
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    Envelope,
    Noticed,
    WorkflowEnded,
    WorkflowProgressed,
)
from gatewright.agent.record.hub import Subscription
from gatewright.agent.session.session import Session
from gatewright.agent.subcommands.tell import give, tell
from gatewright.agent.subcommands.workflows.on_the_way import OnTheWay
from gatewright.agent.text.money import dollars
from gatewright.agent.workflows.runs.views import RunView
from gatewright.agent.workflows.saved.saved_book import text_of
from gatewright.agent.workflows.saved.script_places import SUFFIX
from gatewright.permissions.modes import flag_mode
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer

CLOSE_LIMIT = 8.0  # seconds for what is left to do at the end


class Wished(msgspec.Struct, frozen=True):
    """What is asked of the tool, and how the result is to be told."""

    input: Mapping[str, Any]
    as_json: bool = False

    @classmethod
    def named(cls, name: str, args: str, *, as_json: bool) -> Wished:
        """A script's path is read here: the person named it, wherever it lies."""
        input: dict[str, Any] = {"name": name.removeprefix("/")}
        if name.endswith(SUFFIX):
            try:
                input = {"script": text_of(Path(name))}
            except GatewrightError as error:
                raise GatewrightError(f"{name}: {error}") from error
        if args:
            try:
                input["args"] = msgspec.json.decode(args.encode())
            except msgspec.DecodeError:
                input["args"] = args
        return cls(input, as_json)

    @classmethod
    def resumed(cls, run: str, rerun: str, *, as_json: bool) -> Wished:
        more = {"rerun": rerun} if rerun else {}
        return cls({"resumeFromRunId": run, **more}, as_json)


def options_of(model: str, mode: str, budget: float | None, *, session: str = "") -> LaunchOptions:
    given = LaunchOptions(print_mode=True, model=model, mode=mode, max_budget_usd=budget)
    if session:
        given = msgspec.structs.replace(given, resume=session)
    return settled(given, flag_mode)


def run_workflow(options: LaunchOptions, starting: Starting, wished: Wished) -> int:
    """Returns the exit code: 0 where it is done, 1 where it failed or was refused."""
    loop = asyncio.new_event_loop()
    process = _Process(loop, options, starting, wished)
    return starting.leave(loop.run_until_complete(process.run()))


class _Process:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: LaunchOptions,
        starting: Starting,
        wished: Wished,
    ) -> None:
        self._options, self._starting, self._wished = options, starting, wished
        self._interruption = Interruption(loop)
        self._run = ""  # once it is launched
        self._began = time.time()

    async def run(self) -> int:
        task = asyncio.create_task(self._work())
        with self._interruption.of(task):
            await asyncio.wait([task])
        if self._interruption.code and self._run:
            tell(f"Stopped. Go on with it: agent workflows resume {self._run}", err=True)
        if task.cancelled():
            return self._interruption.code or Exit.ERROR
        try:
            return self._interruption.code or task.result()
        except GatewrightError as error:
            tell(f"agent: {error}", err=True)
            return Exit.ERROR

    async def _work(self) -> int:
        session = await self._starting.opener(self._options, interactive=False)()
        self._interruption.session = session
        try:
            await session.opened()
            return await self._launched(session)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_LIMIT):
                    await session.close()

    async def _launched(self, session: Session) -> int:
        events = session.subscribe()
        self._told_before(events.waiting())
        answering = asyncio.create_task(self._followed(session, events))
        try:
            result = await called(session, dict(self._wished.input))
            run = run_of(result)
            if not run:
                tell(f"agent: {why_not(result)}", err=True)
                return Exit.ERROR
            self._run = run
            session.jobs_of(MAIN).told(run)  # no turn is to begin by its end
            tell(f"Run {run}", err=True)
            return self._ended(session, await answering)
        finally:
            answering.cancel()
            events.close()

    def _told_before(self, kept: Sequence[Envelope]) -> None:
        """Of what a stored session said, nothing is about this start but its own warnings."""
        for envelope in kept:
            if envelope.timestamp >= self._began:
                self._warns(envelope.event)

    async def _followed(self, session: Session, events: Subscription) -> WorkflowEnded | None:
        """The one launch of this session is the one run that can end here."""
        told = OnTheWay(partial(tell, err=True), partial(_log, session))
        async for envelope in events:
            if (ended := self._saw(session, envelope, told)) is not None:
                return ended
        return None

    def _saw(self, session: Session, envelope: Envelope, told: OnTheWay) -> WorkflowEnded | None:
        match envelope.event:
            case Asked(id=ask):
                session.answer(ask, Answer(cancelled=True))
            case WorkflowProgressed() as progressed:
                told.heard(progressed)
            case WorkflowEnded() as ended:
                told.words(ended.run)
                return ended
            case event:
                self._warns(event)
        return None

    def _warns(self, event: AnyEvent) -> None:
        if isinstance(event, Noticed) and event.tone in ("warning", "error"):
            tell(f"agent: {event.text}", err=True)

    def _ended(self, session: Session, ended: WorkflowEnded | None) -> int:
        if ended is None:
            return Exit.ERROR
        result = _result(session, ended)
        if self._wished.as_json:
            document = {
                "run": ended.run,
                "name": ended.name,
                "status": ended.status,
                "why": ended.why,
                "result": result,
                "ok": ended.ok,
                "failed": ended.failed,
                "replayed": ended.replayed,
                "cost": ended.cost,
                "ms": ended.ms,
            }
            give(msgspec.json.format(msgspec.json.encode(document)).decode())
        elif result:
            give(result, nl=not result.endswith("\n"))
        if ended.status != "done":
            tell(f"agent: {ended.name}: {ended.status}. {ended.why}".rstrip(), err=True)
        used = f"{ended.ok} ok, {ended.failed} failed, {ended.replayed} replayed"
        used += f", {dollars(ended.cost)}"
        tell(used, err=True)
        return Exit.OK if ended.status == "done" else Exit.ERROR


def _result(session: Session, ended: WorkflowEnded) -> str:
    """All of it, where the event has only the beginning."""
    view = _view(session, ended.run)
    if view is not None and view.result_path is not None:
        with contextlib.suppress(OSError):
            return view.result_path.read_text(encoding="utf-8", errors="replace")
    return ended.result


def _log(session: Session, run: str) -> Sequence[str]:
    runs = session.part(RunsPart)
    return runs.book.log(run) if runs is not None else ()


def _view(session: Session, run: str) -> RunView | None:
    runs = session.part(RunsPart)
    return runs.book.view(run) if runs is not None else None
