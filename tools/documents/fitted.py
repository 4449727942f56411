"""Results with images and files as they came, made into what a model may get.

A provider that refuses one picture would refuse every later request of the session, too. So what
the confined process finds to be none becomes a line of text, and pictures have limits in number,
size and time together.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.tools.blocks import Block, Image
from gatewright.tools.documents.child_process import SECONDS, picture
from gatewright.tools.documents.picture import image_type
from gatewright.tools.protocol import (
    Content,
    ImageContent,
    RawFile,
    RawImage,
    Spawn,
    TextContent,
    ToolFailure,
    ToolResult,
)
from gatewright.tools.shell.output import spill_path
from gatewright.tools.system import private

PICTURES = 8
CHARS = 5_000_000  # of base64, all pictures of a call together
_LINE = 300
_NONE = "The picture cannot be shown: it is no image."


class _Shown(msgspec.Struct, frozen=True):
    image: ImageContent
    words: str


async def fitted(result: ToolResult, spawn: Spawn, spill: Path) -> ToolResult:
    """The texts as one, then the pictures in their order, then what was no text or picture.

    Files are kept in `spill`.

    ToolFailure where the whole result is one picture that cannot be shown.
    """
    raw = [part for part in result.parts if isinstance(part, RawImage)]
    looked = await _looked(raw, spawn)
    if len(result.parts) == 1 and looked and isinstance(looked[0], ToolFailure):
        raise looked[0]
    left = iter(looked)
    texts: list[str] = []
    others: list[Content] = []
    view: list[Block] = []
    words = ""
    for part in result.parts:
        match part:
            case TextContent(text=text):
                texts.append(text)
            case RawFile():
                texts.append(await asyncio.to_thread(_kept, part, spill))
            case RawImage():
                found = next(left, None)
                if isinstance(found, ToolFailure):
                    texts.append(f"[{' '.join(str(found).split())[:_LINE]}]")
                elif found is not None:
                    words = found.words
                    kind = found.image.media_type
                    others.append(found.image)
                    if part.name:
                        texts.append(f"[{part.name}: {kind}, {words}]")
                        view.append(Image(kind, words, part.path))
            case _:
                others.append(part)
    if more := len(raw) - len(looked):
        texts.append(f"[{more} more pictures left out]")
    content = (TextContent("\n".join(texts)), *others) if texts else tuple(others)
    return msgspec.structs.replace(
        result,
        content=content,
        parts=(),
        view=result.view or tuple(view),
        summary=result.summary or words,
    )


async def _looked(drawn: Sequence[RawImage], spawn: Spawn) -> list[_Shown | ToolFailure]:
    """The first of them as pictures, or why one is none, until a limit is met."""
    looked: list[_Shown | ToolFailure] = []
    chars = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS if len(drawn) > 1 else None):
            for each in drawn[:PICTURES]:
                found = await _one(each, spawn)
                chars += len(found.image.data) if isinstance(found, _Shown) else 0
                if chars > CHARS:
                    break
                looked.append(found)
    return looked


async def _one(raw: RawImage, spawn: Spawn) -> _Shown | ToolFailure:
    try:
        data = raw.data
        if isinstance(data, str):
            data = await asyncio.to_thread(base64.b64decode, data)
        if not image_type(data[:16]):
            return ToolFailure(_NONE)
        return _Shown(*await picture(data, raw.name or "The picture", spawn))
    except ToolFailure as failure:
        return failure
    except ValueError:  # no base64
        return ToolFailure(_NONE)


def _kept(part: RawFile, spill: Path) -> str:
    path = spill_path(spill, part.kind).with_suffix("")
    try:
        private.write(path, part.data)
    except OSError as error:
        raise ToolFailure(f"The body cannot be kept: {error.strerror}.") from None
    return f"{part.said}, {len(part.data):,} bytes, kept in {path}. Read may show it."
