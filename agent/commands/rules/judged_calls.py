"""What a person may do about a call that a judge refused: say that it may run, or write it down.

Raises GatewrightError with a text for the person.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gatewright.agent.settings.groups.auto_settings import DEFAULTS
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.traits import Source

if TYPE_CHECKING:
    from gatewright.agent.commands.panels import Done, Proposal


LONGEST = 1_000  # characters of one entry
RUNS = "Say what may run, and on what."
WANTED = {"": RUNS, "allow": RUNS, "environment": "Say what is trusted, and for what."}


class JudgedCalls:
    def __init__(self, live: LiveSettings, say: Callable[[str], object]) -> None:
        self._live = live
        self.say = say

    async def weighed(self, text: str, *, section: str = "") -> Proposal:
        """Of a sentence to a judge, or to the agent."""
        from gatewright.agent.commands.panels import Proposal  # noqa: PLC0415  loaded with the commands

        if not text.strip():
            return Proposal(False, WANTED[section])
        if len(text) > LONGEST:
            return Proposal(False, f"At most {LONGEST} characters.")
        return Proposal(True, "A judge reads it as it stands here.")

    async def said(self, text: str) -> Done:
        """The person's own words, as if they had been typed."""
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands

        self.say(text.strip())
        return Done("Said. The agent may try it again.")

    async def written(self, section: str, text: str) -> Done:
        """An entry in the person's own file, beside those that come with the program."""
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415  lazy

        refuse_inside_session()
        path = self._live.around.places.file(Source.USER)
        assert path is not None
        entry = text.strip()

        def put(values: dict[str, Any]) -> None:
            own = values.setdefault("autoMode", {}).setdefault(section, [DEFAULTS])
            if entry not in own:
                own.append(entry)

        def take(values: dict[str, Any]) -> None:
            own = values.get("autoMode", {}).get(section, [])
            if entry in own:
                own.remove(entry)

        await asyncio.to_thread(edit, path, put)
        self._live.refresh(ours=True)

        async def back() -> str:
            await asyncio.to_thread(edit, path, take)
            self._live.refresh(ours=True)
            return f"Taken back from autoMode.{section}: {entry}"

        return Done(f"Added to autoMode.{section} in your settings: {entry}", back)
