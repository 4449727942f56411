"""Plugs titles in: a session is named after its first exchange, and its name is found again."""

from __future__ import annotations

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.titles import Namer, TitleKeeper


async def plug_titles(host: Host) -> Contribution:
    start = host.base.start
    keeper = TitleKeeper(start.path, host.publish)
    for envelope in start.stored:
        keeper.restore(envelope.event)
    if not host.around.interactive:
        return Contribution(folds=(of_main(keeper.saw),))
    namer = Namer(lambda: host.small_model(), host.publish)  # as it is when it is needed
    for envelope in start.stored:
        namer.restore(envelope.event)
    return Contribution(folds=(of_main(keeper.saw), of_main(namer.saw)), close=(namer.close,))


TITLES = Extension(name="titles", plug=plug_titles)
