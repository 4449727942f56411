"""What is put back beside a summary: plan, task list, and the files worked on last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.context.readable import Readable
from gatewright.agent.record.events_of_past import Carried
from gatewright.tools.blocks import Todo, plain

PLAN_LIMIT = 40_000  # characters
READ_LIMIT = 512 * 1024
State = Callable[[], Carried]


class Remains:
    """Gives the sections in order of importance; each is as it is on disk right now."""

    def __init__(
        self,
        now: State,
        plan: Path,
        resolve: Callable[[str], Path],
        readable: Readable,
        brought: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._brought = brought  # by whoever else has something that still holds
        self._now = now
        self._plan = plan
        self._resolve = resolve
        self._readable = readable

    async def __call__(self, file_tokens: int) -> Sequence[str]:
        return await asyncio.to_thread(self._sections, self._now(), file_tokens)

    def _sections(self, now: Carried, file_tokens: int) -> list[str]:
        sections: list[str] = []
        if plan := _text(self._plan, self._readable):
            sections.append(f"# The plan, from {self._plan}\n\n{plan[:PLAN_LIMIT]}")
        if now.todo:
            sections.append(f"# Task list\n\n{plain(Todo(now.todo))}")
        sections += self._brought()
        for name in reversed(now.files):
            path = self._resolve(name)
            if section := _file(path, file_tokens, self._readable):
                sections.append(section)
        return sections


def _file(path: Path, limit: int, readable: Readable) -> str:
    text = _text(path, readable)
    if not text or "\0" in text:
        return ""
    if text_tokens(text) > limit:
        return f"# {path}\n\n(worked on before; too long to repeat here, read it when needed)"
    return f"# {path}, as it is now\n\n{text}"


def _text(path: Path, readable: Readable) -> str:
    """What a file says that the model has worked on; nothing where it may not be read any more."""
    try:
        return readable.head(path, READ_LIMIT, agreed=True).decode("utf-8", errors="replace")
    except OSError:
        return ""


async def nothing(file_tokens: int) -> Sequence[str]:
    """The state of a session that works on nothing."""
    del file_tokens
    return ()
