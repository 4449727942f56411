"""Files as the tools see them: bytes with a known encoding and newline.

Decoding is lossless: `encode(decode(data).text) == data` for every input that is not refused.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatewright.tools.files.disk import DISK, WHOLE_LIMIT
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.textfiles import TextFiles

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class FileText(msgspec.Struct, frozen=True):
    """Decoded content. Undecodable bytes of UTF-8 are kept as lone surrogates."""

    text: str
    encoding: str
    bom: bytes = b""

    @property
    def _errors(self) -> str:
        return "surrogateescape" if self.encoding == "utf-8" else "strict"

    def encode(self, text: str) -> bytes:
        """`text` in this file's encoding, or ToolFailure naming the character that has no place."""
        try:
            return self.bom + text.encode(self.encoding, self._errors)
        except UnicodeEncodeError as error:
            char = text[error.start]
            raise ToolFailure(
                f"The file is {self.encoding}, which has no {char!r}. Use other characters, or"
                " convert the file with Bash (iconv) first."
            ) from None


def detect(sample: bytes, *, whole: bool = False) -> tuple[str, bytes]:
    """Encoding and byte-order mark by the first bytes, or by all of them; "" for binary."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return encoding, bom
    if b"\0" in sample:
        return _wide_without_bom(sample), b""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, whole)
    except UnicodeDecodeError as error:
        # One stray byte in otherwise UTF-8 text stays UTF-8; text with none of it is Latin-1.
        before = sample[: error.start]
        return ("utf-8" if len(before.decode()) < len(before) else "latin-1"), b""
    return "utf-8", b""


def _wide_without_bom(sample: bytes) -> str:
    even, odd = sample[0::2], sample[1::2]
    if len(sample) >= 4 and len(sample) % 2 == 0:
        if odd.count(0) > 0.7 * len(odd) and not even.count(0):
            return "utf-16-le"
        if even.count(0) > 0.7 * len(even) and not odd.count(0):
            return "utf-16-be"
    return ""


def decode(data: bytes) -> FileText:
    """The text of a whole file, or ToolFailure for binary content."""
    encoding, bom = detect(data, whole=True)
    if not encoding:
        raise ToolFailure("This is a binary file: it contains NUL bytes.")
    body = data[len(bom) :]
    if encoding == "utf-8":
        return FileText(body.decode("utf-8", "surrogateescape"), encoding, bom)
    try:
        found = FileText(body.decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        raise ToolFailure(f"This file starts as {encoding} but is not valid {encoding}.") from None
    if found.encode(found.text) != data:
        raise ToolFailure(f"This {encoding} file cannot be changed without changing other bytes.")
    return found


def newline(text: str) -> str:
    """The line ending most lines of `text` have; a line feed where there are no lines."""
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] else "\n"


def settled(path: Path, ctx: ToolContext) -> Path:
    """Where the path really leads; ToolFailure if that is not where the judged call led."""
    real = Path(real_path(path))
    if ctx.real.get(path, real) != real:
        raise ToolFailure(f"{path} now leads to {real}, which nobody agreed to. Call again.")
    return real


def files_of(ctx: ToolContext) -> TextFiles:
    """Who holds the text of files here."""
    return DISK if ctx.files is None else ctx.files


def size_of(file: BinaryIO) -> int:
    """Its bytes in all; the place in it stays."""
    place = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(place)
    return size


def reading(real: Path, ctx: ToolContext | None = None, *, limit: int = WHOLE_LIMIT) -> bytes:
    """All bytes of a file within the limit, as who holds its text has them; without a context from
    the disk. FileNotFoundError, or ToolFailure that says what is there instead."""
    holder = DISK if ctx is None else files_of(ctx)
    with holder.opened(real) as file:
        size = size_of(file)
        if size > limit:
            raise ToolFailure(
                f"{real} has {size:,} bytes, above the {limit:,} this tool takes."
                " Use Bash (sed, split) for it."
            )
        return file.read(limit + 1)


class ReadLedger:
    """Implements tools.protocol.Ledger for one conversation; capped, oldest files forgotten first.

    Tools call it from threads. `forget_shown` is for whoever takes earlier results away from the
    model (compaction, clearing).
    """

    CAP = 2000

    def __init__(self, changed_by: Callable[[str], str] = lambda path: "") -> None:  # noqa: ARG005
        self._changed_by = changed_by  # which other agent changed a real path last; else empty
        self._lock = threading.Lock()
        self._noted: OrderedDict[str, bytes] = OrderedDict()
        self._shown: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def note(self, path: Path, content: bytes) -> None:
        key, digest = real_path(path), _digest(content)
        with self._lock:
            if self._noted.get(key) not in (None, digest):
                for shown in [shown for shown in self._shown if shown[0] == key]:
                    del self._shown[shown]
            self._noted[key] = digest
            self._noted.move_to_end(key)
            if len(self._noted) > self.CAP:
                self._noted.popitem(last=False)

    def stale(self, path: Path, content: bytes) -> str:
        known = self._noted.get(real_path(path))
        if known is None:
            return f"{path} was not read yet. Read it first."
        if known != _digest(content):
            who = self._changed_by(real_path(path))
            by = f", by {who}" if who else ""
            return f"{path} changed since it was read{by}. Read it again before changing it."
        return ""

    def shown(self, path: Path, content: bytes, part: str) -> bool:
        key, digest = (real_path(path), part), _digest(content)
        with self._lock:
            before = self._shown.get(key)
            self._shown[key] = digest
            self._shown.move_to_end(key)
            if len(self._shown) > self.CAP:
                self._shown.popitem(last=False)
        return before == digest

    def forget_shown(self) -> None:
        with self._lock:
            self._shown.clear()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
