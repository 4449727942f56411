"""Documents that anybody may have written, read in a process of their own with limits.

The process gets the opened document, not its path, and answers text and pictures, whose sizes are
checked here. It starts in about 0.1 s and ends with the call.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, cast

import msgspec

from gatewright.tools.documents.picture import image_type
from gatewright.tools.inert import visible
from gatewright.tools.protocol import (
    Content,
    ImageContent,
    Spawn,
    SpawnRequest,
    TextContent,
    ToolFailure,
)

MEMORY = 768 * 1024 * 1024  # of address space: the interpreter and the parsers take 250 MB of it
CPU = 20
SECONDS = 30.0
ANSWER = 48 * 1024 * 1024
TEXT = 12 * 1024 * 1024  # of that: it is made harmless here, in one step
EDGE = 1568
BYTES = 3_700_000  # of a picture: 5 MB as base64
ACCEPTED = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_CHILD = Path(__file__).with_name("document_child.py")
_PARSERS = ("PIL", "pypdfium2", "html_to_markdown")
_HEADER = 64 * 1024
_SEATBELT = "/usr/bin/sandbox-exec"
_SHUT_OFF = "(version 1)(allow default)(deny network*)(deny file-write*)(deny process-fork)"

Kind: TypeAlias = Literal["pdf", "image", "html"]


class Shown(msgspec.Struct, frozen=True):
    """What a document holds. `words` is a picture's size, `numbers` the pages of a PDF.

    `same`: the picture is fit to be sent as it is, and is not among the contents.
    """

    content: tuple[Content, ...] = ()
    words: str = ""
    numbers: tuple[int, ...] = ()
    same: bool = False


class _Header(msgspec.Struct, frozen=True):
    parts: tuple[tuple[str, int], ...] = ()
    failure: str = ""
    words: str = ""
    numbers: tuple[int, ...] = ()
    same: bool = False


class _Task(msgspec.Struct, frozen=True):
    kind: Kind
    path: tuple[str, ...]
    pages: str | None
    accepted: bool
    memory: int = MEMORY
    cpu: int = CPU
    edge: int = EDGE
    bytes: int = BYTES


async def shown(
    kind: Kind, file: BinaryIO, name: str, spawn: Spawn, *, pages: str | None = None
) -> Shown:
    """What the opened document holds; ToolFailure, which calls it by its name, where it cannot."""
    accepted = kind == "image" and image_type(os.pread(file.fileno(), 16, 0)) in ACCEPTED
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    task = _Task(kind, _libraries(), pages, accepted)
    code, data = await _answer(task, file.fileno(), name, spawn)
    try:
        head, _, rest = data.partition(b"\n")
        header = msgspec.json.decode(head[:_HEADER], type=_Header)
        if header.failure and header.failure != "memory":
            raise ToolFailure(f"{name} cannot be shown: {visible(header.failure)[:500]}.")
        if header.failure or code:
            raise _too_much(name, kind, "memory")
        return _checked(header, rest)
    except (ValueError, RecursionError):  # also what msgspec raises
        what = "time" if code == 128 + 24 else "memory"
        raise _too_much(name, kind, what) from None


async def shown_bytes(kind: Kind, data: bytes, name: str, spawn: Spawn) -> Shown:
    """The same for a document that is in memory."""
    with _kept(data) as file:
        return await shown(kind, file, name, spawn)


async def picture(source: BinaryIO | bytes, name: str, spawn: Spawn) -> tuple[ImageContent, str]:
    """The image as the model may get it, and its size in words."""
    with ExitStack() as held:
        file = held.enter_context(_kept(source)) if isinstance(source, bytes) else source
        found = await shown("image", file, name, spawn)
        if found.same:
            data = os.pread(file.fileno(), BYTES + 1, 0)  # the child moved the place we share
            kind = image_type(data[:16])
            if kind in ACCEPTED and len(data) <= BYTES:
                return ImageContent(kind, base64.b64encode(data).decode()), found.words
    first = found.content[0] if found.content else None
    if not isinstance(first, ImageContent):
        raise ToolFailure(f"{name} cannot be shown: it changed just now.")
    return first, found.words


def _kept(data: bytes) -> BinaryIO:
    file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  the caller closes it
    file.write(data)
    file.flush()
    return file


async def _answer(task: _Task, file: int, name: str, spawn: Spawn) -> tuple[int, bytes]:
    text = msgspec.json.encode(task).decode()
    argv = (sys.executable, "-I", "-S", str(_CHILD), text)
    if sys.platform == "darwin" and os.access(_SEATBELT, os.X_OK):
        argv = (_SEATBELT, "-p", _SHUT_OFF, *argv)
    env = {"LC_ALL": "C.UTF-8", "PATH": os.defpath}
    child = await spawn(SpawnRequest(argv=argv, cwd=Path("/"), env=env, stdin=file))
    data = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            while chunk := await child.read():
                data += chunk
                if len(data) > ANSWER:
                    break
    except TimeoutError:
        await child.kill(0.2)
        raise _too_much(name, task.kind, "time") from None
    except BaseException:
        await child.kill(0.2)
        raise
    if len(data) > ANSWER:
        await child.kill(0.2)
        raise _too_much(name, task.kind, "room")
    return await child.wait(), bytes(data)


def _checked(header: _Header, rest: bytes) -> Shown:
    """What the child says its answer is must be what it is. ValueError."""
    content: list[Content] = []
    if sum(size for kind, size in header.parts if kind == "text/plain") > TEXT:
        raise ValueError("no document of ours has so much text")
    for kind, size in header.parts:
        part, rest = rest[:size], rest[size:]
        if size < 0 or len(part) != size:
            raise ValueError("the answer is cut")
        if kind == "text/plain":
            content.append(TextContent(visible(part.decode("utf-8", "replace"))))
        elif kind == image_type(part[:16]) and kind in ACCEPTED and size <= BYTES:
            content.append(ImageContent(kind, base64.b64encode(part).decode()))
        else:
            raise ValueError("no picture")
    return Shown(tuple(content), visible(header.words)[:100], header.numbers, header.same)


def _too_much(name: str, kind: Kind, what: str) -> ToolFailure:
    limit = {
        "time": f"{CPU} s",
        "memory": f"{MEMORY // 1024 // 1024} MB of memory",
        "room": f"{ANSWER // 1024 // 1024} MB of text and pictures",
    }[what]
    advice = {
        "pdf": "Ask for fewer pages, or convert it with Bash (pdftotext, pdftoppm -r 72).",
        "image": "Make it smaller with Bash first (convert, sips).",
        "html": "Fetch it with Bash (curl) and look for the part you need.",
    }[kind]
    return ToolFailure(f"{name} cannot be shown within {limit}. {advice}")


def _libraries() -> tuple[str, ...]:
    """The directories the parsers are in, found without loading them."""
    found = [find_spec(name) for name in _PARSERS]
    return tuple(
        dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin)
    )
