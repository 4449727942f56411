"""Plugs workflows in: the tool that launches them, and the runs of a session.

Nothing of what runs them is imported before one is launched or looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.workflows.off import workflows_off
from gatewright.agent.extensions.workflows.runs_part import RunsPart
from gatewright.agent.record.events import Envelope, UltracodeSwitched, WorkflowStarted
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.workflows.engine.available import unavailable
from gatewright.agent.workflows.saved.saved_book import SavedBook
from gatewright.agent.workflows.tool_spec import ANSWER, WORKFLOW, guide, workflow_spec
from gatewright.tools.protocol import Tool, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.extensions.workflows.workflow_session import WorkflowSession
    from gatewright.agent.workflows.runs.views import RunBook

ASSUMED = 200_000  # tokens of a window that nobody knows better
SMALL = 16_000


class WorkflowRuns:
    """A source of tools; `session` is None before the first launch or look."""

    def __init__(self, host: Host) -> None:
        self._host, self._loop = host, asyncio.get_running_loop()
        self.session: WorkflowSession | None = None
        self._tool: Tool[Any] | None = None

    @property
    def there(self) -> bool:
        """Whether workflows can be launched here, as settings and the engine are now."""
        has_agents = part_of(self._host.brought, Agents) is not None
        return has_agents and not workflows_off(self._host.around) and not unavailable()

    def opened(self) -> WorkflowSession:
        """The real thing, from now on; it may be asked for in a thread."""
        if self.session is None:
            from gatewright.agent.extensions.workflows.workflow_session import WorkflowSession  # noqa: PLC0415  lazy: 20 ms

            self.session = WorkflowSession(self._host, self._loop, self.guide)
        return self.session

    @property
    def book(self) -> RunBook:
        return self.opened().runs

    def consent(self, *, on: bool) -> None:
        """The person lets workflows begin unasked in this session, or not any more."""
        policy = self._host.policy
        policy.consented = policy.consented | {WORKFLOW} if on else policy.consented - {WORKFLOW}

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return self.sized(SMALL if short else ASSUMED, short=short)

    def sized(self, window: int, *, short: bool = False) -> Sequence[ToolSpec]:
        if not self.there:
            return ()
        return (workflow_spec(self._listed(), window or ASSUMED, short=short, size=self._size),)

    def guide(self) -> str:
        """What the short form leaves out."""
        return guide(self._listed(), SMALL, self._size)

    @property
    def _size(self) -> str:
        return self._host.around.settings.workflows.size

    def _listed(self) -> Sequence[tuple[str, str]]:
        saved = part_of(self._host.brought, SavedBook)
        known = saved.last().every if saved is not None else ()
        return [(each.called, each.description) for each in known if each.trusted]

    def find(self, name: str) -> Tool[Any] | None:
        if name == ANSWER and self.session is not None:
            from gatewright.agent.extensions.workflows.answer_tool import AnswerTool  # noqa: PLC0415  with a run

            return AnswerTool(self.session.workers.answer_of)
        if name != WORKFLOW or not self.there:
            return None
        if self._tool is None:
            from gatewright.agent.extensions.workflows.workflow_tool import WorkflowTool  # noqa: PLC0415  lazy

            self._tool = WorkflowTool(self.opened())
        return self._tool

    def saw(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, UltracodeSwitched):  # the model decides by itself then
            self.consent(on=envelope.event.on)
        if self.session is not None:
            self.session.saw(envelope)

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


async def plug_workflows(host: Host) -> Contribution:
    runs = WorkflowRuns(host)
    if any(isinstance(each.event, WorkflowStarted) for each in host.base.start.stored):
        from gatewright.agent.extensions.workflows.cut_off import tell_cut_off  # noqa: PLC0415  only then

        await tell_cut_off(host)
    return Contribution(
        sources=(runs,),
        folds=(runs.saw,),
        parts=(runs, RunsPart(lambda: runs.book)),
        close=(runs.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Not where the person named the tools and this is none of them, or no turn is ever run."""
    options = around.options
    named = options.tools is None or any(each.casefold() == "workflow" for each in options.tools)
    return not options.served and named


WORKFLOWS = Extension(name="workflows", plug=plug_workflows, wanted=wanted)
