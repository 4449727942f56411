"""Plugs instruction files in: what stands further down, what changed, and what an @ names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.context.attach_ports import AttachPorts
from gatewright.agent.context.briefing import places_of
from gatewright.agent.context.file_judge import pictures
from gatewright.agent.context.file_notices import FileNotices
from gatewright.agent.context.input_context import AboutMemory, InputContext
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.context.prompt.memory import MemoryFile
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent, Cleared, InstructionsLoaded
from gatewright.agent.record.journal import of_main


async def plug_memory(host: Host) -> Contribution:
    briefing, around = host.briefing, host.around

    def loaded(files: Sequence[MemoryFile], trigger: Path | None = None) -> None:
        for file in files:
            host.publish(instructions_loaded(file, trigger))

    notices = FileNotices(
        places_of(around, briefing.readable),
        briefing.last,
        bare=around.options.bare,
        tell=host.warn,
        loaded=loaded,
    )
    attaching = AttachPorts(
        pictures(),
        host.ledger.note,
        briefing.readable,
        host.base.mention,
        host.brings_name,
        host.client.files,
    )
    host.live.listen(lambda _around: briefing.forget())
    context = InputContext(notices, attaching, AboutMemory(briefing, host.warn, loaded))

    def saw(event: AnyEvent) -> None:
        context.due |= isinstance(event, Cleared)
        for text in notices.saw(event):
            host.session.tell(text, wakes=False)

    return Contribution(
        folds=(of_main(briefing.saw), of_main(saw)),
        brings=(context,),
        parts=(MemoryBook(lambda: host.around, briefing, host.publish),),
    )


def instructions_loaded(file: MemoryFile, trigger: Path | None) -> InstructionsLoaded:
    if file.by is not None:
        reason = "include"
    elif trigger is None:
        reason = "session_start"
    else:
        reason = "path_glob_match" if file.paths else "nested_traversal"
    return InstructionsLoaded(
        path=str(file.path),
        kind=file.kind,
        reason=reason,
        globs=file.paths,
        trigger=str(trigger or ""),
        parent=str(file.by or ""),
    )


MEMORY = Extension(name="instruction files", plug=plug_memory)
