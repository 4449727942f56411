"""What is said in a turn: inputs, answers and their pieces."""

from __future__ import annotations

from typing import ClassVar

from gatewright.agent.errors import FailureKind
from gatewright.agent.record.event_base import Event
from gatewright.agent.record.messages import AssistantPart, CallPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import Content


class UserMessage(Event, frozen=True, tag="user"):
    """`hidden` text is for the model only: notices, re-injected state.

    `source` is who else than the person, or the program itself, it comes from: job, schedule,
    channel, peer, agent. Nothing of theirs is ever a person's word. `typed` is what of it the
    person wrote with their own hands, None for all: the rest was pasted, piped or made for them.
    """

    content: tuple[Content, ...]
    input_id: str = ""
    hidden: bool = False
    source: str = ""
    typed: str | None = None


class InputRefused(Event, frozen=True, tag="input_refused"):
    """What was typed is not sent, and why: it is the person's again, who may have said so."""

    durable: ClassVar[bool] = False
    text: str
    reason: str
    declined: bool = False  # by the person, whom nothing is given back


class AssistantMessage(Event, frozen=True, tag="assistant"):
    id: str
    model: str
    parts: tuple[AssistantPart, ...]
    usage: Usage = Usage()
    cost: float = 0.0
    cut: bool = False  # the stream was interrupted: what came is kept


class AttemptPaid(Event, frozen=True, tag="attempt_paid"):
    """What was used by an attempt at an answer that no message has: it failed or was stopped.

    `by` is who else asked beside the conversation: hooks, title, pages, …
    """

    model: str
    usage: Usage
    cost: float = 0.0
    by: str = ""


class MessageRedrawn(Event, frozen=True, tag="message_redrawn"):
    """The screen shows this in place of what a message said; the model never hears of it."""

    durable: ClassVar[bool] = False
    id: str
    text: str


class TurnStarted(Event, frozen=True, tag="turn_started"):
    durable: ClassVar[bool] = False


class TurnEnded(Event, frozen=True, tag="turn_ended"):
    """Exactly one per turn. `usage` and `cost` are the turn's sums, `requests` its round trips.

    `waited` is what of its `ms` a person took to answer.

    `failure` is the kind of provider error that ended it: whether trying again can help. `waits` is
    a call that was put off: it has no result, and the next turn begins with it.
    """

    stop: Stop
    message: str = ""  # what the person should know when it did not simply complete
    failure: FailureKind | None = None
    usage: Usage = Usage()
    cost: float = 0.0
    requests: int = 0
    ms: int = 0
    api_ms: int = 0
    waited: int = 0
    waits: CallPart | None = None
    model_stop: str = ""  # the model's own reason, where that ended it: length, refusal
    retry_after: float | None = None  # seconds that the server wants to be left alone


class TextDelta(Event, frozen=True, tag="text_delta"):
    durable: ClassVar[bool] = False
    text: str


class ThinkingDelta(Event, frozen=True, tag="thinking_delta"):
    durable: ClassVar[bool] = False
    text: str


class InputDelta(Event, frozen=True, tag="input_delta"):
    """A piece of a tool call's JSON while it streams; `name` is always known."""

    durable: ClassVar[bool] = False
    call_id: str
    name: str
    json: str


class MessageDropped(Event, frozen=True, tag="message_dropped"):
    """What streamed of the current message is void: the request is tried again."""

    durable: ClassVar[bool] = False


class RetryScheduled(Event, frozen=True, tag="retry"):
    durable: ClassVar[bool] = False
    attempt: int
    attempts: int
    seconds: float
    reason: str


class RequestQueued(Event, frozen=True, tag="queued"):
    """A request waits for its turn: `ahead` come before it, or the server wants nothing yet."""

    durable: ClassVar[bool] = False
    seconds: float  # until it wants requests again; 0 where it wants them
    ahead: int

    @property
    def why(self) -> str:
        if self.seconds >= 0.5:
            return f"The server takes requests again in {self.seconds:.0f} s"
        before = f"{self.ahead} before it" if self.ahead else "it is the next"
        return f"Waits for its turn at the server, {before}"


class StreamSilent(Event, frozen=True, tag="silent"):
    """The model has sent nothing for a while; at `limit` seconds the request is given up."""

    durable: ClassVar[bool] = False
    seconds: float
    limit: float
