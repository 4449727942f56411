"""What a background session is at, as a fold over its events: its state, its question, its cost."""

from __future__ import annotations

from msgspec.structs import replace

from gatewright.agent.autonomy.running.running_record import Record, State
from gatewright.agent.record.events import (
    Answered,
    Asked,
    Envelope,
    InputRefused,
    ModeChanged,
    ModelChanged,
    SessionStarted,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

CUT = 160
DONE = frozenset({Stop.COMPLETED, Stop.HOOK_STOPPED})
LEFT = frozenset({Stop.ABORTED_STREAMING, Stop.ABORTED_TOOLS, Stop.USER_REFUSED})


class Standing:
    """Fed with what happens in this process, in order; `jobs` work behind a turn."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._asks: dict[int, str] = {}
        self._turn = False
        self._rest: State = "idle"
        self._why = ""
        self.jobs = False

    @property
    def asks(self) -> bool:
        return bool(self._asks)

    @property
    def resting(self) -> bool:
        return not (self._turn or self.jobs or self._asks)

    def now(self) -> Record:
        state: State = self._rest
        if self._asks:
            state = "needs you"
        elif self._turn or self.jobs:
            state = "working"
        why = self._why if state == "failed" else ""
        return replace(self._record, state=state, why=why, ask=next(iter(self._asks.values()), ""))

    def ends(self, state: State, why: str) -> Record:
        """The last word."""
        return replace(self._record, state=state, why=why, ask="", viewers=0)

    @property
    def viewers(self) -> int:
        return self._record.viewers

    def begins(self) -> None:
        """A prompt is on its way."""
        self._turn = True

    def reached(self, socket: str) -> None:
        self._record = replace(self._record, socket=socket)

    def kept(self, transcript: str) -> None:
        self._record = replace(self._record, transcript=transcript)

    def looked_at(self, viewers: int) -> None:
        self._record = replace(self._record, viewers=viewers)

    def spent(self, cost: float) -> None:
        self._record = replace(self._record, cost=round(cost, 6))

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        match event:
            case Asked(id=id, ask=ask):
                self._asks[id] = line(f"{ask.title} {ask.reason}")
            case Answered(id=id):
                self._asks.pop(id, None)
            case _ if envelope.agent == MAIN:
                self._of_main(envelope)
            case _:
                pass

    def _of_main(self, envelope: Envelope) -> None:
        match envelope.event:
            case TurnStarted():
                self._turn = True
            case TurnEnded() as ended:
                self._turn = False
                self._ended(ended)
            case InputRefused(reason=reason):
                self._turn, self._rest, self._why = False, "failed", line(reason)
            case SessionStarted(model=model, mode=mode, cwd=cwd):
                self._record = replace(self._record, model=model, mode=mode, cwd=cwd)
            case ModeChanged(mode=mode):
                self._record = replace(self._record, mode=mode)
            case ModelChanged(model=model):
                self._record = replace(self._record, model=model)
            case TitleChanged(title=title):
                self._record = replace(self._record, title=line(title))
            case UserMessage(hidden=False, content=content) if not self._record.title:
                text = " ".join(each.text for each in content if isinstance(each, TextContent))
                self._record = replace(self._record, title=line(text))
            case _:
                pass

    def _ended(self, ended: TurnEnded) -> None:
        if ended.stop in DONE:
            self._rest, self._why = "done", ""
        elif ended.stop in LEFT:
            self._rest, self._why = "idle", ""
        else:
            self._rest, self._why = "failed", line(ended.message or ended.stop.value)


def line(text: str) -> str:
    words = " ".join(text[: 4 * CUT].split())
    return words if len(words) <= CUT else f"{words[: CUT - 1]}…"
