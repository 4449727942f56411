"""What a running call may use: the session's ports, and those of the agent that called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.opener import wanted_model
from gatewright.agent.models.short_answer import PageReader
from gatewright.agent.session.agent import CallPorts
from gatewright.agent.session.planning import SessionPlanning
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.services import Hit


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
        from gatewright.tools.system.processes import spawn  # noqa: PLC0415  lazy: 1 ms, with the first call

        live.refresh()
        around = live.around
        return ToolContext(
            where=around.seen_from(ports.where),
            agent=ports.agent,
            call_id=ports.call_id,
            ledger=ports.ledger,
            spawn=spawn,
            ask=ports.ask,
            stood=ports.stood,
            progress=ports.progress,
            move=ports.move,
            env=environment(around, ports.where, host.exports, host.path_end),
            files=host.client.files,
            terminal=host.client.terminal,
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


def environment(
    around: Surroundings,
    where: Where,
    exports: Mapping[str, str],
    path_end: Sequence[str] = (),
) -> Mapping[str, str]:
    """In a work tree git never looks further up: a broken one is no way into the checkout."""
    env = {**around.env, **exports} if exports else around.env
    if path_end:  # of plugins: they stand in nobody's place
        env = {**env, "PATH": ":".join((env["PATH"], *path_end))}
    if where.root == around.where.root:
        return env
    return {**env, "GIT_CEILING_DIRECTORIES": str(where.root.parent)}


class WebSearcher:
    """The search service that settings name, made anew for each search: keys may change."""

    def __init__(self, around: Callable[[], Surroundings]) -> None:
        self._around = around

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        from gatewright.tools.web.search_services import service  # noqa: PLC0415  lazy: 60 ms

        around = self._around()
        web = around.settings.web
        if web.search == "provider":
            return await self._by_provider(around, query)
        key = around.env.get(web.search_key_env, "")
        try:
            chosen = service(web.search, key=key, url=web.search_url)
        except ValueError as error:
            raise ToolFailure(f"{error}. See `web` in the settings.") from error
        return await chosen.search(query, limit)

    async def _by_provider(self, around: Surroundings, query: str) -> Sequence[Hit]:
        from gatewright.agent.providers.search import search_with  # noqa: PLC0415  lazy: 1 ms

        model = wanted_model(around, "")
        try:
            return await search_with(model, query, settings=around.providers, env=around.env)
        except GatewrightError as error:
            raise ToolFailure(str(error)) from error
