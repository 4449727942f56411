"""Web search services behind one protocol: Brave, SearXNG and DuckDuckGo's HTML page.

Each adapter is a request and a pure function from its answer to hits.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from gatewright.tools.inert import visible
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.services import Hit, Searcher

_SECONDS = 20.0
_SIZE = 2 * 1024 * 1024
_TAGS = re.compile(r"<[^>]*>")


class Brave:
    """The Brave Search API; needs a key."""

    def __init__(self, key: str, base: str = "https://api.search.brave.com") -> None:
        self._key = key
        self._base = base.rstrip("/")

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        url = f"{self._base}/res/v1/web/search"
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        body = await _get(url, {"q": query, "count": str(min(limit, 20))}, headers)
        return brave_hits(body)


class SearXng:
    """A SearXNG instance whose settings allow the json format."""

    def __init__(self, base: str) -> None:
        self._base = base.rstrip("/")

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        del limit
        return searxng_hits(await _get(f"{self._base}/search", {"q": query, "format": "json"}, {}))


class DuckDuckGo:
    """The page DuckDuckGo serves to browsers without JavaScript; needs no key."""

    def __init__(self, base: str = "https://html.duckduckgo.com") -> None:
        self._base = base.rstrip("/")

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        del limit
        return duckduckgo_hits(await _get(f"{self._base}/html/", {"q": query}, {}))


def service(name: str, *, key: str = "", url: str = "") -> Searcher:
    """The service of that name in settings; ValueError says what is missing."""
    match name.casefold():
        case "duckduckgo" | "":
            return DuckDuckGo(url) if url else DuckDuckGo()
        case "brave" if key:
            return Brave(key, url) if url else Brave(key)
        case "brave":
            raise ValueError("Brave Search needs a key: set BRAVE_API_KEY")
        case "searxng" if url:
            return SearXng(url)
        case "searxng":
            raise ValueError("SearXNG needs the address of an instance")
        case _:
            raise ValueError(f"{name!r} is no search service: duckduckgo, brave or searxng")


async def _get(url: str, query: Mapping[str, str], headers: Mapping[str, str]) -> str:
    import httpx2  # noqa: PLC0415  lazy: 54 ms

    agent = {"User-Agent": "Mozilla/5.0 (compatible; Gatewright/0.1)", **headers}
    try:
        async with (
            httpx2.AsyncClient(timeout=_SECONDS) as client,
            client.stream("GET", url, params=dict(query), headers=agent) as response,
        ):
            body = bytearray()
            async for chunk in response.aiter_bytes(64 * 1024):
                body += chunk
                if len(body) > _SIZE:
                    break
    except httpx2.HTTPError as error:
        said = str(error) or type(error).__name__
        raise ToolFailure(f"The search service cannot be reached: {said}.") from None
    if response.status_code != 200:
        raise ToolFailure(f"The search service answered {response.status_code}.")
    return body.decode(response.encoding or "utf-8", "replace")


def brave_hits(body: str) -> list[Hit]:
    web = _object(_parsed(body).get("web"))
    return [_hit(row, "title", "url", "description") for row in _rows(web.get("results"))]


def searxng_hits(body: str) -> list[Hit]:
    rows = _rows(_parsed(body).get("results"))
    return [_hit(row, "title", "url", "content") for row in rows]


_RESULT = re.compile(
    r'<a\b[^>]*class="[^"]*\bresult__a\b[^"]*"[^>]*>(?P<title>.*?)</a>'
    r'(?P<rest>.*?)(?=<a\b[^>]*class="[^"]*\bresult__a\b|\Z)',
    re.DOTALL,
)
_HREF = re.compile(r'href="([^"]*)"')
_SNIPPET = re.compile(r'class="[^"]*\bresult__snippet\b[^"]*"[^>]*>(.*?)</(?:a|td|div)>', re.DOTALL)


def duckduckgo_hits(body: str) -> list[Hit]:
    hits: list[Hit] = []
    for found in _RESULT.finditer(body):
        link = _HREF.search(found[0])
        snippet = _SNIPPET.search(found["rest"])
        url = _unwrapped(html.unescape(link[1])) if link else ""
        if url:
            hits.append(Hit(_plain(found["title"]), url, _plain(snippet[1]) if snippet else ""))
    if not hits and "anomaly" in body:
        raise ToolFailure("DuckDuckGo takes us for a robot. Choose another service in settings.")
    return hits


def _unwrapped(href: str) -> str:
    """The address behind a tracking link; empty for an advertisement."""
    parts = urlsplit(href if "://" in href else f"https:{href}")
    if parts.path == "/y.js":
        return ""
    target = parse_qs(parts.query).get("uddg", [])
    return target[0] if target else parts.geturl()


def _parsed(body: str) -> dict[str, Any]:
    try:
        return _object(json.loads(body))
    except (ValueError, RecursionError):
        raise ToolFailure("The search service did not answer with JSON.") from None


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [_object(row) for row in cast("list[object]", value) if _object(row).get("url")]


def _hit(row: Mapping[str, Any], title: str, url: str, snippet: str) -> Hit:
    return Hit(
        _plain(str(row.get(title) or "")), str(row[url]), _plain(str(row.get(snippet) or ""))
    )


def _plain(text: str) -> str:
    return " ".join(visible(html.unescape(_TAGS.sub("", text))).split())[:500]
