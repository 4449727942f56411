"""The search without ripgrep, in Python: the same output bytes for the same query, slower."""

from __future__ import annotations

import asyncio
import codecs
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from gatewright.tools.file_types import TYPES
from gatewright.tools.globs import GlobSet
from gatewright.tools.query import COLUMNS, NOT_VCS, Found, Query
from gatewright.tools.walk import Walk, global_ignores

_BINARY_SAMPLE = 64 * 1024
Stop: TypeAlias = Callable[[], bool]
_LARGEST = 256 * 1024 * 1024


async def slow_search(query: Query, env: Mapping[str, str], *, seconds: float, limit: int) -> Found:
    """Runs in a thread that ends soon after the time limit or a cancellation."""
    cancelled = threading.Event()
    deadline = time.monotonic() + seconds

    def stop() -> bool:
        return cancelled.is_set() or time.monotonic() > deadline

    try:
        common = await asyncio.to_thread(global_ignores, env)
        found = await asyncio.to_thread(_search, query, common, stop, limit)
        late = f"the search was stopped after {seconds:.0f} s" if stop() else ""
        return msgspec.structs.replace(found, cut=late) if late else found
    finally:
        cancelled.set()


def _search(query: Query, common: Sequence[str], stop: Stop, limit: int) -> Found:
    if query.type and query.type not in TYPES:
        return Found(b"", failed=f"unrecognized file type: {query.type}")
    try:
        matcher = _Matcher(query)
    except re.error as error:
        return Found(b"", failed=f"regex parse error: {error}")
    output = bytearray()
    for name in _names(query, common, stop):
        output += matcher.report(query.root, name)
        if len(output) > limit:
            return Found(bytes(output), full=True)
    return Found(bytes(output))


def _names(query: Query, common: Sequence[str], stop: Stop) -> Iterator[str]:
    if query.target != ".":
        yield query.target
        return
    types = GlobSet(TYPES[query.type]) if query.type else None
    for path in Walk(query.root, (*query.globs, *NOT_VCS), stop, common).files():
        if types is None or types.verdict(path, directory=False):
            yield path if query.mode == "names" else f"./{path}"


class _Matcher:
    def __init__(self, query: Query) -> None:
        self._query = query
        flags = re.MULTILINE | (re.IGNORECASE if query.ignore_case else 0)
        flags |= re.DOTALL if query.multiline else 0
        self._regex = re.compile(query.pattern, flags)

    def report(self, root: Path, name: str) -> bytes:
        """What ripgrep prints for one file."""
        head = name.encode("utf-8", "surrogateescape") + b"\0"
        if self._query.mode == "names":
            return head
        text = _text(root / name)
        if text is None:
            return b""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        hits = self._multiline(text) if self._query.multiline else self._by_line(lines)
        match self._query.mode:
            case "files":
                return head if next(hits, None) is not None else b""
            case "counts":
                count = sum(1 for _ in self._regex.finditer(text)) if self._query.multiline else 0
                count = count or sum(1 for _ in hits)
                return head + f"{count}\n".encode() if count else b""
            case _:
                return _printed(head, lines, sorted(set(hits)), self._query)

    def _by_line(self, lines: list[str]) -> Iterator[int]:
        search = self._regex.search
        return (number for number, line in enumerate(lines) if search(line))

    def _multiline(self, text: str) -> Iterator[int]:
        number = at = 0
        for found in self._regex.finditer(text):
            number += text.count("\n", at, found.start())
            at = found.start()
            last = number + text.count("\n", at, max(at, found.end() - 1))
            yield from range(number, last + 1)


def _printed(head: bytes, lines: list[str], hits: list[int], query: Query) -> bytes:
    """Matching lines with their context, groups apart by `--`."""
    wanted: dict[int, bool] = {}
    for hit in hits:
        for near in range(max(0, hit - query.before), min(len(lines), hit + query.after + 1)):
            wanted.setdefault(near, False)
        wanted[hit] = True
    out: list[bytes] = []
    last = -2
    for number in sorted(wanted):
        if last >= 0 and number > last + 1 and (query.before or query.after):
            out.append(b"--\n")
        mark = ":" if wanted[number] else "-"
        text = f"{number + 1}{mark}{_cut(lines[number])}\n"
        out.append(head + text.encode("utf-8", "surrogateescape"))
        last = number
    return b"".join(out)


def _cut(line: str) -> str:
    if len(line) <= COLUMNS and len(line.encode("utf-8", "surrogateescape")) <= COLUMNS:
        return line
    return f"{line[:COLUMNS]} [... omitted end of long line]"


def _text(path: Path) -> str | None:
    """The file as text; None for binary content and what cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    for bom, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(bom):
            return data[2:].decode(encoding, "replace")
    if b"\0" in data[:_BINARY_SAMPLE]:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
