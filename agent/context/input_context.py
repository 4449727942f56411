"""What goes to the model beside an input of the person: changed files, then what they point at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.file_notices import FileNotices
from gatewright.agent.context.prompt.memory import Memory, MemoryFile
from gatewright.agent.text.well_formed import formed
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent

if TYPE_CHECKING:
    from gatewright.agent.context.attach_ports import AttachPorts


class AboutMemory(msgspec.Struct, frozen=True):
    """The instruction files of the session, and how to tell of them."""

    briefing: Briefing
    tell: Callable[[str], None]  # the person
    loaded: Callable[[Sequence[MemoryFile]], None]  # who listens: the model reads these


class InputContext:
    """Called when an input is taken up, before it is published."""

    def __init__(self, noticing: FileNotices, ports: AttachPorts, about: AboutMemory) -> None:
        self._noticing = noticing
        self._ports = ports
        self._about = about
        self._told = False
        self.due = True  # the model begins anew, with instruction files as they are now

    async def __call__(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        if self.due:
            self.due = False
            self._about.briefing.begins()
            memory = await self._memory()
            self._about.loaded(memory.files)
        if not self._told:
            self._told = True
            memory = await self._memory()
            if left := memory.left_out():
                self._about.tell(left)
            if memory.waiting:
                names = ", ".join(map(str, memory.waiting))
                self._about.tell(
                    f"Instruction files name files outside the project, which were not read: "
                    f"{names}. /memory allow reads them from the next /clear on."
                )
        if "@" in typed:
            found, told = await asyncio.to_thread(self._brought, typed, where)
        else:  # a few stats: a thread would wait for the screen, which is busy with this input
            found, told = self._brought(typed, where)
        if "@" in text and (said := await asyncio.to_thread(self._unread, typed, text, where)):
            if typed:
                told.append(said)
            else:  # who piped in all of it may have meant the names
                self._about.tell(said)
        for line in told:  # it stands behind the input, which is published next
            asyncio.get_running_loop().call_soon(self._ports.tell, line)
        return found

    async def _memory(self) -> Memory:
        briefing = self._about.briefing
        return briefing.memory() if briefing.ready else await asyncio.to_thread(briefing.memory)

    def _brought(self, text: str, where: Where) -> tuple[Sequence[tuple[Content, ...]], list[str]]:
        found: list[tuple[Content, ...]] = []
        told: list[str] = []
        ports = msgspec.structs.replace(self._ports, tell=told.append)
        if changed := self._noticing.changed():
            found.append(formed((TextContent(changed),)))
        if "@" in text:
            from gatewright.agent.context.attachments import attach  # noqa: PLC0415  lazy: 1 ms

            if content := attach(text, where, ports):
                found.append(formed(content))
        return found, told

    def _unread(self, typed: str, text: str, where: Where) -> str:
        from gatewright.agent.context.attachments import unread  # noqa: PLC0415  lazy: 1 ms

        return unread(typed, text, where)
