"""What there is of plugins, as people look through it: offered, installed, marketplaces, errors.

Texts of marketplaces are strangers': they are shown on one line and escaped by whoever draws them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from gatewright.agent.commands.outcome import Choice
from gatewright.agent.plugins.consent import Consent, consent_text
from gatewright.agent.plugins.marketplaces.finding import Offered, searched
from gatewright.agent.plugins.marketplaces.known import Known
from gatewright.agent.plugins.marketplaces.market import Entry, Market
from gatewright.agent.plugins.record import Record, id_of
from gatewright.tools.blocks import Block, Table, Text

DISCOVER, INSTALLED, MARKETS, ERRORS = "Discover", "Installed", "Marketplaces", "Errors"
TABS: Final = (DISCOVER, INSTALLED, MARKETS, ERRORS)
WIDTH: Final = 100
MOST: Final = 500  # rows that a list of what is offered shows; a search finds the others


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """At one moment. `states` are on, off, offered or stopped, by id."""

    offered: Offered = Offered()
    installed: tuple[Record, ...] = ()
    states: Mapping[str, str] = {}
    newer: Mapping[str, str] = {}  # versions that marketplaces list, by id
    proposed: Mapping[str, str] = {}  # marketplaces that settings name and nobody added
    faults: tuple[tuple[str, str], ...] = ()  # whose, and what is wrong

    def record(self, text: str) -> Record | None:
        """By its name or id."""
        name, market = id_of(text)
        return next(
            (r for r in self.installed if r.name == name and market in ("", r.market)), None
        )

    def entry(self, text: str) -> tuple[Known, Entry] | None:
        name, market = id_of(text)
        for known, each in self.offered.markets:
            if market in ("", known.name) and (entry := each.find(name)) is not None:
                return known, entry
        return None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Everything that is wrong, and whose it is."""
        yield from self.faults
        yield from self.offered.problems
        for known, market in self.offered.markets:
            yield from ((known.name, warning) for warning in market.warnings)
            yield from ((entry.id, entry.problem) for entry in market.entries if entry.problem)


def choices(seen: Overview) -> list[Choice]:
    """The rows of all four lists."""
    there = {record.id for record in seen.installed}
    return [
        *(_offered(entry) for entry in _first(seen) if entry.id not in there),
        *(_record(record, seen) for record in seen.installed),
        *(_market(known, market) for known, market in seen.offered.markets),
        *(_broken(name, why) for name, why in seen.offered.problems),
        *(_proposed(name, said) for name, said in seen.proposed.items()),
        *(_problem(at, who, why) for at, (who, why) in enumerate(seen.problems())),
    ]


def _first(seen: Overview) -> Sequence[Entry]:
    usable = [entry for entry in seen.offered.entries if not entry.problem]
    return sorted(usable, key=lambda entry: entry.id)[:MOST]


def _offered(entry: Entry) -> Choice:
    detail = " · ".join(filter(None, (entry.version, line(entry.description))))
    return Choice(f"entry {entry.id}", entry.id, detail, DISCOVER, f"/plugin info {entry.id}")


def _record(record: Record, seen: Overview) -> Choice:
    new = seen.newer.get(record.id, "")
    said = (
        seen.states.get(record.id, "off"),
        record.version or record.resolved[:12],
        f"newer: {new}" if new else "",
        many(len(record.acts), "act") if record.acts else "only texts",
        "linked" if record.linked else "",
    )
    detail = " · ".join(filter(None, said))
    return Choice(f"plugin {record.id}", record.id, detail, INSTALLED, f"/plugin info {record.id}")


def _market(known: Known, market: Market) -> Choice:
    said = (many(len(market.entries), "plugin"), known.said, age(known))
    detail = " · ".join(filter(None, said))
    typed = f"/plugin marketplace {known.name}"
    return Choice(f"market {known.name}", known.name, detail, MARKETS, typed)


def _broken(name: str, why: str) -> Choice:
    typed = f"/plugin marketplace {name}"
    return Choice(f"market {name}", name, f"cannot be used: {line(why)}", MARKETS, typed)


def _proposed(name: str, said: str) -> Choice:
    typed = f"/plugin marketplace add {name}"
    return Choice(f"proposed {name}", name, f"named in settings, not added: {said}", MARKETS, typed)


def _problem(at: int, who: str, why: str) -> Choice:
    return Choice(f"problem {at}", who, line(why), ERRORS, "/plugin errors")


def table(rows: Sequence[Choice]) -> Table:
    return Table(("", "", ""), tuple((row.source, row.label, row.detail) for row in rows))


def found(seen: Overview, words: str) -> Sequence[Block]:
    """What of the marketplaces these words find."""
    entries = searched(seen.offered.entries, words)
    if not entries:
        return (Text("No marketplace that was added lists such a plugin.", "dim"),)
    there = {record.id for record in seen.installed}
    rows = tuple(
        (
            entry.id,
            entry.version,
            "installed" if entry.id in there else "",
            line(entry.problem or entry.description),
        )
        for entry in entries
    )
    return Table(("Plugin", "Version", "", "For"), rows), Text(
        "/plugin install NAME installs one; it shows what acts, and asks.", "dim"
    )


def about_entry(known: Known, entry: Entry) -> Sequence[Block]:
    said = (
        ("Plugin", entry.id),
        ("For", line(entry.description, 1000)),
        ("Version", entry.version),
        ("Publisher", entry.publisher),
        ("Source", entry.source.said() if entry.source is not None else ""),
        ("Marketplace", known.said),
        ("Category", entry.category),
        ("Words", ", ".join(entry.words)),
        ("Homepage", entry.homepage),
        ("Problem", entry.problem),
    )
    next_ = "Installing fetches it, shows all that can act, and asks."
    return Table(("", ""), _filled(said)), Text(next_, "dim")


def about_record(record: Record, seen: Overview) -> Sequence[Block]:
    said = (
        ("State", seen.states.get(record.id, "off")),
        ("Newer", seen.newer.get(record.id, "")),
        ("Wrong", "; ".join(why for who, why in seen.faults if who == record.id)),
    )
    return Text(consent_text(Consent(now=record))), Table(("", ""), _filled(said))


def about_market(known: Known, market: Market) -> Sequence[Block]:
    said = (
        ("Marketplace", known.name),
        ("Keeper", market.owner),
        ("For", line(market.description, 1000)),
        ("Source", known.said),
        ("Commit", known.resolved),
        ("Asked", age(known)),
    )
    rows = tuple(
        (entry.name, entry.version, line(entry.problem or entry.description))
        for entry in market.entries[:MOST]
    )
    return Table(("", ""), _filled(said)), Table(("Plugin", "Version", "For"), rows)


def _filled(said: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in said if pair[1])


def line(text: str, width: int = WIDTH) -> str:
    """On one line, and no longer than is looked at."""
    one = " ".join(text.split())
    return one if len(one) <= width else f"{one[: width - 1]}…"


def age(known: Known) -> str:
    if known.linked:
        return "a directory of this machine"
    days = int((time.time() - known.updated_at) / 86_400)
    return "asked today" if days < 1 else f"asked {many(days, 'day')} ago"


def many(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else f'{what}s'}"
