"""What is asked once, before the first turn: whether the project's own configuration may act."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gatewright.agent.errors import SettingsError
from gatewright.agent.record.events import Noticed
from gatewright.agent.session.start.base import Base
from gatewright.agent.settings import trust_question
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.protocol import Asker


async def ask_for_trust(base: Base, env: Mapping[str, str], live: LiveSettings, ask: Asker) -> None:
    """Who chooses to leave is let out by the front end that asked."""
    about = trust_question.question(base.around)
    if about is None or (await ask(about)).choice != trust_question.TRUST:
        return
    store = TrustStore(base.around.places, env)
    try:
        await asyncio.to_thread(store.add, base.around.where.root)
    except SettingsError as error:
        base.warn(f"Trusted for this session only. {error}")
    else:
        base.publish(Noticed(text="Trusted. `agent trust remove` takes it back."))
    live.trust()
