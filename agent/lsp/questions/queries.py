"""The questions that the LSP tool puts to servers, and what their answers read like.

Only what a server says it can do is asked of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from gatewright.agent.lsp.questions.spots import (
    Pages,
    Sight,
    inert,
    plain_hover,
    spots,
    told_by_file,
    told_places,
)
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.lsp.wire.connection import Gone, Refused, decoded
from gatewright.agent.lsp.wire.positions import uri_of
from gatewright.agent.lsp.wire.shapes import (
    HierarchyItem,
    IncomingCall,
    Location,
    LocationLink,
    OutgoingCall,
    Range,
    Symbol,
    kind_of,
)
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.untyped_json import obj

SYMBOLS, CALLS, DEEP = 200, 100, 20


class Way(NamedTuple):
    """How an operation is asked: its method, and what a server must say it can."""

    method: str
    provider: str
    at: bool = True  # it is about a place in a file


WAYS: Final = {
    "goToDefinition": Way("textDocument/definition", "definitionProvider"),
    "goToTypeDefinition": Way("textDocument/typeDefinition", "typeDefinitionProvider"),
    "goToImplementation": Way("textDocument/implementation", "implementationProvider"),
    "hover": Way("textDocument/hover", "hoverProvider"),
    "findReferences": Way("textDocument/references", "referencesProvider"),
    "documentSymbol": Way("textDocument/documentSymbol", "documentSymbolProvider", at=False),
    "workspaceSymbol": Way("workspace/symbol", "workspaceSymbolProvider", at=False),
    "prepareCallHierarchy": Way("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    "incomingCalls": Way("callHierarchy/incomingCalls", "callHierarchyProvider"),
    "outgoingCalls": Way("callHierarchy/outgoingCalls", "callHierarchyProvider"),
    "rename": Way("textDocument/rename", "renameProvider"),
}
_TARGETS: Any = Location | None | list[Location]
_LINKS: Any = list[LocationLink]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    operation: str
    path: str = ""  # real
    line: int = 0  # as the server counts
    column: int = 0
    query: str = ""
    new_name: str = ""

    def at(self) -> dict[str, object]:
        return {
            "textDocument": {"uri": uri_of(self.path)},
            "position": {"line": self.line, "character": self.column},
        }


class Answer(msgspec.Struct, frozen=True):
    text: str
    count: int


async def ask(server: Server, question: Question, sight: Sight) -> Answer:
    """Raises ToolFailure: it cannot, or gave no answer."""
    way = WAYS[question.operation]
    if not server.abilities.has(way.provider, way.method):
        raise ToolFailure(
            f"{server.name} cannot {question.operation}. Search with Grep instead, or use another "
            "operation."
        )
    pages = Pages(sight, server.abilities.encoding)
    return await _BY[question.operation](server, question, sight, pages)


async def asked(server: Server, method: str, params: object) -> msgspec.Raw:
    """Raises ToolFailure with what to do."""
    try:
        return await server.ask(method, params)
    except TimeoutError:
        busy = " It is still reading the project:" if server.busy else ""
        limit = server.definition.request_timeout
        raise ToolFailure(
            f"{server.name} did not answer within {limit:g} s.{busy} Try again later."
        ) from None
    except Gone as error:
        why = inert(str(error), 300)  # maybe its own words
        raise ToolFailure(f"{server.name} does not run: {why}. Try again in a moment.") from None
    except Refused as error:
        text = inert(str(error), 300)
        raise ToolFailure(f"{server.name} refuses: {text}") from None


def _nothing(server: Server, what: str) -> Answer:
    later = f" {server.name} is still reading the project: ask again later." if server.busy else ""
    return Answer(f"{what}{later}", 0)


def _located(raw: msgspec.Raw) -> list[tuple[str, Range]]:
    """Locations in any of the shapes that an answer can have."""
    plain: Location | list[Location] | None = decoded(raw, _TARGETS)
    if isinstance(plain, Location):
        return [(plain.uri, plain.range)]
    if plain:
        return [(each.uri, each.range) for each in plain]
    links: list[LocationLink] = decoded(raw, _LINKS) or []
    return [(each.target_uri, each.target_selection_range or each.target_range) for each in links]


async def _targets(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    raw = await asked(server, WAYS[question.operation].method, question.at())
    found = spots(((uri, range, "") for uri, range in _located(raw)), sight)
    if not found.found and not found.left_out():
        return _nothing(server, "Nothing found there. Is the name at exactly that place?")
    return Answer(told_places(found, pages, sight), len(found.found))


async def _hover(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    del sight, pages
    raw = await asked(server, WAYS["hover"].method, question.at())
    text = plain_hover(obj(decoded(raw, Any)).get("contents")).strip()
    if not text:
        return _nothing(server, "It has nothing to say of that place.")
    return Answer(inert(text), 1)


async def _references(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    params = {**question.at(), "context": {"includeDeclaration": True}}
    raw = await asked(server, WAYS["findReferences"].method, params)
    found = _located(raw)
    declared: set[tuple[str, int, int]] = set()
    definition = WAYS["goToDefinition"]
    if found and server.abilities.has(definition.provider, definition.method):
        declared = {
            (uri, range.start.line, range.start.character)
            for uri, range in _located(await asked(server, definition.method, question.at()))
        }
    kept = spots(
        (
            (uri, range, " (declaration)" if _start(uri, range) in declared else "")
            for uri, range in found
        ),
        sight,
    )
    if not kept.found and not kept.left_out():
        return _nothing(server, "No references. Is the name at exactly that place?")
    return Answer(told_by_file(kept, pages, sight), len(kept.found))


def _start(uri: str, range: Range) -> tuple[str, int, int]:
    return uri, range.start.line, range.start.character


async def _of_document(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    del sight, pages
    uri = {"textDocument": {"uri": uri_of(question.path)}}
    raw = await asked(server, WAYS["documentSymbol"].method, uri)
    found: list[Symbol] = decoded(raw, list[Symbol] | None) or []
    rows = list(_tree(found, 0))
    if not rows:
        return _nothing(server, "It finds no symbols in that file.")
    more = len(rows) - SYMBOLS
    text = "\n".join(rows[:SYMBOLS] + ([f"and {more} more"] if more > 0 else []))
    return Answer(inert(text, 20_000), len(rows))


def _tree(found: Sequence[Symbol], depth: int) -> Iterator[str]:
    for each in found:
        place = each.selection_range or each.range or (each.location and each.location.range)
        line = f" {place.start.line + 1}" if place else ""
        detail = f"  {' '.join(each.detail.split())[:100]}" if each.detail else ""
        within = f" in {each.container_name[:80]}" if each.container_name else ""
        name = " ".join(each.name.split())[:120]
        yield f"{'  ' * depth}{kind_of(each.kind)} {name}{line}{detail}{within}"
        if each.children and depth < DEEP:
            yield from _tree(each.children, depth + 1)


async def _of_workspace(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    raw = await asked(server, WAYS["workspaceSymbol"].method, {"query": question.query})
    found: list[Symbol] = decoded(raw, list[Symbol] | None) or []
    places = (
        (each.location.uri, each.location.range or _TOP, _named(each))
        for each in found[: SYMBOLS * 5]
        if each.location is not None
    )
    kept = spots(places, sight)
    if not kept.found:
        nothing = f"No symbol matches {question.query!r}. {kept.left_out()}".rstrip()
        return _nothing(server, nothing)
    rows = [
        f"{spot.note} {sight.shown(spot.path)}:{spot.range.start.line + 1}:{pages.column(spot)}"
        for spot in kept.found[:SYMBOLS]
    ]
    more = len(kept.found) - SYMBOLS
    rows += [f"and {more} more: narrow the query"] if more > 0 else []
    rows += [kept.left_out()] if kept.left_out() else []
    return Answer(inert("\n".join(rows), 20_000), len(kept.found))


def _named(each: Symbol) -> str:
    within = f" in {each.container_name[:80]}" if each.container_name else ""
    return f"{kind_of(each.kind)} {' '.join(each.name.split())[:120]}{within}"


_TOP = msgspec.convert(
    {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, Range
)


async def _prepared(server: Server, question: Question) -> list[HierarchyItem]:
    raw = await asked(server, WAYS["prepareCallHierarchy"].method, question.at())
    return decoded(raw, list[HierarchyItem] | None) or []


async def _prepare(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    items = await _prepared(server, question)
    return _hierarchy(server, [(each, "") for each in items], sight, pages)


async def _incoming(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    found: list[tuple[HierarchyItem, str]] = []
    for raw in await _calls(server, question):
        calls: list[IncomingCall] = decoded(raw, list[IncomingCall] | None) or []
        found += [(each.from_, _times(each.from_ranges)) for each in calls]
    return _hierarchy(server, found, sight, pages)


async def _outgoing(server: Server, question: Question, sight: Sight, pages: Pages) -> Answer:
    found: list[tuple[HierarchyItem, str]] = []
    for raw in await _calls(server, question):
        calls: list[OutgoingCall] = decoded(raw, list[OutgoingCall] | None) or []
        found += [(each.to, _times(each.from_ranges)) for each in calls]
    return _hierarchy(server, found, sight, pages)


async def _calls(server: Server, question: Question) -> list[msgspec.Raw]:
    """Of all that lies at the place; the item goes back as it came, with the server's own data."""
    raw = await asked(server, WAYS["prepareCallHierarchy"].method, question.at())
    items: list[msgspec.Raw] = decoded(raw, list[msgspec.Raw] | None) or []
    method = WAYS[question.operation].method
    return [await asked(server, method, {"item": item}) for item in items[:5]]


def _times(ranges: Sequence[Range]) -> str:
    lines = ", ".join(str(each.start.line + 1) for each in ranges[:10])
    return f" at line {lines}" if lines else ""


def _hierarchy(
    server: Server, found: Sequence[tuple[HierarchyItem, str]], sight: Sight, pages: Pages
) -> Answer:
    kept = spots(
        (
            (item.uri, item.selection_range, f"{kind_of(item.kind)} {item.name[:120]}{note}")
            for item, note in found
        ),
        sight,
    )
    if not kept.found and not kept.left_out():
        return _nothing(server, "Nothing found: is a function's name at exactly that place?")
    rows = [
        f"{sight.shown(spot.path)}:{spot.range.start.line + 1}:{pages.column(spot)}  {spot.note}"
        for spot in kept.found[:CALLS]
    ]
    more = len(kept.found) - CALLS
    rows += [f"and {more} more"] if more > 0 else []
    rows += [kept.left_out()] if kept.left_out() else []
    return Answer(inert("\n".join(rows), 16_000), len(kept.found))


_Asking = Callable[[Server, Question, Sight, Pages], Awaitable[Answer]]
_BY: Final[dict[str, _Asking]] = {
    "goToDefinition": _targets,
    "goToTypeDefinition": _targets,
    "goToImplementation": _targets,
    "hover": _hover,
    "findReferences": _references,
    "documentSymbol": _of_document,
    "workspaceSymbol": _of_workspace,
    "prepareCallHierarchy": _prepare,
    "incomingCalls": _incoming,
    "outgoingCalls": _outgoing,
}
