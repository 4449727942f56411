"""/plugin as data: what each list shows, what each key and word leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Listing, Outcome, Page, Pick, Problem, Say
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.panel.plugin_command import NOTHING, plugins
from gatewright.agent.plugins.panel.plugin_rows import Overview
from gatewright.agent.plugins.sources.source import LocalSource
from gatewright.tools.blocks import Block, Table, Text
from tests.fakes.market_server import laid
from tests.plugins.market_place import LIST, Place, below, listed, plugin


class Book:
    """The real marketplaces and store of a home; what is asked for is kept, not done."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.asked: list[str] = []
        self.on: set[str] = set()

    def overview(self) -> Overview:
        lock = self._place.store.lock.read()
        return Overview(
            offered=self._place.getting.offered(),
            installed=tuple(lock.plugins.values()),
            states=dict.fromkeys(self.on, "on"),
            newer=dict.fromkeys(lock.plugins, "9.9.9"),
            proposed={"theirs": "https://example.com/m.git"},
            faults=(("a@tools", "its files are not those that you agreed to"),),
        )

    def install(self, name: str) -> str:
        return self._kept(f"install {name}")

    def update(self, name: str) -> str:
        return self._kept(f"update {name}")

    def add_market(self, source: str) -> str:
        return self._kept(f"add {source}")

    def refresh(self, name: str) -> str:
        return self._kept(f"refresh {name}")

    async def remove_market(self, name: str) -> str:
        if name == "none":
            raise GatewrightError("There is no marketplace none.")
        return self._kept(f"remove {name}")

    async def switch(self, id: str, *, on: bool) -> str:
        return self._kept(f"{'on' if on else 'off'} {id}")

    async def uninstall(self, id: str) -> str:
        return self._kept(f"uninstall {id}")

    def _kept(self, said: str) -> str:
        self.asked.append(said)
        return said


@pytest.fixture
def book(place: Place, tmp_path: Path) -> Book:
    files = {
        LIST: listed(
            {"name": "a", "source": "./a", "description": "Does a"},
            {"name": "b", "source": "./b", "description": "Does \x1b[31mb\nin two lines"},
            {"name": "c", "source": {"source": "command", "command": "x"}},
        ),
        **below("a", plugin("a", hook="echo one")),
        **below("b", plugin("b")),
    }
    place.add(LocalSource(str(laid(tmp_path / "m", files))))
    place.install("a")
    return Book(place)


def ran(book: Book, line: str) -> Outcome:
    return asyncio.run(plugins(book, CommandContext(args=line)))


def text(blocks: Sequence[Block]) -> str:
    """All that is said."""
    said: list[str] = []
    for block in blocks:
        match block:
            case Text(text=words):
                said.append(words)
            case Table(rows=rows):
                said += [" | ".join(map(str, row)) for row in rows]
            case _:
                said.append(repr(block))
    return "\n".join(said)


def said(book: Book, line: str) -> str:
    found = ran(book, line)
    assert isinstance(found, Say)
    return text(found.blocks)


def opened(book: Book) -> Listing:
    found = ran(book, "")
    assert isinstance(found, Listing)
    return found


def test_four_lists(book: Book) -> None:
    found = opened(book)
    assert set(found.tabs) == {"Discover", "Installed", "Marketplaces", "Errors"}
    assert found.tabs[0] == "Installed"
    rows = {(row.source, row.label): row.detail for row in found.rows()}
    assert rows["Discover", "b@tools"] == "Does \x1b[31mb in two lines"  # escaped where drawn
    assert ("Discover", "a@tools") not in rows
    assert rows["Installed", "a@tools"] == "off · 1.0.0 · newer: 9.9.9 · 1 act"
    assert "3 plugins" in rows["Marketplaces", "tools"]
    assert "not added" in rows["Marketplaces", "theirs"]
    assert "none is ever run" in rows["Errors", "c@tools"]
    assert "agreed to" in rows["Errors", "a@tools"]


def test_every_row_can_be_looked_into(book: Book) -> None:
    found = opened(book)
    shown = {
        row.label: text(asyncio.run(_read(found, row.id)))
        for row in found.rows()
        if row.source != "Errors"
    }
    assert "echo one" in shown["a@tools"]
    assert "Does " in shown["b@tools"]
    assert "agent" not in shown["b@tools"]
    assert "Keeper | Me" in shown["tools"]
    assert "/plugin marketplace add theirs" in shown["theirs"]


async def _read(found: Listing, id: str) -> Sequence[Block]:
    return await found.read(id)


def key(book: Book, key: str, label: str, tab: str) -> Outcome:
    found = opened(book)
    act = next(act for act in found.acts if act.key == key)
    row = next(row for row in found.rows() if (row.label, row.source) == (label, tab))
    return asyncio.run(_acted(act.run(row.id)))


async def _acted(work: object) -> Outcome:
    return await work  # type: ignore[misc,no-any-return]


def test_keys(book: Book) -> None:
    book.on.add("a@tools")
    for pressed, label, tab, asked in (
        ("ctrl+y", "b@tools", "Discover", "install b@tools"),
        ("ctrl+y", "a@tools", "Installed", "update a@tools"),
        ("ctrl+y", "tools", "Marketplaces", "refresh tools"),
        ("ctrl+y", "theirs", "Marketplaces", "add theirs"),
        ("ctrl+o", "a@tools", "Installed", "off a@tools"),
    ):
        key(book, pressed, label, tab)
        assert book.asked.pop() == asked
    assert isinstance(key(book, "ctrl+o", "b@tools", "Discover"), Problem)
    assert isinstance(key(book, "ctrl+x", "b@tools", "Discover"), Problem)
    assert not book.asked


@pytest.mark.parametrize(
    ("label", "tab", "asked"),
    [("a@tools", "Installed", "uninstall a@tools"), ("tools", "Marketplaces", "remove tools")],
)
def test_removing_asks(book: Book, label: str, tab: str, asked: str) -> None:
    question = key(book, "ctrl+x", label, tab)
    assert isinstance(question, Pick)
    assert question.choices[0].id == "no"
    asyncio.run(_acted(question.choose("no")))
    assert not book.asked
    asyncio.run(_acted(question.choose("yes")))
    assert book.asked == [asked]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("install b@tools", "install b@tools"),
        ("update", "update all"),
        ("update a", "update a"),
        ("enable a", "on a@tools"),
        ("disable a@tools", "off a@tools"),
        ("uninstall a", "uninstall a@tools"),
        ("marketplace add me/tools", "add me/tools"),
        ("marketplace update", "refresh all"),
        ("marketplace update tools", "refresh tools"),
        ("marketplace remove tools", "remove tools"),
    ],
)
def test_words(book: Book, line: str, asked: str) -> None:
    assert said(book, line) == asked
    assert book.asked == [asked]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("discover does a", "a@tools"),
        ("discover nothing of this", "No marketplace that was added lists"),
        ("info b", "Does "),
        ("info a@tools", "echo one"),
        ("info none", "There is no plugin none"),
        ("errors", "none is ever run"),
        ("marketplace tools", "Keeper | Me"),
        ("marketplace none", "There is no marketplace none"),
        ("enable b", "There is no plugin b installed"),
        ("dance a", "Usage: /plugin"),
        ("enable", "Usage: /plugin"),
        ("marketplace remove none", "There is no marketplace none"),
    ],
)
def test_what_is_told(book: Book, line: str, told: str) -> None:
    assert told in said(book, line)
    assert not book.asked


def test_with_nothing_it_says_how_to_begin(place: Place) -> None:
    class Empty(Book):
        def overview(self) -> Overview:
            return Overview()

    found = ran(Empty(place), "")
    assert isinstance(found, Page)
    assert text(found.fallback.blocks) == NOTHING
