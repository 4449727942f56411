"""What a running call may use: the session's ports, and those of the agent that called."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.web_searcher import WebSearcher
from gatewright.agent.models.short_answer import PageReader
from gatewright.agent.session.agent import CallPorts
from gatewright.agent.session.planning import SessionPlanning
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolContext
from gatewright.tools.shell.proc import spawn


def call_contexts(
    host: Host,
    planning: SessionPlanning,
    reader: PageReader,
    *,
    jobs: bool,
) -> Callable[[CallPorts], ToolContext]:
    """Without `jobs` every command ends with its call."""
    live, kept = host.live, host.base.start.path.with_suffix("")
    searcher = WebSearcher(lambda: live.around)

    def context(ports: CallPorts) -> ToolContext:
        live.refresh()
        around = live.around
        return ToolContext(
            where=around.seen_from(ports.where),
            agent=ports.agent,
            ledger=ports.ledger,
            spawn=spawn,
            ask=ports.ask,
            progress=ports.progress,
            move=ports.move,
            env={**around.env, **host.exports} if host.exports else around.env,
            files=host.client.files,
            spill=kept / "spill",
            state=kept,
            jobs=ports.jobs if jobs else None,
            planning=planning if ports.agent == MAIN else None,
            searcher=searcher,
            complete=reader,
            secrets=around.secrets,
            private_hosts=around.settings.web.private_hosts,
            moments=host.listeners.now,
        )

    return context
