"""The text of files as the client has it: buffers nobody has saved, and an undo that works.

Only text of the project that the client holds: what is binary, large, outside, or not given in time
is the disk's, and for text that is said.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from gatewright.agent.frontends.acp.jsonrpc import Gone, Peer, RpcError
from gatewright.agent.frontends.acp.params import FileText
from gatewright.agent.frontends.acp.whole_texts import on_disk
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.textfiles import FileMoved, TextFiles

LARGEST = 1024 * 1024
KEPT = 16  # texts that were exchanged last
PATIENCE = 10.0  # seconds
LATE = "The editor did not answer within {:.0f} s: {} was taken from the disk."
LATE_WRITE = "The editor did not answer within {:.0f} s: {} was written to the disk."
UNSAVED = (
    "The editor did not answer within {:.0f} s, and has changes to {} that nobody saved. Nothing "
    "was written to the disk; the editor may still take the change, so read the file again."
)
LED_AWAY = (
    "{} became a link while the editor wrote. What it leads to now, {}, may be what was changed: "
    "look at both, and say so to the person."
)
REFUSED = "The editor did not take the change to {}. Nothing was written."


class EditorFiles:
    """Implements tools.textfiles.TextFiles over `disk`, for threads of the loop it is made in.

    `roots` are the directories whose files are asked for, `tell` says what is the disk's.
    """

    patience = PATIENCE

    def __init__(self, peer: Peer, disk: TextFiles) -> None:
        self._peer, self._disk = peer, disk
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._latest: OrderedDict[Path, str] = OrderedDict()
        self.session = ""
        self.roots: Callable[[], Sequence[Path]] = tuple[Path, ...]
        self.raced: Callable[[], bool] = _alone  # something may change directories meanwhile
        self.tell: Callable[[Path, str], None] = _nobody

    def latest(self, real: Path) -> str | None:
        """The text as the editor had it last; else the disk's. For people, who look at changes."""
        found = self._latest.get(real)
        return found if found is not None else on_disk(real)

    def opened(self, real: Path) -> BinaryIO:
        try:
            file = self._disk.opened(real)
        except FileNotFoundError:
            text = self._text(real)  # a buffer that was never saved
            if text is None:
                raise
            return io.BytesIO(text.encode("utf-8", "replace"))
        data = self._own(file, real)
        return file if data is None else data

    def writable(self, real: Path) -> None:
        if not self._holds(real) or real.exists():
            self._disk.writable(real)

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        text = _decoded(data)
        if text is None or not self._holds(real) or len(data) > LARGEST:
            self._disk.swap(real, expected, data)
            return
        if self._bytes(real) != expected or _leads_away(real):
            raise FileMoved
        stored = self._stored(real)
        if self.raced() and stored == expected:  # the editor goes by the path, the disk does not
            self._disk.swap(real, expected, data)
            self._keep(real, text)
            return
        try:
            self._ask("fs/write_text_file", real, {"content": text})
        except TimeoutError:
            if stored != expected:
                raise ToolFailure(UNSAVED.format(self.patience, real)) from None
            self._say(LATE_WRITE, real)
            self._disk.swap(real, expected, data)
        except (RpcError, Gone):
            raise ToolFailure(REFUSED.format(real)) from None
        if _leads_away(real):
            raise ToolFailure(LED_AWAY.format(real, real_path(real)))
        self._keep(real, text)

    def _own(self, file: BinaryIO, real: Path) -> BinaryIO | None:
        """What the client has in place of this file; None where the file is the one that counts."""
        stored = file.read(LARGEST + 1)
        file.seek(0)
        if len(stored) > LARGEST or (before := _decoded(stored)) is None:
            return None
        text = self._text(real)
        if text is None or text == before or text == before.replace("\r\n", "\n"):
            return None
        file.close()
        if "\r\n" in before and "\r\n" not in text:
            text = text.replace("\n", "\r\n")
        return io.BytesIO(text.encode("utf-8", "replace"))

    def _bytes(self, real: Path) -> bytes | None:
        try:
            with self.opened(real) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _stored(self, real: Path) -> bytes | None:
        try:
            with self._disk.opened(real) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _text(self, real: Path) -> str | None:
        """None where the client has none, refuses, or does not answer."""
        if not self._holds(real):
            return None
        try:
            said = self._ask("fs/read_text_file", real, {})
            text = msgspec.convert(said, FileText).content
        except TimeoutError:
            self._say(LATE, real)
            return None
        except (RpcError, Gone, msgspec.MsgspecError):
            return None
        if len(text) > LARGEST or _leads_away(real):
            return None
        self._keep(real, text)
        return text

    def _keep(self, real: Path, text: str) -> None:
        self._latest[real] = text
        self._latest.move_to_end(real)
        if len(self._latest) > KEPT:
            self._latest.popitem(last=False)

    def _holds(self, real: Path) -> bool:
        inside = any(real.is_relative_to(root) for root in self.roots())
        return inside and threading.get_ident() != self._thread

    def _ask(self, method: str, real: Path, more: dict[str, str]) -> Any:
        """Raises TimeoutError, RpcError, Gone."""
        params = {"sessionId": self.session, "path": str(real), **more}
        asking: Awaitable[Any] = self._peer.request(method, params)

        async def within() -> Any:
            return await asyncio.wait_for(asking, self.patience)

        return asyncio.run_coroutine_threadsafe(within(), self._loop).result()

    def _say(self, text: str, real: Path) -> None:
        self._loop.call_soon_threadsafe(self.tell, real, text.format(self.patience, real.name))


def _nobody(real: Path, text: str) -> None:
    """The session is not open yet."""


def _alone() -> bool:
    return False


def _leads_away(real: Path) -> bool:
    """A link stands there by now: the client, which follows it, would be somewhere else."""
    return real_path(real) != str(real)


def _decoded(data: bytes) -> str | None:
    """Text as an editor holds it; None for anything else."""
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
