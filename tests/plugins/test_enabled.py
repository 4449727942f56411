"""Which plugins count: the person's word, an administrator's, and a project's offers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.plugins.enabled import Enabled, enabled
from gatewright.agent.plugins.gathering import Gathered, Ground, gathered
from gatewright.agent.plugins.installing import install_path
from gatewright.agent.plugins.manifest import Wanted
from gatewright.agent.plugins.options import Options
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.switching import installed, switch, uninstall
from gatewright.agent.settings.layers.sources import load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source
from tests.fakes.plugin_trees import bare_plugin, full_plugin, write, write_json

ID = "tidy@local"


class Here:
    def __init__(self, tmp_path: Path) -> None:
        self.at = tmp_path
        self.places = Places(home=tmp_path / "h", root=tmp_path / "p", managed=tmp_path / "m")
        self.places.root.mkdir()
        self.store = Store(self.places.home)

    def say(self, source: Source, **switches: bool) -> None:
        path = self.places.file(source)
        assert path is not None
        write_json(path, {"enabledPlugins": {f"{k}@local": on for k, on in switches.items()}})

    def enabled(self, *, trusted: bool = True, **options: Any) -> Enabled:
        loaded = load(self.places, LaunchOptions(**options), env={}, trusted=trusted)
        bare = options.get("bare", False)
        lock = self.store.lock.read()
        return enabled(loaded, self.places, lock, trusted=trusted, bare=bare)

    def gathered(self, *folders: Path, trusted: bool = True) -> Gathered:
        loaded = load(self.places, LaunchOptions(), env={}, trusted=trusted)
        return gathered(Ground(loaded=loaded, places=self.places, trusted=trusted, folders=folders))

    def install(self, name: str = "tidy", *, linked: bool = False, **manifest: Any) -> Path:
        folder = full_plugin(self.at / "src" / name, name, **manifest)
        done = install_path(self.store, folder, lambda _: True, linked=linked)
        switch(self.places, done.record.id, Source.USER, on=True)
        return self.store.root(done.record)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


class TestWhoseWord:
    def test_the_person_s(self, here: Here) -> None:
        here.say(Source.USER, tidy=True, other=False)
        found = here.enabled()
        assert (found.on, found.off, found.offered) == ((ID,), ("other@local",), ())

    def test_a_project_s_yes_is_an_offer(self, here: Here) -> None:
        here.say(Source.PROJECT, tidy=True)
        assert here.enabled().offered == (ID,)
        assert here.enabled(trusted=False).offered == ()

    def test_neither_is_what_a_checkout_calls_the_person_s_own(self, here: Here) -> None:
        here.say(Source.LOCAL, tidy=True)
        assert here.enabled().offered == (ID,)

    def test_an_offer_that_was_taken(self, here: Here) -> None:
        here.say(Source.PROJECT, tidy=True)
        here.store.lock.answer(here.places.root, ID, "yes")
        assert here.enabled().on == (ID,)
        assert here.enabled(trusted=False).on == ()

    def test_an_offer_that_was_refused(self, here: Here) -> None:
        here.say(Source.PROJECT, tidy=True)
        here.store.lock.answer(here.places.root, ID, "never")
        assert here.enabled().off == (ID,)

    def test_a_project_turns_off_for_itself(self, here: Here) -> None:
        here.say(Source.USER, tidy=True)
        here.say(Source.PROJECT, tidy=False)
        assert here.enabled().off == (ID,)
        assert here.enabled(trusted=False).on == (ID,)

    @pytest.mark.parametrize("on", [True, False])
    def test_an_administrator_s_word_is_the_last(self, here: Here, *, on: bool) -> None:
        here.say(Source.MANAGED, tidy=on)
        here.say(Source.USER, tidy=not on)
        here.say(Source.PROJECT, tidy=not on)
        found = here.enabled()
        assert (ID in found.on, ID in found.off) == (on, not on)

    def test_bare_has_the_administrator_s_alone(self, here: Here) -> None:
        here.say(Source.MANAGED, first=True)
        here.say(Source.USER, tidy=True)
        assert here.enabled(bare=True).on == ("first@local",)


class TestGathering:
    def test_what_is_on_and_whole(self, here: Here) -> None:
        root = here.install()
        (plugin,) = here.gathered().plugins
        assert (plugin.id, plugin.root) == (ID, root)
        assert plugin.data == here.store.data(ID)

    def test_what_is_on_and_not_there(self, here: Here) -> None:
        here.say(Source.USER, gone=True)
        (fault,) = here.gathered().faults
        assert fault.said() == (
            "Plugin gone@local: it is on, and not installed: agent plugin install gone@local"
        )

    def test_a_directory_of_the_command_line_comes_first(self, here: Here) -> None:
        here.install()
        folder = bare_plugin(here.at / "dev")
        (plugin,) = here.gathered(folder).plugins
        assert (plugin.id, plugin.root) == ("tidy@flag", folder)

    def test_a_linked_one_that_changed_is_to_be_asked_about(self, here: Here) -> None:
        root = here.install(linked=True)
        assert [each.root for each in here.gathered().plugins] == [root]
        write(root / "bin" / "more", "", program=True)
        found = here.gathered()
        assert found.plugins == ()
        assert [record.id for record in found.changed] == [ID]
        install_path(here.store, root, lambda _: True, linked=True)
        assert len(here.gathered().plugins) == 1

    def test_a_lock_that_leads_elsewhere(self, here: Here) -> None:
        here.install()
        text = here.store.lock.path.read_text(encoding="utf-8")
        write(here.store.lock.path, text.replace("local/tidy/", "../../../"))
        assert here.gathered().plugins == ()

    def test_a_broken_lock_lets_nothing_run(self, here: Here) -> None:
        here.install()
        write(here.store.lock.path, "{")
        found = here.gathered()
        assert found.plugins == ()
        assert [fault.text.partition(" ")[2][:9] for fault in found.faults] == ["is broken"]

    def test_what_it_needs_and_what_it_was_told(self, here: Here) -> None:
        config = {"token": {"sensitive": True, "required": True}, "size": {"type": "number"}}
        here.install(userConfig=config, dependencies=["other"])
        texts = [fault.text for fault in here.gathered().faults if not fault.quiet]
        assert texts == [
            "it needs other, which is not on: agent plugin install other",
            "it needs token: agent plugin configure tidy@local token",
        ]


class TestOptions:
    WANTED = {"size": Wanted(type="number", default=3), "token": Wanted(sensitive=True)}

    def test_a_secret_is_in_no_file_of_settings(self, here: Here) -> None:
        options = Options(here.places.home, Ring())
        options.put(ID, "token", self.WANTED["token"], "s3cret-value")
        options.put(ID, "size", self.WANTED["size"], "4")
        assert options.values(ID, self.WANTED) == {"size": "4", "token": "s3cret-value"}
        for path in here.places.home.rglob("*"):
            assert path.is_dir() or b"s3cret" not in path.read_bytes()
        options.forget(ID)
        assert options.values(ID, self.WANTED) == {"size": "3"}

    @pytest.mark.parametrize(("kind", "text"), [("number", "x"), ("boolean", "1"), ("file", "/x")])
    def test_a_value_that_it_cannot_be(self, here: Here, kind: Any, text: str) -> None:
        with pytest.raises(GatewrightError):
            Options(here.places.home, Ring()).put(ID, "key", Wanted(type=kind), text)


class Ring:
    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, user: str) -> str | None:
        return self._kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self._kept[(service, user)] = password

    def delete_password(self, service: str, user: str) -> None:
        self._kept.pop((service, user), None)


class TestRemoving:
    @pytest.mark.parametrize("keep", [True, False])
    def test_all_of_it_goes(self, here: Here, *, keep: bool) -> None:
        root = here.install()
        write(here.store.data(ID) / "kept", "")
        record = installed(here.store.lock.read(), "tidy")
        uninstall(here.places, record, Source.USER, keep_data=keep)
        assert not root.exists()
        assert here.store.data(ID).exists() is keep
        assert here.enabled() == Enabled()
        with pytest.raises(GatewrightError, match="There is no plugin tidy"):
            installed(here.store.lock.read(), "tidy")

    def test_a_linked_one_stays_where_it_is(self, here: Here) -> None:
        root = here.install(linked=True)
        record = installed(here.store.lock.read(), "tidy")
        uninstall(here.places, record, Source.USER, keep_data=False)
        assert root.is_dir()
