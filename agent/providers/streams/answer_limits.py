"""How much one answer of a server may hold: far beyond what any model gives, far below what hurts.

The longest answer of any model, 128,000 tokens, is about 1 MB of text, and 40 MB of events where a
server spends 300 bytes on each token.
"""

from __future__ import annotations

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import CallStarted, Finished, InputPiece, Piece, TextPiece
from gatewright.agent.providers.protocol import ThinkingPiece as Thinking

MIB = 1024 * 1024
STREAM = 64 * MIB  # bytes of one stream, comments and framing of events included
CONTENT = 16 * MIB  # characters of text, thinking and tool inputs; bytes of an answer in one piece
CALL = 4096  # what the start of a tool call counts, so that there are not a million of them


class TooMuch(ProviderError):
    """The answer had no end in sight. What came so far is kept; asking again would be no better."""

    def __init__(self, who: str, what: str, limit: int) -> None:
        super().__init__(
            FailureKind.REFUSED,
            f"{who} sent more than {limit // MIB} MiB {what}, which no model does; the answer was "
            "cut there. Check the server, or try another model.",
        )


class Meter:
    """Counts what came of one answer. Raises TooMuch."""

    def __init__(self, who: str, limit: int, what: str = "in one answer") -> None:
        self._who = who
        self._limit = limit
        self._what = what
        self._taken = 0

    def took(self, count: int) -> None:
        self._taken += count
        if self._taken > self._limit:
            raise TooMuch(self._who, self._what, self._limit)


def weight(piece: Piece) -> int:
    """How much of an answer a piece is: what stays in memory until its end."""
    match piece:
        case TextPiece(text=text):
            return len(text)
        case Thinking(text=text, opaque=opaque):
            return len(text) + len(opaque)
        case InputPiece(json=json):
            return len(json)
        case CallStarted(id=id, name=name):
            return CALL + len(id) + len(name)
        case Finished(detail=detail):
            return len(detail)
        case _:
            return 0
