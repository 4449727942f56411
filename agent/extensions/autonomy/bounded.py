"""What bounds work that nobody typed in a session: its limits, and the mode beside its own."""

from __future__ import annotations

import asyncio
import time

from gatewright.agent.autonomy.unattended import Unattended, UnattendedPorts
from gatewright.agent.extensions.host import Host
from gatewright.permissions import modes
from gatewright.tools.access import MAIN


def bounds_of(host: Host) -> Unattended:
    """A fold that somebody feeds with all events of the session."""
    return Unattended(
        UnattendedPorts(
            settings=lambda: host.around.settings.autonomy,
            time=time.time,
            later=asyncio.get_running_loop().call_later,
            publish=host.publish,
            cap=lambda named: _cap(host, named),
            answer=lambda id, answer: host.session.answer(id, answer),
            interrupt=lambda: host.session.interrupt(),
        )
    )


def _cap(host: Host, named: str | None) -> None:
    """The mode that bounds work that nobody typed, beside the session's own."""
    around, view = host.around, host.policy.view(MAIN)
    if named is None:
        view.most = ""
        return
    started = modes.canonical(around.options.mode) or ""
    if named or (started and started == host.policy.current()):
        view.most = named  # its person named a mode for this very job, or session
        return
    view.most = modes.canonical(around.settings.autonomy.max_mode) or "default"
