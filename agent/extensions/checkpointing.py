"""Plugs the files' past in: what a call is about to change is kept, so that it can come back."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.agent.record.journal import of_main
from gatewright.tools.access import Access


async def plug_history(host: Host) -> Contribution:
    history = files_history(host)

    async def saving(access: Access, losing: bool) -> None:
        """Before a call runs: what it is about to change."""
        if history.keeping:
            await history.checkpoints.before(access, losing=losing)

    async def keeps(path: Path) -> bool:
        return history.keeping and await history.checkpoints.keeps(path)

    return Contribution(
        folds=(of_main(history.checkpoints.saw),),
        saving=saving,
        keeps=keeps,
        parts=(history,),
        close=(history.checkpoints.settled,),
    )


def files_history(host: Host) -> History:
    """Where nobody can be asked, nobody goes back either: then commands cost no snapshot."""
    around, start = host.around, host.base.start
    places = HistoryPlaces(
        own=start.path.with_suffix(""),
        shared=start.path.parent,
        root=around.where.root,
        trees=around.interactive,
        keeping=around.settings.checkpoints and not around.options.no_session,
        origin=start.path.with_name(start.forked_from) if start.forked_from else None,
    )
    return History(places, around.caller, host.publish)


HISTORY = Extension(
    name="checkpoints", plug=plug_history, needed=True
)  # without it a person could not take back what was done
