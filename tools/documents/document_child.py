"""Runs as a script in a process of its own: describes one document, written by anybody.

Imports nothing of ours. Memory and processor time are limited first; once the parsers are loaded
the process shuts itself off from files, network and other processes as far as the system can.
Standard input is the document, standard output the answer: a line of JSON, then the pictures.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

TYPE_CHECKING = False  # typing itself would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

    from PIL.Image import Image

PAGES = 20
PAGE_CHARS = 12_000
SCANNED = 40  # a page with fewer characters is shown as a picture
PIXELS = 80_000_000  # what decoding may cost: 240 MB
FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")

Part = tuple[str, bytes]  # text/plain or a media type
_NAMES = re.compile(r"(\d+)(?:(-)(\d*))?")


class Refused(Exception):
    """The document cannot be shown; the text says why."""


def main() -> None:
    task: dict[str, Any] = json.loads(sys.argv[1])
    answer = os.dup(1)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    _limit(task["memory"], task["cpu"])
    sys.path[:] = [*sys.path, *task["path"]]
    header: dict[str, Any] = {}
    parts: list[Part] = []
    try:
        show = {"pdf": _pdf, "image": _image, "html": _html}[task["kind"]](task)
        _shut_off((*FONTS, os.__file__.rpartition("/")[0], *task["path"]))
        header, parts = show()
    except Refused as error:
        header = {"failure": str(error)}
    except MemoryError:
        header = {"failure": "memory"}
    header["parts"] = [[kind, len(data)] for kind, data in parts]
    with os.fdopen(answer, "wb") as out:
        out.write(json.dumps(header).encode() + b"\n")
        for _, data in parts:
            out.write(data)
    os._exit(0)  # a parser that lost its way must not keep us with its destructors


def _limit(memory: int, cpu: int) -> None:
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, memory),
    ):
        with suppress(OSError, ValueError):  # macOS knows no limit of the address space
            resource.setrlimit(what, (most, most))


# --- the documents ----------------------------------------------------------------------------

Show = Callable[[], tuple[dict[str, object], list[Part]]]


def _image(task: dict[str, Any]) -> Show:
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415  lazy: 40 ms

    Image.init()
    Image.MAX_IMAGE_PIXELS = None  # the check below is stricter and warns nobody

    def show() -> tuple[dict[str, object], list[Part]]:
        size = os.fstat(0).st_size
        try:
            with Image.open(io.BufferedReader(io.FileIO(0, closefd=False))) as image:
                width, height = image.size
                if width * height > PIXELS:
                    raise Refused(f"it has {width}x{height} pixels: too large to decode")
                words = f"{width}x{height}"
                if (
                    task["accepted"]
                    and max(width, height) <= task["edge"]
                    and size <= task["bytes"]
                ):
                    image.load()  # a good beginning is no picture yet: who gets it decodes all
                    return {"words": words, "same": True}, []
                data, kind = _smaller(image, task)
                return {"words": f"{words}, scaled down"}, [(kind, data)]
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
            raise Refused(f"it is a damaged image: {error}") from None

    return show


def _smaller(image: Image, task: dict[str, Any]) -> tuple[bytes, str]:
    """The image within the edge and the bytes, as PNG where that is small enough, else as JPEG."""
    edge = (task["edge"], task["edge"])
    image.draft("RGB", edge)  # JPEG decodes straight to a smaller size
    image.thumbnail(edge)
    flat = image if image.mode in ("RGB", "RGBA", "L") else image.convert("RGBA")
    buffer = io.BytesIO()
    flat.save(buffer, "PNG")
    if buffer.tell() <= task["bytes"] // 4:
        return buffer.getvalue(), "image/png"
    opaque = flat.convert("RGB")
    for quality in (85, 60, 30):
        buffer = io.BytesIO()
        opaque.save(buffer, "JPEG", quality=quality)
        if buffer.tell() <= task["bytes"]:
            break
    return buffer.getvalue(), "image/jpeg"


def _pdf(task: dict[str, Any]) -> Show:
    from importlib import import_module  # noqa: PLC0415

    from PIL import Image  # noqa: PLC0415  lazy: 40 ms

    pypdfium2: Any = import_module("pypdfium2")  # 60 ms; it has no types

    Image.init()

    def show() -> tuple[dict[str, object], list[Part]]:
        try:
            document = pypdfium2.PdfDocument(io.FileIO(0, closefd=False))
        except pypdfium2.PdfiumError as error:
            raise Refused(f"it cannot be opened as a PDF: {error}") from None
        total = len(document)
        numbers = wanted(task["pages"], total)
        parts: list[Part] = []
        for number in numbers:
            page = document[number - 1]
            parts += _page(page, f"[page {number} of {total}]", task)
            page.close()
        return {"numbers": numbers}, parts

    return show


def _page(page: Any, head: str, task: dict[str, Any]) -> list[Part]:
    text_page = page.get_textpage()
    text = text_page.get_text_range(count=min(text_page.count_chars(), PAGE_CHARS))
    text_page.close()
    if len(text.strip()) >= SCANNED:
        return [("text/plain", f"{head}\n{text}".encode("utf-8", "replace"))]
    width, height = page.get_size()
    bitmap = page.render(scale=task["edge"] / max(width, height, 1))
    data, kind = _smaller(bitmap.to_pil(), task)
    bitmap.close()
    said = f"{head} {text.strip()}".rstrip()
    return [("text/plain", said.encode("utf-8", "replace")), (kind, data)]


def wanted(pages: str | None, total: int) -> list[int]:
    """Page numbers from 1 of a list such as "1-5,9"."""
    if not pages:
        if total > PAGES:
            raise Refused(f'it has {total} pages; say which with pages, such as "1-{PAGES}"')
        return list(range(1, total + 1))
    numbers: list[int] = []
    for part in pages.replace(" ", "").split(","):
        found = _NAMES.fullmatch(part)
        if not found:
            raise Refused(f'pages is {pages!r}; write it as "3", "1-5" or "1-3,8"')
        first = int(found[1])
        last = min(int(found[3] or total), total) if found[2] else first
        if not 1 <= first <= total or last < first:
            raise Refused(f"pages is {pages!r}, but the PDF has {total} pages")
        numbers += range(first, last + 1)
        if len(numbers) > PAGES:
            raise Refused(f"At most {PAGES} pages a call; {pages!r} is more")
    return numbers


def _html(task: dict[str, Any]) -> Show:
    from html_to_markdown import ConversionOptions, convert  # noqa: PLC0415  lazy: 10 ms

    options = ConversionOptions(skip_images=True, extract_metadata=False, max_depth=400)
    del task

    def show() -> tuple[dict[str, object], list[Part]]:
        with io.FileIO(0, closefd=False) as file:
            text = file.readall().decode("utf-8", "replace")
        return {}, [("text/plain", (convert(text, options).content or "").encode())]

    return show


# --- confinement ------------------------------------------------------------------------------

# Sockets, processes, signals, limits, and what has no business in a parser; by machine.
_REFUSED = {
    "x86_64": (0xC000003E, (41, 42, 53, 56, 57, 58, 59, 62, 101, 160, 165, 200, 234, 248, 250, 272,
                            302, 304, 310, 311, 321, 322, 323, 425, 434, 435, 438)),
    "aarch64": (0xC00000B7, (40, 97, 117, 129, 130, 131, 164, 198, 199, 203, 217, 219, 220, 221,
                             261, 265, 270, 271, 280, 281, 282, 425, 434, 435, 438)),
}  # fmt: skip


def _shut_off(readable: Sequence[str]) -> None:
    """Best effort: the limits hold without it."""
    if sys.platform != "linux":
        return  # whoever starts us put us into the sandbox of that system
    import ctypes  # noqa: PLC0415  5 ms

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) == 0:  # no new privileges: without it nothing below is taken
        _landlock(libc, readable)
        _filter(libc)


def _landlock(libc: Any, readable: Sequence[str]) -> None:
    """From now on no file can be opened but fonts and what Python and the parsers are made of."""
    import ctypes  # noqa: PLC0415  loaded already

    version = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    words = struct.pack("QQ", rights, 3) if version >= 4 else struct.pack("Q", rights)
    ruleset = libc.syscall(444, words, ctypes.c_size_t(len(words)), 0)
    if ruleset < 0:
        return
    for folder in readable:
        with suppress(OSError):
            fd = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            libc.syscall(445, ruleset, 1, struct.pack("=Qi", 0b1100, fd), 0)
            os.close(fd)
    libc.syscall(446, ruleset, 0)
    os.close(ruleset)


def _filter(libc: Any) -> None:
    import ctypes  # noqa: PLC0415  loaded already

    known = _REFUSED.get(os.uname().machine)
    if known is None:
        return
    code = _program(*known)
    buffer = ctypes.create_string_buffer(code, len(code))
    fprog = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc.prctl(22, 2, fprog, 0, 0)


def _program(machine: int, numbers: Sequence[int]) -> bytes:
    """Classic BPF: another machine's calls end the process, the refused ones fail."""
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    code = [(load, 0, 0, 4), (equal, 1, 0, machine), (answer, 0, 0, 0x80000000), (load, 0, 0, 0)]
    left = len(numbers)
    code.append((at_least, left + 1, 0, 0x40000000))  # the other names of the same calls
    for number in numbers:
        code.append((equal, left, 0, number))
        left -= 1
    code += [(answer, 0, 0, 0x7FFF0000), (answer, 0, 0, 0x00050001)]
    return b"".join(struct.pack("HBBI", *line) for line in code)


if __name__ == "__main__":
    main()
