"""Marketplaces are added, refreshed and removed; plugins of theirs are installed and updated."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.consent import consent_text
from gatewright.agent.plugins.installing import Declined
from gatewright.agent.plugins.marketplaces.adding import market_source
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.finding import searched
from gatewright.agent.plugins.marketplaces.market import BadMarket, market_of
from gatewright.agent.plugins.marketplaces.updating import news
from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.agent.plugins.sources.source import (
    FileSource,
    GitSource,
    LocalSource,
    ZipSource,
    read,
)
from tests.fakes.market_server import MarketServer, laid, repository, tarball, zipped
from tests.plugins.market_place import ENV, LIST, MANIFEST, Person, Place, below, listed, plugin


class TestTheList:
    def test_is_read(self) -> None:
        text = listed(
            {"name": "one", "source": "./plugins/one", "description": "d", "keywords": ["k"]},
            {"name": "two", "source": "two", "version": "1.0.0", "author": {"name": "A"}},
            metadata={"pluginRoot": "./plugins", "description": "All of them"},
            renames={"old": "one", "gone": None},
        )
        found = market_of(text.encode(), ENV)
        assert (found.name, found.owner, found.description) == ("tools", "Me", "All of them")
        assert [entry.source for entry in found.entries] == [
            LocalSource("./plugins/one"),
            LocalSource("./plugins/two"),
        ]
        assert found.entries[0].words == ("k",)
        assert found.entries[1].publisher == "A"
        renamed = found.find("old")
        assert renamed is not None
        assert renamed.name == "one"
        assert found.find("gone") is None

    def test_one_bad_entry_hides_no_other(self) -> None:
        text = listed(
            {"name": "runs", "source": {"source": "command", "command": "x"}},
            {"name": "out", "source": "./../x"},
            {"name": "Bad Name", "source": "./x"},
            {"source": "./nothing"},
            {"name": "fine", "source": "./fine"},
            {"name": "fine", "source": "./other"},
            {"name": "bare", "source": "bare"},
        )
        found = market_of(text.encode(), ENV)
        problems = {entry.name: entry.problem for entry in found.entries}
        assert "none is ever run" in problems["runs"]
        assert "leads out" in problems["out"]
        assert "begin with ./" in problems["bare"]
        assert not problems["fine"]
        assert len(found.warnings) == 3

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("{", "no JSON"),
            ("[]", "no list of plugins"),
            ('{"name": "a"}', "no list of plugins"),
            ('{"name": "a b", "plugins": []}', "is no name"),
            ('{"name": "local", "plugins": []}', "is taken"),
            ('{"name": "..", "plugins": []}', "is no name"),
            ("[" * 100_000, "no JSON"),
        ],
    )
    def test_or_refused(self, text: str, why: str) -> None:
        with pytest.raises(BadMarket, match=why):
            market_of(text.encode(), ENV)

    def test_is_searched_offline(self) -> None:
        text = listed(
            {"name": "review", "source": "./a", "description": "Reads code"},
            {"name": "code", "source": "./b", "description": "Other"},
            {"name": "notes", "source": "./c", "tags": ["writing"], "description": "Keeps text"},
        )
        entries = market_of(text.encode(), ENV).entries
        assert [each.name for each in searched(iter(entries), "code")] == ["code", "review"]
        assert [each.name for each in searched(iter(entries), "Writing text")] == ["notes"]
        assert [each.name for each in searched(iter(entries), "")] == ["code", "notes", "review"]
        assert not searched(iter(entries), "code nothing")


class TestAdding:
    def test_of_a_directory_is_read_where_it_is(self, place: Place, tmp_path: Path) -> None:
        folder = laid(tmp_path / "m", {LIST: listed()})
        place.add(LocalSource(str(folder)))
        laid(folder, {LIST: listed({"name": "new", "source": "./new"})})
        assert [each.name for each in place.getting.offered().entries] == ["new"]

    def test_of_a_repository_is_pinned(self, place: Place, server: MarketServer) -> None:
        commit = repository(server.repositories / "m", {LIST: listed()})
        place.add(GitSource(server.git("m")))
        known = place.markets.find("tools")
        assert known.resolved == commit
        assert not known.linked
        place.add(GitSource(server.git("m")))  # the same again is a refresh

    def test_of_a_list_alone(self, place: Place, server: MarketServer) -> None:
        url = server.put("/marketplace.json", listed({"name": "a", "source": "./a"}).encode())
        place.add(FileSource(url))
        with pytest.raises(GatewrightError, match="the market has none"):
            place.install("a")

    def test_of_an_archive(self, place: Place, server: MarketServer) -> None:
        files = {LIST: listed({"name": "a", "source": "./a"}), **below("a", plugin("a"))}
        place.add(ZipSource(server.put("/m.zip", zipped({**files}))))
        assert place.install("a").record.version == "1.0.0"

    def test_what_is_no_marketplace(self, place: Place, tmp_path: Path) -> None:
        folder = laid(tmp_path / "m", plugin("a"))
        with pytest.raises(BadMarket, match="It is no marketplace"):
            place.add(LocalSource(str(folder)))
        with pytest.raises(SourceError, match="no directory"):
            place.add(LocalSource(str(tmp_path / "none")))
        assert not place.state()

    def test_a_second_one_of_the_name_asks(self, place: Place, tmp_path: Path) -> None:
        one = laid(tmp_path / "one", {LIST: listed()})
        other = laid(tmp_path / "other", {LIST: listed()})
        place.add(LocalSource(str(one)))
        with pytest.raises(GatewrightError, match="already, from"):
            place.add(LocalSource(str(other)))
        assert place.markets.find("tools").said == str(one)
        place.add(LocalSource(str(other)), replaces=True)
        assert place.markets.find("tools").said == str(other)

    def test_a_name_that_looks_like_another(self, place: Place, tmp_path: Path) -> None:
        place.add(LocalSource(str(laid(tmp_path / "one", {LIST: listed()}))))
        folder = laid(tmp_path / "other", {LIST: listed(name="t00ls")})
        with pytest.raises(BadMarket, match="looks like tools"):
            place.add(LocalSource(str(folder)))

    def test_another_name_than_settings_say(self, place: Place, tmp_path: Path) -> None:
        folder = laid(tmp_path / "one", {LIST: listed()})
        with pytest.raises(BadMarket, match="calls itself tools, not theirs"):
            place.add(LocalSource(str(folder)), name="theirs")

    def test_the_list_elsewhere_in_a_repository(self, place: Place, server: MarketServer) -> None:
        repository(server.repositories / "m", {"lists/all.json": listed(name="else")})
        raw = {"source": {"source": "git", "url": server.git("m"), "path": "lists/all.json"}}
        source, file = market_source(raw, ENV, Path("/project"))
        assert place.add(source, file=file).name == "else"

    def test_what_was_known_survives_a_bad_refresh(
        self, place: Place, server: MarketServer
    ) -> None:
        folder = server.repositories / "m"
        repository(
            folder, {LIST: listed({"name": "a", "source": "./a"}), **below("a", plugin("a"))}
        )
        place.add(GitSource(server.git("m")))
        before = place.state()
        repository(folder, {LIST: "{"})
        known = place.markets.find("tools")
        with pytest.raises(GatewrightError, match=r"tools could not be refreshed: .*no JSON"):
            asyncio.run(place.getting.adding.refresh(known))
        assert place.state() == before
        assert [each.name for each in place.getting.offered().entries] == ["a"]

    def test_what_was_replaced_goes_a_little_later(
        self, place: Place, server: MarketServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another process may be copying from it."""
        repository(server.repositories / "m", {LIST: listed()})
        for _ in range(2):
            place.add(GitSource(server.git("m")))
        assert len([*place.markets.folder.iterdir()]) == 2
        later = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: later)
        place.add(GitSource(server.git("m")))
        (left,) = place.markets.folder.iterdir()
        assert left.name == place.markets.find("tools").folder

    def test_a_broken_list_of_them_is_told(self, place: Place, tmp_path: Path) -> None:
        place.add(LocalSource(str(laid(tmp_path / "m", {LIST: listed()}))))
        place.markets.path.write_text("{", encoding="utf-8")
        with pytest.raises(GatewrightError, match="no marketplace counts"):
            place.getting.offered()


class TestWhatIsAllowed:
    GITHUB = GitSource("https://github.com/me/tools.git")

    @pytest.mark.parametrize(
        ("only", "allowed"),
        [
            (None, True),
            ((), False),
            (({"source": "github", "repo": "me/tools"},), True),
            (({"source": "git", "url": "git@github.com:me/tools.git"},), True),
            (({"source": "github", "repo": "me/tools", "ref": "v1"},), False),
            (({"source": "github", "repo": "me/other"},), False),
            (({"source": "hostPattern", "hostPattern": r"^github\.com$"},), True),
            (({"source": "hostPattern", "hostPattern": r"^example\.com$"},), False),
            (({"source": "hostPattern", "hostPattern": "("},), False),
            (({"source": "magic"},), False),
        ],
    )
    def test_only(self, only: Any, allowed: bool) -> None:
        assert (Allowed(only).refusal(self.GITHUB, ENV) == "") is allowed

    @pytest.mark.parametrize(
        ("never", "allowed"),
        [
            ({"source": "github", "repo": "ME/Tools", "ref": "v1"}, False),
            ({"source": "git", "url": "ssh://git@github.com/me/tools"}, False),
            ({"source": "git", "url": "https://github.com:443/me//tools/"}, False),
            ({"source": "git", "url": "ssh://git@github.com:22/me/tools.git"}, False),
            ({"source": "github", "repo": "me/other"}, True),
            ({"source": "hostPattern", "hostPattern": "github"}, False),
            ({"source": "hostPattern", "hostPattern": "("}, False),
            ({"source": "magic"}, False),
        ],
    )
    def test_never(self, never: Any, allowed: bool) -> None:
        assert (Allowed(None, (never,)).refusal(self.GITHUB, ENV) == "") is allowed

    def test_nothing_is_asked_of_what_is_not(
        self, tmp_path: Path, place: Place, server: MarketServer
    ) -> None:
        repository(server.repositories / "m", {LIST: listed({"name": "a", "source": "./a"})})
        source = GitSource(server.git("m"))
        place.add(source)
        asked = len(server.asked)
        strict = Place(tmp_path / "home", Allowed(()))
        with pytest.raises(GatewrightError, match="administrator"):
            strict.add(source)
        with pytest.raises(GatewrightError, match="administrator"):
            strict.install("a@tools")
        assert not [*strict.getting.offered().entries]
        with pytest.raises(GatewrightError, match="marketplaces alone"):
            asyncio.run(strict.getting.direct(source, Person()))
        assert len(server.asked) == asked

    def test_a_directory_by_its_path(self, tmp_path: Path) -> None:
        only = Allowed(({"source": "pathPattern", "pathPattern": "^/srv/"},))
        assert not only.refusal(LocalSource("/srv/market"), ENV)
        assert only.refusal(LocalSource(str(tmp_path)), ENV)
        assert only.refusal(self.GITHUB, ENV)


class TestInstalling:
    def test_from_every_kind_of_source(self, place: Place, server: MarketServer) -> None:
        commit = repository(server.repositories / "two", plugin("two"), tag="v1")
        sub = repository(server.repositories / "mono", below("a/three", plugin("three")))
        server.package("four", {"1.0.0": tarball(plugin("four"))})
        zip_ = server.put("/five.zip", zipped({**plugin("five")}))
        entries = (
            {"name": "one", "source": "./one"},
            {"name": "two", "source": {"source": "git", "url": server.git("two"), "ref": "v1"}},
            {
                "name": "three",
                "source": {"source": "git-subdir", "url": server.git("mono"), "path": "a/three"},
            },
            {
                "name": "four",
                "source": {"source": "npm", "package": "four", "registry": server.url},
            },
            {"name": "five", "source": {"source": "zip", "url": zip_}},
        )
        files = {LIST: listed(*entries), **below("one", plugin("one"))}
        market = repository(server.repositories / "m", files)
        place.add(GitSource(server.git("m")))
        resolved = {
            name: place.install(f"{name}@tools").record.resolved
            for name in ("one", "two", "three", "four", "five")
        }
        assert (resolved["one"], resolved["two"]) == (market, commit)
        assert (resolved["three"], resolved["four"]) == (sub, "1.0.0")
        assert resolved["five"].startswith("sha256:")
        for name in resolved:
            assert name in place.text(f"{name}@tools", MANIFEST)

    def test_shows_what_acts_and_asks(self, place: Place, tmp_path: Path) -> None:
        files = {
            LIST: listed({"name": "a", "source": "./a", "author": {"name": "Ann"}}),
            **below("a", plugin("a", hook="rm -rf /tmp/x")),
        }
        place.add(LocalSource(str(laid(tmp_path / "m", files))))
        person = Person(says=False)
        with pytest.raises(Declined):
            place.install("a", person)
        text = consent_text(person.saw[0])
        assert "rm -rf /tmp/x" in text
        assert f"./a of {tmp_path / 'm'}" in text
        assert not place.store.lock.read().plugins

    def test_the_name_that_is_meant(self, place: Place, tmp_path: Path) -> None:
        for market in ("one", "two"):
            text = listed({"name": "same", "source": "./same"}, name=market)
            place.add(LocalSource(str(laid(tmp_path / market, {LIST: text}))))
        for name, why in (
            ("same", "several marketplaces: same@one, same@two"),
            ("sane@one", "Did you mean same"),
            ("same@three", "no marketplace three"),
        ):
            with pytest.raises(GatewrightError, match=why):
                place.install(name)

    def test_a_commit_that_the_person_names(self, place: Place, server: MarketServer) -> None:
        first = repository(server.repositories / "a", plugin("a"))
        repository(server.repositories / "a", plugin("a", "2.0.0"))
        entry = {"name": "a", "source": {"source": "git", "url": server.git("a")}}
        repository(server.repositories / "m", {LIST: listed(entry)})
        place.add(GitSource(server.git("m")))
        assert place.install("a", sha=first).record.version == "1.0.0"

    def test_a_market_from_elsewhere_reaches_nothing_here(
        self, place: Place, tmp_path: Path, server: MarketServer
    ) -> None:
        """Its word is a stranger's: as if it had come from another machine."""
        entry = {"name": "a", "source": str(laid(tmp_path / "private", plugin("a")))}
        place.add(LocalSource(str(laid(tmp_path / "m", {LIST: listed(entry)}))))
        known = place.markets.find("tools")
        far = {**json.loads(place.markets.path.read_text(encoding="utf-8"))}
        far["markets"]["tools"]["source"] = {"source": "github", "repo": "me/tools"}
        place.markets.path.write_text(json.dumps(far), encoding="utf-8")
        assert not place.markets.near(place.markets.find("tools"))
        assert place.markets.near(known)
        with pytest.raises(GatewrightError, match="only you may name"):
            asyncio.run(place.getting.of_market("a", "tools", Person()))
        assert not server.asked

    def test_from_an_address(self, place: Place, server: MarketServer) -> None:
        commit = repository(server.repositories / "a", plugin("a"))
        source = GitSource(server.git("a"))
        done = asyncio.run(place.getting.direct(source, Person()))
        assert (done.record.id, done.record.resolved) == ("a@direct", commit)
        assert read(dict(done.record.source), ENV) == source


class TestUpdating:
    @pytest.fixture
    def folder(self, place: Place, server: MarketServer) -> Path:
        folder = server.repositories / "m"
        entry = {"name": "a", "source": "./a"}
        repository(folder, {LIST: listed(entry), **below("a", plugin("a", hook="echo one"))})
        place.add(GitSource(server.git("m")))
        place.install("a")
        return folder

    def test_nothing_new(self, place: Place, folder: Path) -> None:
        repository(folder, {"README": "other"})
        person = Person()
        assert [each.state for each in place.update(person)] == ["same"]
        assert not person.saw

    def test_new_texts_are_taken_unasked(self, place: Place, folder: Path) -> None:
        repository(folder, below("a", plugin("a", "1.0.1", hook="echo one")))
        person = Person(says=False)
        (done,) = place.update(person)
        assert done.text == "1.0.0 is replaced by 1.0.1."
        assert not person.saw
        assert "1.0.1" in place.text("a@tools", MANIFEST)

    def test_what_acts_anew_is_asked_about(self, place: Place, folder: Path) -> None:
        repository(folder, below("a", plugin("a", "1.1.0", hook="curl example.com")))
        person = Person(says=False)
        assert [each.state for each in place.update(person)] == ["declined"]
        text = consent_text(person.saw[0])
        assert "New: " in text
        assert "curl example.com" in text
        assert "Gone: " in text
        assert "echo one" in text
        assert "1.0.0" in place.text("a@tools", MANIFEST)
        assert [each.state for each in place.update(Person())] == ["updated"]
        assert "curl" in place.text("a@tools", "hooks/hooks.json")

    def test_a_market_that_does_not_answer(
        self, place: Place, folder: Path, server: MarketServer
    ) -> None:
        before = place.state()
        server.put("/git/m/.git/info/refs", b"", status=500)
        (done,) = place.update()
        assert done.state == "failed"
        assert "could not be refreshed" in done.text
        assert place.state() == before

    def test_a_plugin_that_is_broken_now(self, place: Place, folder: Path) -> None:
        before = place.text("a@tools", MANIFEST)
        repository(folder, {f"a/{MANIFEST}": '{"name": 7}'})
        (done,) = place.update()
        assert done.state == "failed"
        assert place.text("a@tools", MANIFEST) == before

    def test_one_that_is_listed_no_more(self, place: Place, folder: Path) -> None:
        repository(folder, {LIST: listed()})
        (done,) = place.update()
        assert done.state == "failed"
        assert "no plugin a in tools" in done.text
        assert "a@tools" in place.store.lock.read().plugins

    def test_one_that_has_another_name(self, place: Place, folder: Path) -> None:
        """What it kept and whether it is on go over."""
        data = place.store.data("a@tools")
        laid(data, {"kept": "1"})
        settings = laid(place.home, {"settings.json": '{"enabledPlugins": {"a@tools": true}}'})
        entry = {"name": "beta", "source": "./b"}
        repository(
            folder,
            {LIST: listed(entry, renames={"a": "beta"}), **below("b", plugin("beta"))},
        )
        (done,) = place.update()
        assert done.text == "It is called beta@tools now."
        assert [*place.store.lock.read().plugins] == ["beta@tools"]
        assert (place.store.data("beta@tools") / "kept").exists()
        said = json.loads((settings / "settings.json").read_text(encoding="utf-8"))
        assert said == {"enabledPlugins": {"beta@tools": True}}

    def test_news_are_told_without_asking_anybody(
        self, place: Place, folder: Path, server: MarketServer
    ) -> None:
        repository(folder, below("a", plugin("a", "1.0.1", hook="echo one")))
        records = [*place.store.lock.read().plugins.values()]
        assert not [*news(place.getting, records)]
        asyncio.run(place.getting.refreshed(frozenset({"tools"})))
        asked = len(server.asked)
        (found,) = news(place.getting, records)
        assert found.record.id == "a@tools"
        assert len(server.asked) == asked

    def test_a_list_that_says_more_than_the_plugin_is_no_news(
        self, place: Place, folder: Path
    ) -> None:
        entry = {"name": "a", "source": "./a", "version": "9.0.0"}
        repository(folder, {LIST: listed(entry)})
        asyncio.run(place.getting.refreshed(frozenset({"tools"})))
        assert not [*news(place.getting, place.store.lock.read().plugins.values())]

    def test_a_patch_is_told_from_more(self, place: Place, folder: Path) -> None:
        for version, patch in (("1.0.1", True), ("1.1.0", False)):
            entry = {"name": "a", "source": "./a", "version": version}
            changed = below("a", plugin("a", version))
            repository(folder, {LIST: listed(entry), **changed})
            asyncio.run(place.getting.refreshed(frozenset({"tools"})))
            (found,) = news(place.getting, place.store.lock.read().plugins.values())
            assert (found.version, found.patch) == (version, patch)
