"""What a session at the other end of a line offers, as outcomes that lead back over it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from gatewright.agent.client.far_panels import checks_panel, settings_panel
from gatewright.agent.client.offer_lines import (
    ChecksLine,
    DraftLine,
    FormLine,
    ListingLine,
    OutcomeLine,
    PageLine,
    PickLine,
    QuitLine,
    SayLine,
    SecretLine,
    SettingsLine,
    SwitchLine,
    UiLine,
)
from gatewright.agent.client.session_lines import (
    AnyRequest,
    Choose,
    GoBack,
    ListRows,
    ReadRow,
    Take,
)
from gatewright.agent.commands.outcome import (
    Act,
    Change,
    Choice,
    Draft,
    Form,
    Listing,
    Look,
    Outcome,
    Page,
    Pick,
    Problem,
    Quit,
    Say,
    Secret,
    SetUi,
)
from gatewright.agent.errors import SessionError
from gatewright.tools.blocks import Block, Text

Asking: TypeAlias = Callable[[AnyRequest], Awaitable[Any]]


class FarOffers:
    """Makes outcomes of lines; what is done with them is asked of the session, at the other end."""

    def __init__(self, ask: Asking) -> None:
        self._ask = ask

    def outcome(self, plain: Any) -> Outcome:  # noqa: C901, PLR0911  one case each
        """Raises msgspec.ValidationError for what is none."""
        line = msgspec.convert(plain, cast("type[OutcomeLine]", OutcomeLine))
        fallback = Say(line.blocks)
        match line:
            case SayLine(problem=problem):
                return Problem(line.blocks) if problem else fallback
            case QuitLine():
                return Quit()
            case SwitchLine(to=to):
                return to
            case UiLine(key=key, ui=ui):
                return Change(SetUi(key, ui), line.blocks)
            case PickLine(offer=offer):
                return Pick(
                    fallback=fallback,
                    title=line.title,
                    choices=line.choices,
                    choose=partial(self._choose, offer),
                    about=line.about,
                    at=line.at,
                    back=partial(self._back, offer) if line.back else None,
                    head=line.head,
                )
            case ListingLine():
                return self._listing(line, fallback)
            case PageLine(title=title):
                return Page(fallback=fallback, title=title)
            case SettingsLine():
                return settings_panel(line, self._ask, self.of)
            case ChecksLine():
                return checks_panel(line, self._ask)
            case FormLine(offer=offer, text=text):
                return Form(fallback=fallback, text=text, take=partial(self._take, offer))
            case DraftLine(text=text):
                return Draft(fallback=fallback, text=text)
            case SecretLine(offer=offer):
                return Secret(
                    fallback=fallback,
                    title=line.title,
                    about=line.about,
                    take=partial(self._take, offer),
                    told=line.told,
                )

    def _listing(self, line: ListingLine, fallback: Say) -> Listing:
        rows = _Rows(line.rows, partial(self._rows, line.offer), follows=line.follows)
        return Listing(
            fallback=fallback,
            title=line.title,
            rows=rows.known,
            read=partial(self._read, line.offer),
            tabs=line.tabs,
            acts=tuple(
                Act(key, label, partial(self._choose, line.offer, act=key))
                for key, label in line.acts
            ),
            columns=line.columns,
            follows=line.follows,
            looks=tuple(
                Look(key, label, partial(self._read, line.offer, look=key))
                for key, label in line.looks
            ),
        )

    async def _choose(self, offer: int, row: str, act: str = "") -> Outcome:
        return await self.of(Choose(offer=offer, row=row, act=act))

    async def _back(self, offer: int) -> Outcome:
        return await self.of(GoBack(offer=offer))

    async def _take(self, offer: int, text: str) -> Outcome:
        return await self.of(Take(offer=offer, text=text))

    async def _rows(self, offer: int) -> Sequence[Choice]:
        return msgspec.convert(await self._ask(ListRows(offer=offer)), tuple[Choice, ...])

    async def _read(self, offer: int, row: str, *, look: str = "") -> Sequence[Block]:
        try:
            found = await self._ask(ReadRow(offer=offer, row=row, look=look))
            return msgspec.convert(found, tuple[Block, ...])
        except (SessionError, msgspec.ValidationError) as error:
            return (Text(str(error), "warning"),)

    async def of(self, request: AnyRequest) -> Outcome:
        """What a request leads to; why not, where it leads to nothing."""
        try:
            return self.outcome(await self._ask(request))
        except (SessionError, msgspec.ValidationError) as error:
            return Problem.of(str(error))


class _Rows:
    """The rows as they were last heard of; looking at those that follow what happens asks anew."""

    def __init__(
        self,
        rows: Sequence[Choice],
        fetch: Callable[[], Awaitable[Sequence[Choice]]],
        *,
        follows: bool,
    ) -> None:
        self._rows = rows
        self._fetch = fetch
        self._follows = follows
        self._asking: asyncio.Task[None] | None = None

    def known(self) -> Sequence[Choice]:
        if self._follows and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._renew(), name="rows of a list")
        return self._rows

    async def _renew(self) -> None:
        with suppress(SessionError, msgspec.ValidationError):  # what was there stays
            self._rows = await self._fetch()
