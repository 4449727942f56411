"""What a session has beside its turns: its past, its instruction files, what it is told unasked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.commands.rule_editor import PermissionBook
from gatewright.agent.compact.compactor import CompactHooks, NoHooks
from gatewright.agent.compact.state import forget_nothing, nothing
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.opener import ModelOpener, understood, wanted_model
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.hub import Hub
from gatewright.agent.session.resume import Start
from gatewright.agent.session.status_facts import StatusBook
from gatewright.agent.session.titles import Namer
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.redact import Redactor
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content

MAIN = "main"


async def _nothing_more(text: str, where: Where) -> Sequence[tuple[Content, ...]]:
    """Nothing is attached to inputs."""
    del text, where
    return ()


def _nothing_noticed(event: AnyEvent) -> Sequence[str]:
    del event
    return ()


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """A session works without any of it."""

    remains: Callable[[int], Awaitable[Sequence[str]]] = nothing  # what a summary is joined by
    forget: Callable[[], None] = forget_nothing  # tools: the model lost what it was shown
    compact_hooks: CompactHooks = NoHooks()
    auto_compact: bool = True
    attending: Callable[[str, Where], Awaitable[Sequence[tuple[Content, ...]]]] = _nothing_more
    noticing: Callable[[AnyEvent], Sequence[str]] = _nothing_noticed  # texts for the model
    memory: MemoryBook | None = None
    models: ModelBook | None = None
    settings: SettingsBook | None = None
    permissions: PermissionBook | None = None
    status: StatusBook | None = None  # for a status line of the person's own
    history: History | None = None  # the files' past
    redactor: Redactor = Redactor({})
    folder: Path | None = None  # where this directory's sessions are
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()  # what ends with the session


def open_history(around: Surroundings, start: Start, hub: Hub) -> History:
    """Where nobody can be asked, nobody goes back either: then commands cost no snapshot."""
    own = start.path.with_suffix("")
    places = HistoryPlaces(
        own=own,
        shared=start.path.parent,
        root=around.where.root,
        trees=around.interactive,
        keeping=around.settings.checkpoints and not around.options.no_session,
        origin=start.path.with_name(start.forked_from) if start.forked_from else None,
    )

    def publish(event: AnyEvent) -> None:
        hub.publish(event)

    history = History(places, around.caller, publish)
    hub.tap(lambda e: history.checkpoints.saw(e.event) if e.agent == MAIN else None)
    return history


def small_model(around: Surroundings, start: Start, open_model: ModelOpener) -> OpenModel:
    """Settings name it, else it is the small one of whoever answers. Raises GatewrightError."""
    wanted = wanted_model(around, start.model)
    chosen = understood(around, wanted)
    small = understood(around, f"{chosen.provider}/small") if chosen is not None else None
    has_tier = small is not None and small.model != "small"
    name = around.settings.small_model or (small.name if small is not None and has_tier else "")
    return open_model(name, "")


def open_namer(around: Surroundings, start: Start, hub: Hub, open_model: ModelOpener) -> Namer:
    """Names the session with the small model of whoever answers, where there is one."""

    def publish(event: AnyEvent) -> None:
        hub.publish(event)

    namer = Namer(lambda: small_model(around, start, open_model), publish)
    for envelope in start.stored:
        namer.restore(envelope.event)
    hub.tap(lambda e: namer.saw(e.event) if e.agent == MAIN else None)
    return namer
