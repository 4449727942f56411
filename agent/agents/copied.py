"""The agents of a session that is a copy: their conversations are copied once somebody speaks.

Each file is there whole or not at all. The other session's stay as they are.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from gatewright.agent.record.events import AnyEvent, TitleChanged, UserMessage
from gatewright.agent.session.housekeeping import Once
from gatewright.tools.system import private
from gatewright.tools.system.regular import NotRegular, open_regular

PART = ".part"


class Copies(Once):
    """Fed with the main agent's events; like its own file, it begins with the first word."""

    def __init__(self, source: Path, target: Path, warn: Callable[[str], object]) -> None:
        super().__init__()
        self._source, self._target, self._warn = source, target, warn

    def saw(self, event: AnyEvent) -> None:
        if isinstance(event, UserMessage | TitleChanged):
            self._begin()

    async def there(self) -> None:
        """Wait until they are: one of them is to go on."""
        self._begin()
        await self.settled()

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="copy agents")

    async def _work(self) -> None:
        try:
            await asyncio.to_thread(copy_agents, self._source, self._target)
        except OSError as error:
            self._warn(f"Not all agents could be copied to this session: {error.strerror}.")


def copy_agents(source: Path, target: Path) -> None:
    """Raises OSError once no more can be written."""
    private.folder(target)
    for file in sorted(source.glob("a*.jsonl")):
        copy = target / file.name
        if copy.exists():  # of an agent that went on here already
            continue
        part = copy.with_suffix(PART)
        try:
            with (
                open_regular(file, follow=False) as old,
                open(part, "wb", opener=private.opener) as new,
            ):
                shutil.copyfileobj(old, new)
            part.replace(copy)
        except (FileNotFoundError, NotRegular):  # deleted meanwhile, or nothing of ours
            continue
        finally:
            part.unlink(missing_ok=True)
