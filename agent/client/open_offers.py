"""What was offered to a client at the other end of a line, where the session is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

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
from gatewright.agent.commands.outcome import (
    Change,
    Draft,
    Form,
    Listing,
    Offer,
    Outcome,
    Page,
    Pick,
    Problem,
    Quit,
    Secret,
    SetUi,
    Switch,
    said,
)
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel, LivePanel
from gatewright.agent.errors import SessionError
from gatewright.tools.blocks import Text

KEPT = 32  # offers that can still be answered
GONE = "That list is not open any more. Ask for it again."
Kind = TypeVar("Kind", bound=Offer)


class OpenOffers:
    """What was offered to one client and can be answered: the newest few."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, Offer] = OrderedDict()
        self._last = 0
        self.panels = False  # the client can show some

    def find(self, number: int, kind: type[Kind]) -> Kind:
        """Raises SessionError where it is not there any more."""
        offer = self._open.get(number)
        if not isinstance(offer, kind):
            raise SessionError(GONE)
        return offer

    def taker(self, number: int) -> Callable[[str], Awaitable[Outcome]]:
        """Who takes the text of a form, or a secret."""
        offer = self._open.get(number)
        if isinstance(offer, Form | Secret):
            return offer.take
        raise SessionError(GONE)

    def line(self, outcome: Outcome) -> OutcomeLine:
        """What a client gets of an outcome that was applied."""
        match outcome:
            case Problem(blocks=blocks):
                return SayLine(blocks=blocks, problem=True)
            case Quit():
                return QuitLine()
            case Switch():
                return SwitchLine(to=outcome)
            case Change(operation=SetUi(key=key, ui=ui), said=blocks):
                return UiLine(blocks=blocks, key=key, ui=ui)
            case ConfigPanel() | DoctorPanel() if self.panels:
                return self._panel(outcome)
            case LivePanel() as panel:
                return SayLine(blocks=(Text(panel.needs, "dim"), *said(panel)))  # seen first
            case Offer():
                return self._offered(outcome)
            case _:
                return SayLine(blocks=said(outcome))

    def _offered(self, offer: Offer) -> OutcomeLine:
        blocks = said(offer)
        match offer:
            case Pick(title=title, choices=choices, about=about, at=at, back=back):
                return PickLine(
                    blocks=blocks,
                    offer=self._keep(offer),
                    title=title,
                    choices=choices,
                    about=about,
                    at=at,
                    back=back is not None,
                    head=offer.head,
                )
            case Listing(title=title, tabs=tabs, acts=acts, columns=columns, follows=follows):
                return ListingLine(
                    blocks=blocks,
                    offer=self._keep(offer),
                    title=title,
                    rows=tuple(offer.rows()),
                    tabs=tabs,
                    acts=tuple((act.key, act.label) for act in acts),
                    columns=columns,
                    follows=follows,
                    looks=tuple((look.key, look.label) for look in offer.looks),
                )
            case Page(title=title):
                return PageLine(blocks=blocks, title=title)
            case Form(text=text):
                return FormLine(blocks=blocks, offer=self._keep(offer), text=text)
            case Draft(text=text):
                return DraftLine(blocks=blocks, text=text)
            case Secret(title=title, about=about, told=told):
                number = self._keep(offer)
                return SecretLine(blocks=blocks, offer=number, title=title, about=about, told=told)
            case _:
                return SayLine(blocks=blocks)

    def _panel(self, panel: ConfigPanel | DoctorPanel) -> OutcomeLine:
        blocks, offer = said(panel), self._keep(panel)
        match panel:
            case ConfigPanel(book=book, choices=choices):
                known = {key: tuple(rows) for key, rows in choices.items()}
                options = tuple(book.options())
                return SettingsLine(blocks=blocks, offer=offer, options=options, choices=known)
            case DoctorPanel(checks=checks):
                names = tuple(check.name for check in checks)
                return ChecksLine(blocks=blocks, offer=offer, checks=names)

    def _keep(self, offer: Offer) -> int:
        self._last += 1
        self._open[self._last] = offer
        if len(self._open) > KEPT:
            self._open.popitem(last=False)
        return self._last
