"""Web search services behind one protocol: Brave, SearXNG and DuckDuckGo's HTML page.

Each adapter is a request and a pure function from its answer to hits.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gatewright.tools.inert import visible
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.services import Hit, Searcher
from gatewright.tools.system.untyped_json import items, obj

_SECONDS = 20.0
_SIZE = 2 * 1024 * 1024
_TAGS = re.compile(r"<[^<>]*>")


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
    web = obj(_parsed(body).get("web"))
    return [_hit(row, "title", "url", "description") for row in _rows(web.get("results"))]


def searxng_hits(body: str) -> list[Hit]:
    rows = _rows(_parsed(body).get("results"))
    return [_hit(row, "title", "url", "content") for row in rows]


# Each looks at a page once, however it is written: one tag, and within one tag its class.
_LINK = re.compile(r"<a\b[^<>]*>")
_TAG = re.compile(r"<[a-z]+\b[^<>]*>")
_RESULT = re.compile(r'class="[^"]*\bresult__a\b')
_ABOUT = re.compile(r'class="[^"]*\bresult__snippet\b')
_HREF = re.compile(r'href="([^"]*)"')
_ENDS = re.compile(r"</(?:a|td|div)>")


def duckduckgo_hits(body: str) -> list[Hit]:
    hits: list[Hit] = []
    links = [tag for tag in _LINK.finditer(body) if _RESULT.search(tag[0])]
    for tag, after in zip(links, [*links[1:], None][: len(links)], strict=True):
        end = len(body) if after is None else after.start()
        title, closed, rest = body[tag.end() : end].partition("</a>")
        found = _HREF.search(tag[0])
        url = _unwrapped(html.unescape(found[1])) if found and closed else ""
        if url:
            hits.append(Hit(_plain(title), url, _plain(_snippet(rest))))
    if not hits and "anomaly" in body:
        raise ToolFailure("DuckDuckGo takes us for a robot. Choose another service in settings.")
    return hits


def _snippet(rest: str) -> str:
    tag = next((tag for tag in _TAG.finditer(rest) if _ABOUT.search(tag[0])), None)
    end = _ENDS.search(rest, tag.end()) if tag else None
    return rest[tag.end() : end.start()] if tag and end else ""


def _unwrapped(href: str) -> str:
    """The address behind a tracking link; empty for an advertisement."""
    parts = urlsplit(href if "://" in href else f"https:{href}")
    if parts.path == "/y.js":
        return ""
    target = parse_qs(parts.query).get("uddg", [])
    return target[0] if target else parts.geturl()


def _parsed(body: str) -> dict[str, Any]:
    try:
        return obj(json.loads(body))
    except (ValueError, RecursionError):
        raise ToolFailure("The search service did not answer with JSON.") from None


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in map(obj, items(value)) if row.get("url")]


def _hit(row: Mapping[str, Any], title: str, url: str, snippet: str) -> Hit:
    return Hit(
        _plain(str(row.get(title) or "")), str(row[url]), _plain(str(row.get(snippet) or ""))
    )


def _plain(text: str) -> str:
    return " ".join(visible(html.unescape(_TAGS.sub("", text))).split())[:500]
