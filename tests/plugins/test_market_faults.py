"""Whatever happens to a refresh or an update: what was there works, and the reason is told."""

from __future__ import annotations

import os
from multiprocessing import get_context
from pathlib import Path

import pytest

from gatewright.agent.plugins.sources.source import (
    GitSource,
)
from gatewright.agent.plugins.sources.writing import TreeWriter
from tests.fakes.market_server import MarketServer, repository
from tests.plugins.market_place import LIST, MANIFEST, Place, below, listed, plugin


class TestFaults:
    """Whatever happens in the middle: what was there works, and the reason is told."""

    STEPS = (
        "gatewright.agent.plugins.sources.writing.TreeWriter.finish",
        "gatewright.agent.plugins.marketplaces.market.market_in",
        "gatewright.agent.plugins.marketplaces.known.KnownMarkets._put",
        "gatewright.agent.plugins.marketplaces.known.KnownMarkets._clean",
    )

    @pytest.fixture
    def folder(self, place: Place, server: MarketServer) -> Path:
        folder = server.repositories / "m"
        entry = {"name": "a", "source": "./a"}
        repository(folder, {LIST: listed(entry), **below("a", plugin("a"))})
        place.add(GitSource(server.git("m")))
        place.install("a")
        repository(
            folder, {LIST: listed(entry, description="new"), **below("a", plugin("a", "2.0.0"))}
        )
        return folder

    @pytest.mark.parametrize("step", STEPS)
    def test_killed_in_the_middle(
        self, place: Place, folder: Path, server: MarketServer, step: str
    ) -> None:
        child = get_context("fork").Process(target=_killed, args=(place.home, step))
        child.start()
        child.join(60)
        assert child.exitcode == 9
        assert [each.name for each in place.getting.offered().entries] == ["a"]
        assert "1.0.0" in place.text("a@tools", MANIFEST)
        assert [each.state for each in place.update()] == ["updated"]
        assert "2.0.0" in place.text("a@tools", MANIFEST)
        assert place.state()

    def test_no_room(self, place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = place.state()
        monkeypatch.setattr(TreeWriter, "file", _full)
        (done,) = place.update()
        assert done.state == "failed"
        assert "no room left" in done.text
        monkeypatch.undo()
        assert place.state() == before

    def test_the_network_is_cut(self, place: Place, folder: Path, server: MarketServer) -> None:
        before = place.state()
        server.answers["/git/m/.git/git-upload-pack"] = lambda handler: handler.connection.close()
        (done,) = place.update()
        assert done.state == "failed"
        assert place.state() == before

    def test_two_processes_at_once(self, place: Place, folder: Path, server: MarketServer) -> None:
        context = get_context("fork")
        pair = [context.Process(target=_updated, args=(place.home,)) for _ in range(2)]
        for child in pair:
            child.start()
        for child in pair:
            child.join(60)
        assert [child.exitcode for child in pair] == [0, 0]
        assert "2.0.0" in place.text("a@tools", MANIFEST)
        assert [each.state for each in place.update()] == ["same"]
        assert place.state()

    def test_the_tree_was_edited_afterwards(self, place: Place, folder: Path) -> None:
        root = place.store.root(place.store.lock.read().plugins["a@tools"])
        (root / MANIFEST).chmod(0o644)
        (root / MANIFEST).write_text('{"name": "a", "hooks": {}}', encoding="utf-8")
        record = place.store.lock.read().plugins["a@tools"]
        assert "not those that you agreed to" in place.store.wrong(record)
        assert [each.state for each in place.update()] == ["updated"]
        assert not place.store.wrong(place.store.lock.read().plugins["a@tools"])


def _full(*_: object, executable: bool) -> None:
    del executable
    raise OSError(28, "No space left on device")


def _updated(home: Path) -> None:
    Place(home).update()


def _killed(home: Path, step: str) -> None:
    """A process that is gone when it comes to this step."""
    module, _, name = step.rpartition(".")
    patch = pytest.MonkeyPatch()
    target = f"{module}.{name}"
    if name == "market_in":
        target = "gatewright.agent.plugins.marketplaces.adding.market_in"
    patch.setattr(target, _die)
    Place(home).update()


def _die(*_: object) -> None:
    os._exit(9)
