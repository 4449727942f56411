"""A stored session whose model does what it is told: `write NAME=TEXT` writes a file."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Request,
    StopReason,
    TextPiece,
    UsageReported,
)
from gatewright.agent.record import codec as wire
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import FileSaved, SessionStarted
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal, of_main
from gatewright.agent.record.messages import Usage, UserTurn
from gatewright.agent.record.session_state import Standing
from gatewright.agent.session.agent import CallPorts
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.session import Session
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.access import Access, Where
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.protocol import ToolCall, ToolContext, ToolResult
from gatewright.tools.system.git import Caller
from tests.compact.windowed import is_summary, texts
from tests.fakes.executor import FakeExecutor, context
from tests.fakes.house import CHILDREN, FakeModes, FakeRules, no_barrier, retry_in

ORDER = re.compile(r"write (\w+)=(\w+)")


class Obedient:
    """Calls Write once for each order, then says that it is done."""

    name = "obedient"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._made = 0

    async def close(self) -> None:
        """Nothing is held."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.requests.append(request)
        yield MessageStarted(f"m{len(self.requests)}", "obedient")
        last = request.turns[-1]
        order = ORDER.findall(texts((last,)))
        reason = StopReason.END
        if is_summary(request):
            yield TextPiece("A summary.")
        elif isinstance(last, UserTurn) and order:
            self._made += 1
            name, text = order[-1]
            yield CallStarted(f"call{self._made}", "Write")
            yield InputPiece(f'{{"file_path": "{name}", "content": "{text}"}}')
            reason = StopReason.CALLS
        else:
            yield TextPiece("Done.")
        yield BlockEnded()
        yield UsageReported(Usage(input=100, output=5))
        yield Finished(reason)


class Writing(FakeExecutor):
    """Writes files, as the gate lets the real tool do: kept first, then changed."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self.history: History | None = None

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        path = self.root / str(call.input["file_path"])
        assert self.history is not None
        await self.history.checkpoints.before(Access(writes=(path,)))
        path.write_text(str(call.input["content"]), encoding="utf-8")
        return ToolResult.text("written")


class Desk(msgspec.Struct, frozen=True):
    session: Session
    journal: Journal
    talk: Conversation
    standing: Standing
    writer: TranscriptWriter
    path: Path
    root: Path
    provider: Obedient

    def files(self) -> dict[str, str]:
        found = (path for path in self.root.iterdir() if path.is_file())
        return {path.name: path.read_text(encoding="utf-8") for path in found}

    def asked_last(self) -> str:
        return texts(self.provider.requests[-1].turns)


def open_desk(folder: Path) -> Desk:
    root, path = folder / "project", folder / "sessions" / "s1.jsonl"
    root.mkdir(parents=True)
    standing, talk, clock = Standing(), Conversation(), SystemClock()
    journal = Journal(clock=clock.time, new_id=new_id, stamp=standing.stamped)
    executor, provider = Writing(root), Obedient()
    places = HistoryPlaces(path.with_suffix(""), folder / "shared", root)
    history = executor.history = History(places, Caller({}), lambda event: saved(journal, event))

    folds = (standing.apply, history.checkpoints.saw)
    header = wire.Header(version=1, id="s1", cwd=str(root), created=1.0, app="0")
    writer = TranscriptWriter(path, header, lock=TranscriptLock(), warn=print)
    journal.publish(SessionStarted(model="m", mode="default", cwd=str(root), app="0"))

    def open_model(name: str, effort: str) -> OpenModel:
        frame = RequestFrame(model=name, effort=effort, system=("s",), tools=(), max_output=1000)
        return OpenModel(
            name=name, provider=provider, frame=frame, window=100_000, price=lambda usage: 0.01
        )

    def full_context(ports: CallPorts) -> ToolContext:
        return msgspec.structs.replace(
            context(root), where=ports.where, ask=ports.ask, stood=ports.stood
        )

    frame = Frame(
        id="s1",
        where=Where(root, root, folder),
        journal=journal,
        talk=talk,
        clock=clock,
        modes=FakeModes(),
        rules=FakeRules(),
        executor=executor,
        ledger=ReadLedger(),
        children=CHILDREN,
        context=full_context,
        open_model=open_model,
        model_name="m",
        retry_in=retry_in,
        attempts=3,
        barrier=writer.barrier if path else no_barrier,
        writer=writer,
        folder=path.parent,
    )
    brought = Contribution(
        folds=tuple(map(of_main, folds)),
        parts=(history,),
        close=(history.checkpoints.settled,),
    )
    return Desk(Session(frame, (brought,)), journal, talk, standing, writer, path, root, provider)


def saved(journal: Journal, event: object) -> None:
    if isinstance(event, FileSaved):
        journal.publish(event)
