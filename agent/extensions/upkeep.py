"""Plugs in what a session does once, outside of its turns: load what is needed soon, clean up."""

from __future__ import annotations

from functools import partial

from gatewright.agent.extensions.contribution import Close, Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.launch.preload import import_all
from gatewright.agent.record.events import InputDelta, TurnEnded, TurnStarted
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.housekeeping import Housekeeping, cleaning
from gatewright.tools.system.sweep import sweep_abandoned

FIRST_CALL = (  # 140 ms to judge and run it, imported while the model still writes it
    "gatewright.permissions.calls.shell_call",
    "gatewright.tools.shell.bash",
    "gatewright.tools.files.read",
    "gatewright.tools.search.grep",
    "gatewright.tools.files.edit",
)


async def plug_upkeep(host: Host) -> Contribution:
    works = [
        Housekeeping(TurnStarted, sweep_abandoned),
        Housekeeping(InputDelta, partial(import_all, FIRST_CALL)),
    ]
    close: list[Close] = [work.settled for work in works]
    if host.around.interactive:
        works.append(keeping := Housekeeping(TurnEnded, cleaning(host.around)))
        close.append(keeping.close)
    return Contribution(folds=tuple(of_main(work.saw) for work in works), close=tuple(close))


UPKEEP = Extension(name="upkeep", plug=plug_upkeep)
