"""What can be written behind `@server:`: URIs of resources, and templates filled in place by place.

A server is asked for what a place may hold; the rest is known of its lists.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from gatewright.mcp.offered.listed import LONGEST_URI, Resource
from gatewright.mcp.offered.resources import resources_of
from gatewright.tools.protocol import ToolFailure

if TYPE_CHECKING:
    from gatewright.mcp.server import Server

LISTED = 5.0  # seconds for a list that is not known yet
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
        for each in listed.found:
            if each.template:
                found += await _of_template(server, each, begun)
    return found[:MOST]


async def _of_template(server: Server, template: Resource, begun: str) -> list[Offered]:
    place = place_in(template.uri, begun)
    if place is None:
        head = template.uri.partition("{")[0]
        fits = head and head != begun and _fits(template, begun)
        return (
            [Offered(head, f"{template.uri} {_about(template)}".strip(), open=True)] if fits else []
        )
    if not server.hello.completes:
        return []
    with suppress(ToolFailure):  # nobody waits for a server that is slow or does not know
        values = await server.asked(
            lambda asking: asking.completed(template.uri, place.name, place.begun)
        )
        made = [
            Offered(f"{place.before}{v}{place.after}", place.name, not place.last) for v in values
        ]
        return [each for each in made if len(each.uri) <= LONGEST_URI]
    return []


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
