"""What a notebook drew, for the model: only what the confined process found to be a picture.

A provider that refuses one picture would refuse every later request of the session, too. So what
is none becomes a line of text, and pictures have limits in number, size and time together.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress

from gatewright.tools.documents.child_process import SECONDS, picture
from gatewright.tools.documents.picture import image_type
from gatewright.tools.files.notebook import Drawn, Notebook
from gatewright.tools.protocol import Content, ImageContent, Spawn, TextContent, ToolFailure

PICTURES = 8
CHARS = 5_000_000  # of base64, all pictures of a call together
_LINE = 300
_NONE = "The picture cannot be shown: it is no image."


async def content(book: Notebook, spawn: Spawn) -> tuple[Content, ...]:
    """The cells as one text, and the first pictures in their order."""
    parts = await asyncio.to_thread(book.parts)
    drawn = [part for part in parts if isinstance(part, Drawn)]
    looked = await _looked(drawn, spawn)
    left = iter(looked)
    texts: list[str] = []
    images: list[Content] = []
    for part in parts:
        found = part if isinstance(part, str) else next(left, None)
        if isinstance(found, str):
            texts.append(found)
        elif found is not None:
            images.append(found)
    more = len(drawn) - len(looked)
    note = f"\n[{more} more pictures left out]" if more else ""
    return TextContent("\n".join(texts) + note), *images


async def _looked(drawn: Sequence[Drawn], spawn: Spawn) -> list[ImageContent | str]:
    """The first of them as pictures, or in a line why one is none, until a limit is met."""
    looked: list[ImageContent | str] = []
    chars = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for each in drawn[:PICTURES]:
                found = await _one(each, spawn)
                chars += len(found.data) if isinstance(found, ImageContent) else 0
                if chars > CHARS:
                    break
                looked.append(found)
    return looked


async def _one(drawn: Drawn, spawn: Spawn) -> ImageContent | str:
    try:
        data = await asyncio.to_thread(base64.b64decode, drawn.data)
        if not image_type(data[:16]):
            return f"[{_NONE}]"
        found, _ = await picture(data, "The picture", spawn)
    except ToolFailure as failure:
        return f"[{' '.join(str(failure).split())[:_LINE]}]"
    except ValueError:  # no base64
        return f"[{_NONE}]"
    return found
