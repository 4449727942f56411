"""Plugs the status line in: what a command of the person's is told about the session."""

from __future__ import annotations

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.events import AssistantMessage, Cleared, Compacted, Rewound


async def plug_status_line(host: Host) -> Contribution:
    from gatewright.agent.session.status.status_facts import StatusBook, Told  # noqa: PLC0415  lazy: a screen's

    around, start = host.around, host.base.start
    path = None if around.options.no_session else start.path
    book = StatusBook(host.live, host.base.standing, Told(start.id, path), SystemClock())
    for envelope in start.stored:
        if isinstance(envelope.event, AssistantMessage | Compacted | Cleared | Rewound):
            book.saw(envelope)
    return Contribution(folds=(book.saw,), parts=(book,))


STATUS_LINE = Extension(
    name="the status line", plug=plug_status_line, wanted=lambda around: around.interactive
)
