"""What goes to the model beside an input of the person: changed files, then what they point at."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatewright.agent.attachments import AttachPorts, attach
from gatewright.agent.noticing import Noticing
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent


class Attending:
    """Called when an input is taken up, before it is published."""

    def __init__(self, noticing: Noticing, ports: AttachPorts) -> None:
        self._noticing = noticing
        self._ports = ports

    async def __call__(self, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        return await asyncio.to_thread(self._brought, text, where)

    def _brought(self, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        found: list[tuple[Content, ...]] = []
        if changed := self._noticing.changed():
            found.append((TextContent(changed),))
        if "@" in text and (content := attach(text, where, self._ports)):
            found.append(content)
        return found
