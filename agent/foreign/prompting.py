"""What another agent is told: what was said to this agent since, as blocks of a prompt.

The first prompt of a process begins with its definition's text, and with what an earlier one had
said where the agent goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.messages import AssistantTurn, TextPart, UserTurn
from gatewright.tools.protocol import Content, ImageContent, TextContent
from gatewright.tools.system.untyped_json import Json

EARLIER = 20_000  # characters of what was said before
BEFORE = "You worked on this before, in a session that is over. What was said then, oldest first:"
NO_IMAGE = "[an image, which you cannot be shown]"


class Prompting:
    def __init__(self, talk: Conversation, opening: str) -> None:
        self._talk, self._opening = talk, opening
        self._sent = len(_told(talk))
        self._first = True
        self._images = False

    def anew(self, *, images: bool) -> None:
        """A session begins that knows nothing."""
        self._first, self._images = True, images

    def blocks(self) -> Sequence[Json]:
        told = _told(self._talk)
        new, before = told[self._sent :], self._sent
        self._sent = len(told)
        first, self._first = self._first, False
        texts = [self._opening, _earlier(self._talk, before)] if first else []
        blocks: list[Json] = [_text(text) for text in texts if text.strip()]
        return [*blocks, *map(self._block, new)] or [_text("Go on.")]

    def _block(self, part: Content) -> Json:
        match part:
            case TextContent(text=text):
                return _text(text)
            case ImageContent(media_type=kind, data=data) if self._images:
                return {"type": "image", "data": data, "mimeType": kind}
            case _:
                return _text(NO_IMAGE)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _told(talk: Conversation) -> list[Content]:
    return [part for turn in talk.view() if isinstance(turn, UserTurn) for part in turn.content]


def _earlier(talk: Conversation, before: int) -> str:
    """What was told it and what it said, up to what is new; the end of it, where it is long."""
    text = "\n\n".join(_lines(talk, before))
    if not text:
        return ""
    cut = text if len(text) <= EARLIER else f"[cut]{text[-EARLIER:]}"
    return f"{BEFORE}\n\n{cut}"


def _lines(talk: Conversation, before: int) -> Iterator[str]:
    for turn in talk.view():
        if isinstance(turn, UserTurn):
            for part in turn.content:
                if before <= 0:
                    return
                before -= 1
                if isinstance(part, TextContent):
                    yield f"You were told: {part.text}"
        elif isinstance(turn, AssistantTurn):
            said = "".join(part.text for part in turn.parts if isinstance(part, TextPart))
            if said.strip():
                yield f"You said: {said}"
