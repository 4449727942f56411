"""An install is fetched aside, looked through, agreed to, renamed, and only then in the lock."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins import installing
from gatewright.agent.plugins.consent import Consent, consent_text
from gatewright.agent.plugins.in_use import Use, sweep
from gatewright.agent.plugins.installing import Declined, Installed, install_path
from gatewright.agent.plugins.record import Act
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import BadTree, tree_of
from tests.fakes.plugin_trees import bare_plugin, full_plugin, write, write_json
from tests.fakes.waiting import PATIENCE


def yes(about: Consent) -> bool:
    del about
    return True


def no(about: Consent) -> bool:
    del about
    return False


class Asked:
    def __init__(self) -> None:
        self.about: list[Consent] = []

    def __call__(self, about: Consent) -> bool:
        self.about.append(about)
        return True


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def install(store: Store, folder: Path) -> Installed:
    return install_path(store, folder, yes)


def state(store: Store) -> dict[str, str]:
    """All that is kept, but what only saves reading again."""
    return {
        str(path.relative_to(store.folder)): path.read_text(encoding="utf-8")
        for path in sorted(store.folder.rglob("*"))
        if path.is_file() and path.name != "seen.json"
    }


class TestInstalling:
    def test_it_is_a_sealed_copy_that_the_lock_pins(self, store: Store, tmp_path: Path) -> None:
        made = install(store, bare_plugin(tmp_path / "src"))
        record = store.lock.read().plugins["tidy@local"]
        assert record == made.record
        root = store.root(record)
        assert root.is_relative_to(store.trees)
        assert (root / "skills/sweep/SKILL.md").stat().st_mode & 0o777 == 0o444
        assert record.digest.startswith("sha256:")
        assert (record.version, record.files) == ("1.0.0", 2)
        assert store.wrong(record) == ""

    def test_the_person_sees_everything_that_acts(self, store: Store, tmp_path: Path) -> None:
        asked = Asked()
        install_path(store, full_plugin(tmp_path / "src"), asked)
        (about,) = asked.about
        assert [(act.kind, act.text) for act in about.now.acts] == [
            ("allowed-tools", "Bash(wc:*)"),
            ("command in text", "ls | wc -l"),
            ("hook", 'PostToolUse Read: "${CLAUDE_PLUGIN_ROOT}"/scripts/note.sh'),
            ("language server", "toml: taplo lsp"),
            ("monitor", 'tail -F log {"name": "log"}'),
            ("program", "tidy-tool"),
            ("server", "shelf: ${CLAUDE_PLUGIN_ROOT}/scripts/serve.sh --quiet"),
            ("workflow", "spring.js"),
        ]
        text = consent_text(about)
        for expected in (
            "Publisher: Ada <ada@example.com>",
            f"Source: {tmp_path / 'src'}",
            f"Resolved: {about.now.digest}",
            "ls | wc -l  (commands/count.md)",
            "Note: monitors: not supported yet",
        ):
            assert expected in text

    def test_nothing_is_kept_without_a_yes(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(Declined):
            install_path(store, bare_plugin(tmp_path / "src"), no)
        assert state(store) == {}

    def test_the_same_again_asks_nobody(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        install(store, folder)
        assert install_path(store, folder, no).same

    def test_another_version_shows_what_is_new_and_gone(self, store: Store, tmp_path: Path) -> None:
        folder = full_plugin(tmp_path / "src")
        old = install(store, folder).record
        write(folder / "bin" / "more", "#!/bin/sh\n", program=True)
        (folder / "commands" / "count.md").unlink()
        asked = Asked()
        new = install_path(store, folder, asked)
        (about,) = asked.about
        assert about.new == (Act("program", "more", "bin/more"),)
        assert {act.kind for act in about.gone} == {"allowed-tools", "command in text"}
        assert "New: Programs" in consent_text(about)
        assert new.before == old
        assert store.root(old).is_dir(), "a running session may still use it"

    def test_a_repository_s_history_stays_behind(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        write(folder / ".git" / "hooks" / "post-checkout", "#!/bin/sh\n", program=True)
        record = install(store, folder).record
        assert not (store.root(record) / ".git").exists()


class TestRefusing:
    @pytest.mark.parametrize("name", ["user", "Tidy", "a--b", "a_b", "workflow", "x" * 65])
    def test_names_that_no_plugin_may_have(self, store: Store, tmp_path: Path, name: str) -> None:
        with pytest.raises(GatewrightError, match="The name"):
            install(store, bare_plugin(tmp_path / "src", name))

    @pytest.mark.parametrize("name", ["t1dy", "tldy", "ti-dy"])
    def test_names_that_look_like_an_installed_one(
        self, store: Store, tmp_path: Path, name: str
    ) -> None:
        install(store, bare_plugin(tmp_path / "src"))
        with pytest.raises(GatewrightError, match="looks like tidy"):
            install(store, bare_plugin(tmp_path / "other", name))

    def test_a_link_that_leads_out(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        (folder / "skills" / "out").symlink_to("/etc")
        with pytest.raises(BadTree, match=r"skills/out is a link that leads out"):
            install(store, folder)
        assert state(store) == {}

    def test_a_link_through_a_link(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        (folder / "a").symlink_to("b")
        (folder / "b").symlink_to("../../..")
        with pytest.raises(BadTree, match="leads out"):
            install(store, folder)

    def test_a_pipe(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        os.mkfifo(folder / "wait")
        with pytest.raises(BadTree, match="neither a file nor a directory"):
            install(store, folder)

    def test_a_set_id_program(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        write(folder / "bin" / "su", "", program=True).chmod(0o4755)
        with pytest.raises(BadTree, match="set-id"):
            install(store, folder)

    def test_two_names_that_are_one_elsewhere(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        write(folder / "README.md", "")
        write(folder / "readme.md", "")
        with pytest.raises(BadTree, match="same name on other systems"):
            install(store, folder)

    def test_too_many_files(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.agent.plugins.tree.MOST_FILES", 1)
        with pytest.raises(BadTree, match="more than 1 files"):
            install(store, bare_plugin(tmp_path / "src"))

    def test_a_known_key_of_a_wrong_type(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(GatewrightError, match=r"plugin.json: version: expected str, got int"):
            install(store, bare_plugin(tmp_path / "src", version=3))

    def test_a_broken_lock_is_left_alone(self, store: Store, tmp_path: Path) -> None:
        write(store.lock.path, "{")
        with pytest.raises(GatewrightError, match="is broken"):
            install(store, bare_plugin(tmp_path / "src"))
        assert store.lock.path.read_text(encoding="utf-8") == "{"


class TestReading:
    def test_each_file_is_read_once_and_what_was_written_is_what_is_agreed_to(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = bare_plugin(tmp_path / "src")
        write(folder / "scripts/long", "text\n" * 500_000, program=True)
        write(folder / "skills/sweep/references/deep.md", "What to know.\n")
        write(folder / "skills/sweep/references/told.md", "What runs.\n!`three`\n")
        opened: Counter[str] = Counter()
        plain = os.open

        def counted(path: Any, *args: Any, **named: Any) -> int:
            opened[Path(os.fsdecode(path)).name] += 1
            return plain(path, *args, **named)

        monkeypatch.setattr(os, "open", counted)
        record = install(store, folder).record
        assert opened["long"] == 2, "once to read, once to write"
        assert opened["deep.md"] == 2, "nothing in it can act"
        assert opened["told.md"] == 3, "and once to show what it would run"
        assert [(act.text, act.where) for act in record.acts] == [
            ("three", "skills/sweep/references/told.md")
        ]
        assert record.digest == tree_of(store.root(record)).digest()
        assert record.digest == tree_of(folder).digest()


class TestFaults:
    def test_a_tree_that_was_edited_afterwards(self, store: Store, tmp_path: Path) -> None:
        record = install(store, bare_plugin(tmp_path / "src")).record
        path = store.root(record) / "skills/sweep/SKILL.md"
        path.chmod(0o644)
        before = path.stat()
        path.write_bytes(path.read_bytes()[:-2] + b"!\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert "not those that you agreed to" in store.wrong(record)

    def test_a_file_more(self, store: Store, tmp_path: Path) -> None:
        record = install(store, bare_plugin(tmp_path / "src")).record
        assert store.wrong(record) == ""
        write(store.root(record) / "bin" / "more", "", program=True)
        assert "not those" in store.wrong(record)

    def test_a_program_more(self, store: Store, tmp_path: Path) -> None:
        record = install(store, bare_plugin(tmp_path / "src")).record
        (store.root(record) / "skills/sweep/SKILL.md").chmod(0o555)
        assert "not those" in store.wrong(record)

    def test_touching_changes_nothing(self, store: Store, tmp_path: Path) -> None:
        record = install(store, bare_plugin(tmp_path / "src")).record
        os.utime(store.root(record) / "skills/sweep/SKILL.md")
        assert store.wrong(record) == ""

    @pytest.mark.parametrize(
        "step", ["copy_tree", "_not_another", "read_plugin", "acts_of", "_agree", "take_in", "put"]
    )
    def test_killed_at_each_step(self, store: Store, tmp_path: Path, step: str) -> None:
        folder = bare_plugin(tmp_path / "src")
        old = install(store, folder).record
        write(folder / "more", "")
        before = state(store)
        child = multiprocessing.get_context("fork").Process(
            target=_killed, args=(store.folder.parent, folder, step)
        )
        child.start()
        child.join(PATIENCE)
        assert child.exitcode == -signal.SIGKILL
        assert store.lock.read().plugins == {"tidy@local": old}
        assert store.wrong(old) == ""
        assert install(store, folder).record.digest != old.digest
        left = {path for path in state(store) if path.startswith("aside")}
        assert left == set(), "what the killed one left is gone"
        assert before.items() <= {**state(store), "lock.json": before["lock.json"]}.items()

    def test_a_full_disk(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = bare_plugin(tmp_path / "src")
        install(store, folder)
        write(folder / "more", "")
        before = state(store)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(installing, "copy_tree", full)
        with pytest.raises(GatewrightError, match="The disk is full"):
            install(store, folder)
        assert state(store) == before

    def test_two_processes_at_once(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        fork = multiprocessing.get_context("fork")
        gate = fork.Barrier(4)
        children = [
            fork.Process(target=_at_once, args=(store.folder.parent, folder, gate))
            for _ in range(4)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(PATIENCE)
        assert [child.exitcode for child in children] == [0] * 4
        record = store.lock.read().plugins["tidy@local"]
        assert store.wrong(record) == ""
        assert len(list(store.trees.glob("*/*/*"))) == 1


def _killed(home: Path, folder: Path, step: str) -> None:
    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    store = Store(home)
    if step == "put":
        store.lock.put = die  # type: ignore[method-assign]
    elif step == "take_in":
        store.take_in = die  # type: ignore[method-assign]
    else:
        installing.__dict__[step] = die
    install_path(store, folder, yes)


def _at_once(home: Path, folder: Path, gate: object) -> None:
    gate.wait(PATIENCE)  # type: ignore[attr-defined]
    install_path(Store(home), folder, yes)
    os._exit(0)


class TestVersions:
    LATER = 15 * 24 * 3600.0

    def test_an_old_one_goes_after_two_weeks_without_a_user(
        self, store: Store, tmp_path: Path
    ) -> None:
        folder = bare_plugin(tmp_path / "src")
        old = store.root(install(store, folder).record)
        write(folder / "more", "")
        new = store.root(install(store, folder).record)
        soon = old.stat().st_mtime + 60
        sweep(store, now=soon)
        assert old.is_dir()
        use = Use(store, "s1")
        use.take([old])
        sweep(store, now=soon + self.LATER)
        assert old.is_dir(), "a session runs from it"
        use.close()
        sweep(store, now=soon + self.LATER)
        assert not old.exists()
        assert new.is_dir()

    def test_a_session_that_was_killed_holds_nothing(self, store: Store, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "src")
        old = store.root(install(store, folder).record)
        write_json(store.users / "dead.json", [str(old)])
        store.lock.drop("tidy@local")
        sweep(store, now=old.stat().st_mtime + self.LATER)
        assert not old.exists()
        assert not (store.users / "dead.json").exists()
