"""The socket of a background session: any number of front ends look at it, and may answer it.

The protocol is that of `agent/client` over a stream socket, one JSON object a line:

* who connects is told `session_hello` at once (`client/session_lines.py`), or, where it may not
  look, one `session_ending` with the reason, and then the end;
* it asks with control requests, `{"type": "control_request", "request_id": …, "request": …}`, whose
  subtypes are the `session_` ones: `session_follow` is answered with all events that are kept, and
  then live ones follow; `session_answer` says `answered: false` where somebody was first;
* `background_stop` has the session end as `agent stop` does; its answer comes before the end.

Closing the connection leaves the session as it is. What a viewer has not taken is held up to
LIMIT bytes beyond what it was told of the past, once at a time; then it is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.autonomy.running.peers import why_refused
from gatewright.agent.autonomy.running.socket_places import is_socket_of_ours
from gatewright.agent.client.framing import Lines, TooLong
from gatewright.agent.client.port import SessionClient
from gatewright.agent.client.serving import Served
from gatewright.agent.client.session_lines import encoded
from gatewright.agent.errors import SessionError
from gatewright.tools.protocol import JsonObject

LIMIT = 16 * 1024 * 1024
MOST = 32  # viewers at once
CHUNK = 256 * 1024
BACKLOG = 16
LAST = 1.0  # seconds in which what was said last goes out
FOLLOW, STOP = "session_follow", "background_stop"
REFUSED = "The session does not talk to this process: {why}."
FULL = f"{MOST} front ends look at this session already."
UNKNOWN = "There is no control request {name!r} here."
NO_LINE = "A line was no control request, so this end was closed."
OPEN = "The socket {path} cannot be opened: {why}."

log = logging.getLogger(__name__)


class _Asked(msgspec.Struct, frozen=True):
    type: str
    request_id: str = ""
    request: dict[str, Any] = {}


_asked = msgspec.json.Decoder(_Asked)


def listening(path: Path) -> socket.socket:
    """Raises SessionError. What an earlier process of this session left there is taken away."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if is_socket_of_ours(path):
            path.unlink(missing_ok=True)
        made.bind(str(path))
        path.chmod(0o600)
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise SessionError(OPEN.format(path=path, why=error.strerror or error)) from error
    return made


class Viewers:
    """Owns the socket and who is connected; `changed` hears of each that comes or goes."""

    def __init__(
        self,
        session: SessionClient,
        path: Path,
        *,
        conversations: str,
        stop: Callable[[], object],
        changed: Callable[[int], object],
        refused: Callable[[socket.socket, str], str] = why_refused,
    ) -> None:
        self._session, self._path = session, path
        self._conversations, self._refused = conversations, refused
        self.stop, self._changed = stop, changed
        self._here: set[Viewer] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._listening = listening(path)
        self._loop.add_reader(self._listening, self._accept)

    def __len__(self) -> int:
        return len(self._here)

    def _accept(self) -> None:
        try:
            made, _ = self._listening.accept()
        except OSError:  # it went again
            return
        made.setblocking(False)
        why = self._refused(made, self._conversations)
        why = REFUSED.format(why=why) if why else FULL if len(self._here) >= MOST else ""
        if why:
            with contextlib.suppress(OSError):
                made.send(_ending(why).encode())
            made.close()
            log.warning("a connection was refused: %s", why)
            return
        self._here.add(Viewer(made, self._session, self))
        self._changed(len(self._here))

    def left(self, viewer: Viewer) -> None:
        """It is gone, or cut off."""
        if viewer in self._here:
            self._here.discard(viewer)
            task = asyncio.create_task(viewer.close(), name="a viewer left")
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)
            self._changed(len(self._here))

    async def close(self, why: str) -> None:
        """Nobody comes any more; who is here is told why, within a second. Once."""
        if self._listening.fileno() < 0:
            return
        self._loop.remove_reader(self._listening)
        self._listening.close()
        self._path.unlink(missing_ok=True)
        here, self._here = self._here, set()
        ending = [asyncio.create_task(each.end(why)) for each in here]
        if ending or self._leaving:
            await asyncio.wait([*ending, *self._leaving])


class Viewer:
    """One front end: a `Sink` for what it is told."""

    def __init__(self, made: socket.socket, session: SessionClient, viewers: Viewers) -> None:
        self._socket, self._viewers = made, viewers
        self._loop = asyncio.get_running_loop()
        self._lines = Lines()
        self._unsent = bytearray()
        self._past = 0  # of those, what it is told of the past: as much as that is
        self._telling_past = False
        self._sending = False
        self._empty = asyncio.Event()
        self._gone = False
        self._loop.add_reader(made, self._read)
        self._served = Served(session, self)

    # out

    def write(self, text: str) -> None:
        if self._gone:
            return
        data = text.encode("utf-8", "replace")
        self._unsent += data
        if self._telling_past:
            self._past += len(data)
        if len(self._unsent) - self._past > LIMIT:
            log.warning("a viewer was cut off: it takes nothing")
            self._cut()
        elif not self._sending:
            self._sending = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        """All that happened at once goes out at once."""
        if self._gone:
            return
        try:
            while self._unsent:
                with memoryview(self._unsent) as all_, all_[: 4 * CHUNK] as head:
                    sent = self._socket.send(head)
                del self._unsent[:sent]
                self._past = max(0, self._past - sent)
        except BlockingIOError:
            self._loop.add_writer(self._socket, self._send)
            return
        except OSError:
            self._cut()
            return
        self._loop.remove_writer(self._socket)
        self._sending = False
        self._empty.set()

    def _cut(self) -> None:
        """Nothing more goes either way."""
        if self._gone:
            return
        self._gone = True
        self._unsent.clear()
        self._empty.set()
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._loop.call_soon(self._viewers.left, self)

    # in

    def _read(self) -> None:
        try:
            chunk = self._socket.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._cut()
            return
        try:
            for line in self._lines.add(chunk):
                if not self._gone and line.strip():
                    self._take(_asked.decode(line))
        except (TooLong, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.write(_ending(NO_LINE))
            self._send()
            self._cut()

    def _take(self, asked: _Asked) -> None:
        if asked.type != "control_request":
            return  # newer front ends may say more than we know
        name = asked.request.get("subtype")
        if name == STOP:
            id = asked.request_id
            body: JsonObject = {"subtype": "success", "request_id": id, "response": {}}
            self.write(encoded({"type": "control_response", "response": body}))
            self._viewers.stop()
        elif self._served.knows(name):
            self._telling_past = name == FOLLOW and not self._past
            self._served.take(asked.request_id, asked.request)
            self._telling_past = False
        else:
            body = {"subtype": "error", "request_id": asked.request_id}
            body["error"] = UNKNOWN.format(name=name)
            self.write(encoded({"type": "control_response", "response": body}))

    # its end

    async def end(self, why: str) -> None:
        """Tell it what happened last, and why no more comes."""
        await self._served.close()
        self.write(_ending(why))
        self._empty.clear()
        if self._unsent:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST):
                    await self._empty.wait()
        self._cut()

    async def close(self) -> None:
        await self._served.close()


def _ending(why: str) -> str:
    return encoded({"type": "session_ending", "why": why})
