"""What a server offers besides tools, asked of it: lists, page by page, and one thing at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

import mcp_types as types
from mcp.client.session import ClientSession

from gatewright.mcp.described import printable
from gatewright.mcp.errors import Refused
from gatewright.mcp.offered.listed import (
    LONG,
    LONGEST_URI,
    MOST_ARGUMENTS,
    MOST_PROMPTS,
    MOST_RESOURCES,
    SHORT,
    Argument,
    Prompt,
    Resource,
    Resources,
)
from gatewright.mcp.talk.answering import settled
from gatewright.mcp.talk.connection import LIST_PAGE, LIST_PAGES, Connection
from gatewright.mcp.talk.results import parts_of
from gatewright.tools.protocol import Part, TextContent

READ = 60.0  # seconds
COMPLETION = 0.3  # seconds: somebody types
MOST_VALUES = 100


class _Page(Protocol):
    next_cursor: str | None


P = TypeVar("P", bound=_Page)
T = TypeVar("T")
Fetch: TypeAlias = Callable[[ClientSession, types.PaginatedRequestParams | None], Awaitable[P]]


class Asking:
    """Every method raises Lost or Refused."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def resources(self) -> Resources:
        listed = await self._pages(
            lambda session, params: session.list_resources(params=params),
            lambda page: _resources(page.resources),
            MOST_RESOURCES,
        )
        try:
            templates = await self._pages(
                lambda session, params: session.list_resource_templates(params=params),
                lambda page: _templates(page.resource_templates),
                MOST_RESOURCES - len(listed),
            )
        except Refused:  # many have none, and do not know the question
            templates = []
        found = [*listed, *templates]
        return Resources(tuple(found[:MOST_RESOURCES]), len(found) >= MOST_RESOURCES)

    async def read(self, uri: str) -> tuple[Part, ...]:
        """Its contents, each under a line that says what it is."""
        result = await self._connection.over(partial(_read, uri), READ)
        if self._connection.following is not None:
            self._connection.following.watch(uri)
        blocks = (types.EmbeddedResource(resource=each) for each in result.contents)
        return parts_of(blocks)

    async def completed(self, template: str, name: str, begun: str) -> tuple[str, ...]:
        """What a place of a template may hold, as far as the server says it in time."""
        ask = partial(_completed, template, name, begun)
        result = await self._connection.over(ask, COMPLETION, wanted=False)
        return tuple(each for each in result.completion.values[:MOST_VALUES] if usable(each))

    async def prompts(self) -> tuple[Prompt, ...]:
        found = await self._pages(
            lambda session, params: session.list_prompts(params=params),
            lambda page: [each for given in page.prompts for each in _prompt(given)],
            MOST_PROMPTS,
        )
        return tuple({each.name: each for each in reversed(found)}.values())[::-1]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Part, ...]:
        """Its messages in their order; whose words the model's own would be is said."""
        given = dict(arguments)
        result = await self._connection.over(partial(_got, name, given), READ)
        found: list[Part] = []
        for message in result.messages:
            if message.role == "assistant":
                found.append(TextContent("[As if you had answered:]"))
            found += parts_of([message.content])
        return tuple(found)

    async def _pages(
        self,
        page: Fetch[P],
        read: Callable[[P], Iterable[T]],
        most: int,
    ) -> list[T]:
        found: list[T] = []
        params: types.PaginatedRequestParams | None = None
        for _ in range(LIST_PAGES):
            ask = partial(_asked, page, params)
            answer = await self._connection.over(ask, LIST_PAGE, wanted=False)
            found += read(answer)
            if not answer.next_cursor or len(found) >= most:
                break
            params = types.PaginatedRequestParams(cursor=answer.next_cursor)
        return found[:most]


def _read(uri: str, session: ClientSession) -> Awaitable[types.ReadResourceResult]:
    return settled(
        session,
        lambda answers, state: session.read_resource(
            uri, input_responses=answers, request_state=state, allow_input_required=True
        ),
    )


def _completed(
    template: str, name: str, begun: str, session: ClientSession
) -> Awaitable[types.CompleteResult]:
    ref = types.ResourceTemplateReference(uri=template)
    return session.complete(ref, {"name": name, "value": begun})


def _got(
    name: str, given: dict[str, str], session: ClientSession
) -> Awaitable[types.GetPromptResult]:
    return settled(
        session,
        lambda answers, state: session.get_prompt(
            name, given, input_responses=answers, request_state=state, allow_input_required=True
        ),
    )


def _asked(
    page: Fetch[P], params: types.PaginatedRequestParams | None, session: ClientSession
) -> Awaitable[P]:
    return page(session, params)


def _resources(given: Sequence[types.Resource]) -> Iterator[Resource]:
    for each in given:
        if usable(each.uri):
            yield Resource(
                uri=each.uri,
                name=_line(each.title or each.name, SHORT),
                about=_line(each.description),
                kind=_line(each.mime_type, SHORT),
            )


def _templates(given: Sequence[types.ResourceTemplate]) -> Iterator[Resource]:
    for each in given:
        if usable(each.uri_template):
            yield Resource(
                uri=each.uri_template,
                name=_line(each.title or each.name, SHORT),
                about=_line(each.description),
                kind=_line(each.mime_type, SHORT),
                template=True,
            )


def usable(uri: str) -> bool:
    """Whether it can be written in one line as it is, and means the same there."""
    return 0 < len(uri) <= LONGEST_URI and printable(uri) == uri and uri.split() == [uri]


def _prompt(given: types.Prompt) -> Iterator[Prompt]:
    """Left out where its names cannot be told as they are."""
    arguments = given.arguments or ()
    names = [given.name, *(each.name for each in arguments)]
    if len(arguments) <= MOST_ARGUMENTS and all(_line(each, SHORT) == each for each in names):
        yield Prompt(
            name=given.name,
            title=_line(given.title, SHORT),
            about=_line(given.description),
            arguments=tuple(
                Argument(name=a.name, about=_line(a.description), required=bool(a.required))
                for a in arguments
            ),
        )


def _line(text: str | None, most: int = LONG) -> str:
    return " ".join(printable(text or "", most).split())
