"""WebSearch: results of the service chosen in settings, with their sources listed."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Table
from gatewright.tools.checked import CheckedTool
from gatewright.tools.counted import counted
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.services import Hit
from gatewright.tools.system.hosts import looked_up
from gatewright.tools.web.address import parse
from gatewright.tools.web.search_services import DuckDuckGo

RESULTS = 10


class WebSearchInput(BaseModel):
    query: str = Field(min_length=2, max_length=400)
    allowed_domains: list[str] = Field(default=[])
    blocked_domains: list[str] = Field(default=[])


class WebSearch(CheckedTool[WebSearchInput]):
    name = "WebSearch"
    input = WebSearchInput
    prompt = "web_search.md"

    def access(self, input: WebSearchInput, where: Where) -> Access:
        del where
        effects = Effect.OPEN_WORLD | Effect.READ_ONLY
        return Access(subject=input.query, effects=effects)

    def title(self, input: WebSearchInput, where: Where) -> tuple[str, str]:
        del where
        return "Search the web", input.query

    async def run(self, input: WebSearchInput, ctx: ToolContext) -> Run:
        searcher = ctx.searcher or DuckDuckGo()
        found = await searcher.search(_query(input), RESULTS * 2)
        hits = [hit for hit in found if _wanted(hit, input)][:RESULTS]
        text = "\n\n".join(_entry(hit, i) for i, hit in enumerate(hits, 1)) or "No results."
        count = counted(len(hits), "result")
        rows = [{"title": hit.title, "url": hit.url} for hit in hits]
        data = {"query": input.query, "results": rows}
        yield ToolResult.text(text, summary=count, data=data)

    def view(self, input: WebSearchInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        rows = result.data.get("results", ()) if result else ()
        if not rows:
            return ()
        sources = tuple((row["title"], _named(row["url"])) for row in rows)
        return (Table(("Title", "Source"), sources),)


def _named(url: str) -> str:
    """The address, with the real form of a host that reads as another."""
    return " ".join((url, *(f"({told})" for told in looked_up(url, bare=False))))


def _query(input: WebSearchInput) -> str:
    """The query, narrowed for the service; whether it obeys is checked on the results."""
    if not input.allowed_domains:
        return input.query
    return f"{input.query} {' OR '.join(f'site:{d}' for d in input.allowed_domains[:5])}"


def _wanted(hit: Hit, input: WebSearchInput) -> bool:
    try:
        host = parse(hit.url).host
    except ValueError:
        return False
    if input.allowed_domains and not any(_below(host, d) for d in input.allowed_domains):
        return False
    return not any(_below(host, d) for d in input.blocked_domains)


def _below(host: str, domain: str) -> bool:
    domain = domain.casefold().removeprefix("*.").strip(".")
    return host == domain or host.endswith(f".{domain}")


def _entry(hit: Hit, number: int) -> str:
    return "\n".join(part for part in (f"{number}. {hit.title}", hit.url, hit.snippet) if part)
