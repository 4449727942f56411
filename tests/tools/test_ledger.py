"""The ledger of what the model has read: exact, capped, and safe to use from threads."""

from __future__ import annotations

import threading
from pathlib import Path

from gatewright.tools.files.fs import ReadLedger


def test_a_life(tmp_path: Path) -> None:
    ledger, path = ReadLedger(), tmp_path / "a"
    assert "was not read yet" in ledger.stale(path, b"one")
    ledger.note(path, b"one")
    assert ledger.stale(path, b"one") == ""
    assert "changed since" in ledger.stale(path, b"two")
    assert not ledger.shown(path, b"one", "all")
    assert ledger.shown(path, b"one", "all")
    assert not ledger.shown(path, b"one", "2:5")
    ledger.note(path, b"two")
    assert not ledger.shown(path, b"two", "all")
    ledger.forget_shown()
    assert not ledger.shown(path, b"two", "all")


def test_a_link_is_the_file_it_leads_to(tmp_path: Path) -> None:
    ledger = ReadLedger()
    (tmp_path / "link").symlink_to("real")
    ledger.note(tmp_path / "link", b"x")
    assert ledger.stale(tmp_path / "real", b"x") == ""


def test_it_has_a_cap(tmp_path: Path) -> None:
    ledger = ReadLedger()
    for n in range(ReadLedger.CAP + 10):
        ledger.note(tmp_path / str(n), b"x")
        ledger.shown(tmp_path / str(n), b"x", "all")
    assert "was not read" in ledger.stale(tmp_path / "0", b"x")
    assert ledger.stale(tmp_path / "20", b"x") == ""
    assert not ledger.shown(tmp_path / "0", b"x", "all")


def test_many_threads_at_once(tmp_path: Path) -> None:
    ledger = ReadLedger()
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for n in range(300):
                path = tmp_path / str(n % 20)
                ledger.note(path, b"%d" % (n * seed))
                ledger.shown(path, b"x", str(n * seed))
        except RuntimeError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
