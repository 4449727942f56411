"""What can be written behind `@server:`: URIs of resources, and templates filled in place by place.

A server is asked for what a place may hold; the rest is known of its lists.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from gatewright.mcp.offered.listed import LONGEST_URI, Resource
from gatewright.mcp.offered.resources import resources_of
from gatewright.tools.protocol import ToolFailure

if TYPE_CHECKING:
    from gatewright.mcp.server import Server

LISTED = 5.0  # seconds for a list that is not known yet
IN_ALL = 0.3  # seconds for all that a server is asked then: somebody types
AT_ONCE = 8  # templates
MOST = 100
_PLACE = re.compile(r"\{([?&/#.;+]?)([^{}]*)\}")


class Offered(msgspec.Struct, frozen=True):
    """`uri` is what would be written; where it is `open` it goes on."""

    uri: str
    about: str = ""
    open: bool = False


class _Place(msgspec.Struct, frozen=True):
    """The place of a template that is being written."""

    name: str
    begun: str
    before: str  # of the URI
    after: str  # what the template has behind it, up to the next place
    last: bool


async def completed(server: Server, begun: str) -> list[Offered]:
    """What a URI may be that begins so, or has these letters in their order."""
    found: list[Offered] = []
    with suppress(ToolFailure, TimeoutError):
        async with asyncio.timeout(LISTED):
            listed = await resources_of(server)
        plain = [each for each in listed.found if not each.template]
        found += [Offered(each.uri, _about(each)) for each in plain if _fits(each, begun)]
        found += await _of_templates(server, [e for e in listed.found if e.template], begun)
    return found[:MOST]


async def _of_templates(server: Server, templates: Sequence[Resource], begun: str) -> list[Offered]:
    """In their order; those that do not say in time what fits are left out."""
    few = asyncio.Semaphore(AT_ONCE)
    begins: dict[int, list[Offered]] = {}
    asking: dict[int, asyncio.Task[list[Offered]]] = {}
    for number, each in enumerate(templates):
        place = place_in(each.uri, begun)
        if place is None:
            begins[number] = _beginning(each, begun)
        elif server.hello.completes:
            asking[number] = asyncio.create_task(_filled(server, each, place, few))
    if asking:
        try:
            await asyncio.wait(asking.values(), timeout=IN_ALL)
        finally:  # nobody waits for a server that is slow, or for a word that is written on
            for task in asking.values():
                task.cancel()
            await asyncio.gather(*asking.values(), return_exceptions=True)
    for number, task in asking.items():
        if not task.cancelled():
            begins[number] = task.result()
    return [one for number in sorted(begins) for one in begins[number]]


def _beginning(template: Resource, begun: str) -> list[Offered]:
    """What it has before its first place."""
    head = template.uri.partition("{")[0]
    if not head or head == begun or not _fits(template, begun):
        return []
    return [Offered(head, f"{template.uri} {_about(template)}".strip(), open=True)]


async def _filled(
    server: Server, template: Resource, place: _Place, few: asyncio.Semaphore
) -> list[Offered]:
    """With what the server says that the place may hold."""
    try:
        async with few:
            values = await server.asked(
                lambda asking: asking.completed(template.uri, place.name, place.begun)
            )
    except ToolFailure:  # it does not know
        return []
    made = [Offered(f"{place.before}{v}{place.after}", place.name, not place.last) for v in values]
    return [each for each in made if len(each.uri) <= LONGEST_URI]


def place_in(template: str, begun: str) -> _Place | None:
    """Where somebody is in it who wrote so much; None where they are in no place of it."""
    at, rest = 0, begun
    parts = list(_PLACE.finditer(template))
    for number, match in enumerate(parts):
        head = template[at : match.start()]
        if not rest.startswith(head) or match[1]:
            return None
        rest, at = rest[len(head) :], match.end()
        end = parts[number + 1].start() if number + 1 < len(parts) else len(template)
        after = template[at:end]
        written, separator, more = rest.partition(after) if after else (rest, "", "")
        if not separator or (not more and number + 1 == len(parts)):
            before = begun[: len(begun) - len(rest)]
            return (
                None
                if separator
                else _Place(match[2], rest, before, after, number + 1 == len(parts))
            )
        if not written:
            return None
        rest = rest[len(written) :]
    return None


def _about(each: Resource) -> str:
    return ": ".join(filter(None, (each.name, each.about)))


def _fits(each: Resource, begun: str) -> bool:
    """Whether its letters are there in their order, in the URI or the name."""
    return _within(begun.lower(), each.uri.lower()) or _within(begun.lower(), each.name.lower())


def _within(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)
