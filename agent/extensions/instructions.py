"""Plugs instruction files in: what stands further down, what changed, and what an @ names."""

from __future__ import annotations

from gatewright.agent.context.attachments import AttachPorts
from gatewright.agent.context.briefing import places_of
from gatewright.agent.context.file_judge import pictures
from gatewright.agent.context.file_notices import Noticing
from gatewright.agent.context.input_context import AboutMemory, Attending
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.journal import of_main


async def plug_memory(host: Host) -> Contribution:
    briefing, around = host.briefing, host.around
    noticing = Noticing(
        places_of(around, briefing.readable),
        briefing.last,
        bare=around.options.bare,
        tell=host.warn,
    )
    attaching = AttachPorts(pictures(), host.ledger.note, briefing.readable, host.base.mention)
    attending = Attending(noticing, attaching, AboutMemory(briefing.memory, host.warn))

    def saw(event: AnyEvent) -> None:
        for text in noticing.saw(event):
            host.session.tell(text, wakes=False)

    return Contribution(
        folds=(of_main(briefing.saw), of_main(saw)),
        brings=(attending,),
        parts=(MemoryBook(lambda: host.around, briefing, host.publish),),
    )


MEMORY = Extension(name="instruction files", plug=plug_memory)
