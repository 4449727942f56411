"""What hooks read as the transcript: a file of the public dialect beside our own, kept for them.

Written before a handler runs and not before; so a session without hooks has none, and a write that
fails costs the file and nothing else. One file an agent.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.frontends.json_lines import encode
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.record.events import Envelope
from gatewright.agent.record.ids import new_id
from gatewright.tools.access import MAIN
from gatewright.tools.system import private

log = logging.getLogger(__name__)


class Transcripts:
    """`saw` must be called with every event; `stored` is what was there before."""

    def __init__(self, folder: Path | None, session: str, stored: Iterable[Envelope] = ()) -> None:
        self._folder = folder
        self._session = session
        self._waiting: dict[str, list[Envelope]] = {MAIN: list(stored)}
        self._dialects: dict[str, Dialect] = {}
        self._writing = asyncio.Lock()

    def path(self, agent: str = MAIN) -> str:
        """Empty where nothing of a session is stored."""
        if self._folder is None:
            return ""
        name = "transcript" if agent == MAIN else f"agent-{agent.rpartition('/')[2]}"
        return str(self._folder / f"{name}.jsonl")

    def saw(self, envelope: Envelope) -> None:
        if self._folder is not None and envelope.event.durable:
            self._waiting.setdefault(envelope.agent, []).append(envelope)

    async def written(self) -> None:
        """Everything up to the last finished message is in the files."""
        if self._folder is None or not any(self._waiting.values()):
            return
        async with self._writing:
            waiting, self._waiting = self._waiting, {}
            try:
                await asyncio.to_thread(self._write, waiting)
            except OSError as error:
                log.warning("transcript for hooks: %s", error)

    def _write(self, waiting: dict[str, list[Envelope]]) -> None:
        for agent, envelopes in waiting.items():
            path = Path(self.path(agent))
            fresh = agent not in self._dialects
            lines = b"".join(self._lines(agent, envelopes))
            if not lines and not fresh:
                continue
            private.folder(path.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            flags |= os.O_TRUNC if fresh else 0
            with os.fdopen(private.opener(str(path), flags), "ab") as file:
                file.write(lines)

    def _lines(self, agent: str, envelopes: Iterable[Envelope]) -> Iterable[bytes]:
        dialect = self._dialects.get(agent)
        if dialect is None:
            dialect = Dialect(self._session, new_id=new_id, replay=True)
            self._dialects[agent] = dialect
        for envelope in envelopes:
            for line in dialect.lines(replace(envelope, agent=MAIN)):
                yield encode({**line, "sessionId": self._session}).encode()
