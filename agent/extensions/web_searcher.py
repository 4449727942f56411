"""Web search for a session: the service that settings name, or the model provider's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.opener import wanted_model
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.services import Hit


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
