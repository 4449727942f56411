"""Skills from sessions: drafted when the person asks, looked at, tried, approved or forgotten.

A draft is in no list and nothing invokes it. No model is asked before the person says so.
"""

from __future__ import annotations

import asyncio

from gatewright.agent.commands.outcome import Outcome, Problem
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.skills.learning.draft_panel import DraftPanel
from gatewright.agent.extensions.skills.learning.drafting import (
    OUTPUT,
    SECONDS,
    NoDraft,
    drafted,
)
from gatewright.agent.extensions.skills.learning.drafts import Drafts
from gatewright.agent.extensions.skills.learning.material import material
from gatewright.agent.extensions.skills.learning.repeats import Repeats
from gatewright.agent.models.short_answer import booked, short_answer
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.transcript.index import find_session
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.skills.book import SkillBook

USAGE = "Usage: /skills learn [NAME] [--session ID]"
SESSION = "--session"


class Learner:
    """What /skills learn and /skills drafts are about; no list of it is read before."""

    def __init__(self, host: Host, book: SkillBook) -> None:
        self._host = host
        self._repeats = Repeats()
        self.drafts = Drafts(host.around.places.home)
        self.panel = DraftPanel(self.drafts, book, lambda: host.around)

    async def learn(self, context: CommandContext) -> Outcome:
        words = context.args.split()[1:]
        wanted = ""
        if SESSION in words:
            at = words.index(SESSION)
            wanted = " ".join(words[at + 1 :])
            words = words[:at]
        if len(words) > 1 or (SESSION in context.args.split() and not wanted):
            return Problem.of(USAGE)
        name = words[0] if words else ""
        try:
            text = await asyncio.to_thread(self._material, wanted)
            if not text:
                return Problem.of("Nothing was done in that session that a skill could hold.")
            made, draft = await drafted(self._ask, text, name, self._host.base.redactor)
            kept = await asyncio.to_thread(self.drafts.save, made, draft)
        except TimeoutError:
            return Problem.of(f"The model did not answer within {SECONDS:g} seconds.")
        except GatewrightError as error:
            return Problem.of(str(error))
        return self.panel.learned(kept)

    async def look(self, context: CommandContext) -> Outcome:
        return await self.panel.show(context)

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent, where the person wants suggestions."""
        self._repeats.saw(event)

    def farewell(self) -> str:
        """One sentence at the end, where something was repeated."""
        steps = self._repeats.procedure()
        if not steps:
            return ""
        done = ", ".join(steps)
        return (
            f"This session did the same several times ({done}). /skills learn --session "
            f"{self._host.base.start.id[:8]} drafts a skill of it."
        )

    def _material(self, wanted: str) -> str:
        """Raises GatewrightError."""
        host = self._host
        path = host.base.start.path
        if wanted:
            folder = project_folder(host.around.places.home, host.around.where.cwd)
            path = find_session(folder, wanted)
        elif host.around.options.no_session:
            raise NoDraft("This session is not kept: name one with --session ID.")
        if not path.exists():
            return ""
        stored = read_transcript(path, whole=True)
        return material(stored.branch, host.base.redactor)

    async def _ask(self, system: str, text: str) -> str:
        """Of the model in use. What it costs counts for the session."""
        host = self._host
        opened = await asyncio.to_thread(host.open_model, host.session.model, "")
        try:
            return await short_answer(
                opened,
                system,
                text,
                max_output=OUTPUT,
                seconds=SECONDS,
                paid=booked(host.publish, opened, "skills"),
            )
        finally:
            await opened.provider.close()
