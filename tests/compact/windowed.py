"""A model with a window: it counts what it is sent, refuses what is too long, and summarises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from gatewright.agent.compact.estimate import text_tokens, tool_tokens, turns_tokens
from gatewright.agent.errors import FailureKind, ProviderError
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
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.messages import ResultTurn, Turn, Usage, UserTurn
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.protocol import TextContent

ASKS_FOR_SUMMARY = "The conversation has become too long to go on with"


def texts(turns: tuple[Turn, ...]) -> str:
    """Everything the model was told, as one text."""
    told = [turn for turn in turns if isinstance(turn, UserTurn | ResultTurn)]
    parts = [part for turn in told for part in turn.content]
    return "\n".join(part.text for part in parts if isinstance(part, TextContent))


def is_summary(request: Request) -> bool:
    last = request.turns[-1]
    return isinstance(last, UserTurn) and ASKS_FOR_SUMMARY in texts((last,))


class Windowed:
    """Makes `calls` tool calls in each turn before it answers; `summary` writes summaries."""

    name = "windowed"

    def __init__(
        self,
        window: int,
        *,
        calls: int = 2,
        tool: str = "Read",
        summary: Callable[[Request], str] = lambda request: "A summary.",
    ) -> None:
        self.window = window
        self.summaries = 0
        self.requests: list[Request] = []
        self._calls = calls
        self._tool = tool
        self._made = 0
        self._left = calls
        self._summary = summary

    def open(self, name: str, effort: str) -> OpenModel:
        frame = RequestFrame(
            model=name, effort=effort, system=("system",), tools=(), max_output=1000
        )
        return OpenModel(
            name=name, provider=self, frame=frame, window=self.window, price=lambda usage: 0.01
        )

    async def close(self) -> None:
        """Nothing is held."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.requests.append(request)
        size = turns_tokens(request.turns) + tool_tokens(request.tools)
        size += sum(map(text_tokens, request.system))
        if size + request.max_output > self.window:
            raise ProviderError(FailureKind.TOO_LONG, "prompt is too long")
        yield MessageStarted(f"m{len(self.requests)}", "windowed")
        reason = StopReason.END
        if is_summary(request):
            self.summaries += 1
            yield TextPiece(self._summary(request))
        elif self._left:
            self._left -= 1
            self._made += 1
            yield ThinkingPiece("Hm.", opaque="signed")
            yield BlockEnded()
            yield CallStarted(f"call{self._made}", self._tool)
            yield InputPiece('{"file_path": "/w/a"}')
            reason = StopReason.CALLS
        else:
            self._left = self._calls
            yield TextPiece("Done with that.")
        yield BlockEnded()
        yield UsageReported(Usage(input=size, output=50))
        yield Finished(reason)
